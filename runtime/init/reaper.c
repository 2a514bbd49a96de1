#include "init/reaper.h"

#include <stddef.h>

#include "sys/sealed.h"

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
	return sealed_open("reaper", "the first process of a box", reaper_image, reaper_image_size,
			   e);
}
