#include "sys/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base/fd.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

int sealed_open(const char *name, const char *what, const void *p, size_t size, struct error *e)
{
	const unsigned int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	autoclose int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	/* Linux before 6.3 does not know the flag, and means it. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 && errno == EACCES)
		return err_set(e, ERR_HOST,
			       "this host lets no file in memory be executed, which %s is: sysctl "
			       "vm.memfd_noexec=1",
			       what);
	if (fd < 0 || fd_write_all(fd, p, size) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0)
		return err_sys(e, "make %s", what);
	return fd_steal(&fd);
}
