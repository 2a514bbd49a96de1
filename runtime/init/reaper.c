#include "init/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/fd.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* The linked program, as bytes, and how many. */
extern const char reaper_image[];
extern const size_t reaper_image_size;
__asm__(".section .rodata.reaper,\"a\"\n\t"
	".globl reaper_image\n\t.hidden reaper_image\n"
	".globl reaper_image_size\n\t.hidden reaper_image_size\n"
	"reaper_image:\n\t.incbin \"" REAPER_FILE "\"\n"
	"1:\n\t.balign 8\nreaper_image_size:\n\t.quad 1b - reaper_image\n\t.previous\n");

int reaper_open(struct error *e)
{
	const unsigned int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	autoclose int fd = memfd_create("reaper", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	/* Linux before 6.3 does not know the flag, and means it. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("reaper", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 && errno == EACCES)
		return err_set(e, ERR_HOST,
			       "this host lets no file in memory be executed, which the first "
			       "process of a box is: sysctl vm.memfd_noexec=1");
	if (fd < 0 ||
	    fd_write_all(fd, reaper_image, reaper_image_size) < 0 ||
	    fcntl(fd, F_ADD_SEALS, seals) < 0)
		return err_sys(e, "make the first process of a box");
	return fd_steal(&fd);
}
