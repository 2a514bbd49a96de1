#!/bin/bash
# audit.sh: an append to an audit file is killed at every system call, and every one of them fails in turn. Takes half a minute.
set -eu
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"
make --no-print-directory -s -C "$crash_top" build/tests/audit-append
printf '#include <sys/syscall.h>\n' | "${CC:-cc}" -E -dM - |
	sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{ __NR_\1, "\1" },/p' | sort >"$crash_work/syscall-names.h"
# shellcheck disable=SC2086  # a list of flags
"${CC:-cc}" $crash_flags -include sys/syscall.h -I"$crash_work" -o "$crash_work/audit" "$crash_here"/{audit,trace,tool}.c
mkdir -p "$crash_work/files"
"$crash_work/audit" --append "$crash_top/build/tests/audit-append" --runtime "$crash_runtime" --work "$crash_work"
