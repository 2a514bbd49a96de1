/*
 * Events of many descriptors, for a program that serves a crowd (sys/loop.h is for a handful). Each
 * round serves one event: whoever is served may end anybody, himself too, and no event of one who
 * is gone is left.
 */
#pragma once

#include <stdint.h>
#include <sys/epoll.h>

struct crowd_member {
	int fd; /* -1: none */
	uint32_t events; /* that it waits for: EPOLLIN, EPOLLOUT */
	void (*serve)(struct crowd_member *m, uint32_t events);
	void *context;
};

/* A crowd, close-on-exec; -1 with errno. */
int crowd_open(void);

/* Adds a member, or changes what it waits for: 0 is nothing, not even its end. -1 with errno. */
int crowd_wait_for(int crowd_fd, struct crowd_member *m, uint32_t events);

/* Takes it out and closes it. */
void crowd_close(int crowd_fd, struct crowd_member *m);

/* Serves one event, or none if the moment (sys/loop.h) comes first. */
void crowd_round(int crowd_fd, int64_t until);
