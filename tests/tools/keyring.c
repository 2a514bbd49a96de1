/* Prints what the kernel says of the session keyring that we have: type, owner, rights and name.
 * Statically linked. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	char text[256] = "";

	if (syscall(SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, text, sizeof(text) - 1) <
	    0)
		printf("none: %s\n", strerror(errno));
	else
		puts(text);
	return 0;
}
