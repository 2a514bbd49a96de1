#include "box/network_image.h"

#include <stddef.h>

#include "sys/sealed.h"

extern const char network_image[];
extern const size_t network_image_size;
__asm__(".section .rodata.network,\"a\"\n\t"
	".globl network_image\n\t.hidden network_image\n"
	".globl network_image_size\n\t.hidden network_image_size\n"
	"network_image:\n\t.incbin \"" NETWORK_FILE "\"\n"
	"1:\n\t.balign 8\nnetwork_image_size:\n\t.quad 1b - network_image\n\t.previous\n");

int network_image_open(struct error *e)
{
	return sealed_open("sbxrun-net", "the process that carries a box's connections",
			   network_image, network_image_size, e);
}
