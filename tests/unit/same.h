/*
 * A process as its callers see it: what a call of the library must leave as it was (life/life.h).
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

struct same {
	char fds[2048]; /* numbers, and what they are */
	sigset_t mask;
	void (*handlers[65])(int);
	mode_t mask_of_files;
	char cwd[1024];
	int reaps; /* is a subreaper */
	int has_children;
};

void same_look(struct same *ret);

/* What is not as it was, in words; NULL: all is. */
const char *same_differs(const struct same *before);
