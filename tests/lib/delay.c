/*
 * delay MS NAME PID PEER: a wire with a round trip of so long, for a kernel without netem. It makes
 * an interface NAME here and PEER in the network namespace of PID, and what goes into one comes out
 * of the other MS/2 later. It says "up" when both are there, and stays. For lab.sh and
 * bench/egress.sh.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_MOST = 70000, WAITING_MOST = 256 << 20 };

struct packet {
	struct packet *next;
	long long due;
	size_t len;
	char bytes[];
};

struct way {
	int in, out;
	struct packet *first, **end;
	size_t waiting;
};

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Packets come as large as the kernel has them, with a word before each of what is still to do. */
static int interface_make(const char *name)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
	const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &r) < 0 ||
	    ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) < 0)
		err(1, "%s", name);
	return fd;
}

static void take(struct way *w, long long delay)
{
	static char bytes[PACKET_MOST];
	struct packet *p;
	ssize_t n;

	while (w->waiting < WAITING_MOST && (n = read(w->in, bytes, sizeof(bytes))) > 0) {
		p = malloc(sizeof(*p) + (size_t)n);
		if (!p)
			err(1, "a packet");
		*p = (struct packet){.due = now() + delay, .len = (size_t)n};
		memcpy(p->bytes, bytes, p->len);
		*w->end = p;
		w->end = &p->next;
		w->waiting += p->len;
	}
}

/* When the next one is due. */
static long long give(struct way *w)
{
	struct packet *p;

	while ((p = w->first) && p->due <= now()) {
		while (write(w->out, p->bytes, p->len) < 0 && errno == EINTR)
			; /* one that is lost is sent again */
		w->first = p->next;
		if (!w->first)
			w->end = &w->first;
		w->waiting -= p->len;
		free(p);
	}
	return p ? p->due : 0;
}

static void carry(struct way ways[2], long long delay)
{
	struct pollfd fds[2] = {{.fd = ways[0].in, .events = POLLIN},
				{.fd = ways[1].in, .events = POLLIN}};

	for (;;) {
		const long long a = give(&ways[0]), b = give(&ways[1]);
		const long long due = a && (!b || a < b) ? a : b;
		const long long left = due ? due - now() : 1000000000;
		struct timespec t = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};

		if (left > 0)
			ppoll(fds, 2, &t, NULL);
		take(&ways[0], delay);
		take(&ways[1], delay);
	}
}

int main(int argc, char **argv)
{
	struct way ways[2] = {{0}};
	char path[64];
	int here, there, ns;

	if (argc != 5)
		errx(2, "delay MS NAME PID PEER");
	here = interface_make(argv[2]);
	snprintf(path, sizeof(path), "/proc/%s/ns/net", argv[3]);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET) < 0)
		err(1, "%s", path);
	there = interface_make(argv[4]);
	ways[0] = (struct way){.in = here, .out = there, .end = &ways[0].first};
	ways[1] = (struct way){.in = there, .out = here, .end = &ways[1].first};
	puts("up");
	fflush(stdout);
	carry(ways, atoll(argv[1]) * 500000);
}
