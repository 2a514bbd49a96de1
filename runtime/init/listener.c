#include "init/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "init/stage.h"
#include "sys/msg.h"

enum { TAKE_MS = 10000 };

/* About half a minute on today's machines: init must not spin for ever if the other side died. */
static const unsigned long spins_max = 1UL << 32;

/* A process of the container may have got hold of the page, or sent another file: touching what is
 * not there any more would be our end. */
static const int page_seals = F_SEAL_SHRINK | F_SEAL_SEAL;

struct listener_page *listener_map(int page_fd, struct error *e)
{
	int seals = fcntl(page_fd, F_GET_SEALS);
	struct stat st;
	void *p;

	if (seals < 0 || (seals & page_seals) != page_seals || fstat(page_fd, &st) < 0 ||
	    st.st_size < (off_t)sizeof(struct listener_page)) {
		err_set(e, ERR_SYSTEM, "linux.seccomp: what init sent is not its page");
		return NULL;
	}
	p = mmap(NULL, sizeof(struct listener_page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	if (p == MAP_FAILED) {
		err_sys(e, "linux.seccomp: map a page");
		return NULL;
	}
	return p;
}

struct listener_page *listener_offer(int sock, struct error *e)
{
	autoclose int fd = memfd_create("listener", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct listener_page *page;

	if (fd < 0 || ftruncate(fd, (off_t)sizeof(*page)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, page_seals) < 0) {
		err_sys(e, "linux.seccomp: make a page");
		return NULL;
	}
	page = listener_map(fd, e);
	if (!page)
		return NULL;
	if (msg_send(sock, STAGE_LISTENER, NULL, fd) < 0) {
		err_sys(e, "linux.seccomp: send a page");
		return NULL;
	}
	return stage_await(sock, STAGE_START, e) < 0 ? NULL : page;
}

static inline void listener_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

int listener_hand_over(struct listener_page *page, int listener_fd)
{
	unsigned long spins;

	atomic_store(&page->number, listener_fd + 1);
	for (spins = 0; spins < spins_max; spins++) {
		if (atomic_load_explicit(&page->taken, memory_order_relaxed))
			return 0;
		listener_pause();
	}
	return -1;
}

int listener_take(struct listener_page *page, int pidfd, struct error *e)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int number, fd, ms;

	for (ms = 0; ms < TAKE_MS; ms++) {
		number = atomic_load(&page->number);
		if (number)
			break;
		if (poll(&p, 1, 1) > 0)
			return err_set(e, ERR_SYSTEM, "init died while its filter was loaded");
	}
	if (!number)
		return err_set(e, ERR_SYSTEM, "linux.seccomp: no listener within %d s", TAKE_MS / 1000);
	fd = pidfd_getfd(pidfd, number - 1, 0);
	if (fd < 0)
		return err_sys(e, "linux.seccomp: take the listener");
	return fd;
}

void listener_release(struct listener_page *page)
{
	atomic_store(&page->taken, 1);
	munmap(page, sizeof(*page));
}
