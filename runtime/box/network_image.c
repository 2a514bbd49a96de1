#include "box/network_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/fd.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

extern const char network_image[];
extern const size_t network_image_size;
__asm__(".section .rodata.network,\"a\"\n\t"
	".globl network_image\n\t.hidden network_image\n"
	".globl network_image_size\n\t.hidden network_image_size\n"
	"network_image:\n\t.incbin \"" NETWORK_FILE "\"\n"
	"1:\n\t.balign 8\nnetwork_image_size:\n\t.quad 1b - network_image\n\t.previous\n");

int network_image_open(struct error *e)
{
	const unsigned int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	autoclose int fd = memfd_create("sbxrun-net", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	/* Linux before 6.3 does not know the flag, and means it. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("sbxrun-net", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 && errno == EACCES)
		return err_set(e, ERR_HOST,
			       "this host lets no file in memory be executed, which the carrier of "
			       "a box's connections is: sysctl vm.memfd_noexec=1");
	if (fd < 0 || fd_write_all(fd, network_image, network_image_size) < 0 ||
	    fcntl(fd, F_ADD_SEALS, seals) < 0)
		return err_sys(e, "make the file of sbxrun-net");
	return fd_steal(&fd);
}
