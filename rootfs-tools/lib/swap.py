"""swap.py NEW PLACE OLD: NEW becomes PLACE, and what was PLACE becomes OLD.

In one step where the filesystem exchanges names (renameat2), so that nobody finds PLACE missing; in two where it does not.
"""

import ctypes
import errno
import os
import sys

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def exchange(one, other):
	"""Whether the two names were exchanged; False where that can't be done."""
	try:
		renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
	except AttributeError:
		return False
	if renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
		return True
	code = ctypes.get_errno()
	if code in (errno.EINVAL, errno.ENOSYS):
		return False
	raise OSError(code, os.strerror(code), other)


def main(new, place, old):
	if exchange(new, place):
		os.rename(new, old)
	else:
		os.rename(place, old)
		os.rename(new, place)


if __name__ == "__main__":
	main(*sys.argv[1:])
