#include "init/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "init/stage.h"
#include "sys/loop.h"
#include "sys/msg.h"

enum {
	TAKE_MS = 10000,
	DEADLINE_S = 60, /* longer than anything that the other side waits for */
};

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
	p = mmap(NULL, sizeof(struct listener_page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd,
		 0);
	if (p == MAP_FAILED) {
		err_sys(e, "linux.seccomp: map a page");
		return NULL;
	}
	return p;
}

int listener_send(int sock, int *listener_fd, struct error *e)
{
	if (msg_send(sock, STAGE_LISTENER, NULL, *listener_fd) < 0)
		return err_sys(e, "linux.seccomp: send the listener");
	fd_close(listener_fd);
	return 0;
}

int listener_check(int fd, struct error *e)
{
	static const char is[] = "anon_inode:seccomp notify";
	char path[64], what[sizeof(is) + 1];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, what, sizeof(what));
	if (n != (ssize_t)sizeof(is) - 1 || memcmp(what, is, (size_t)n) != 0)
		return err_set(e, ERR_SYSTEM, "linux.seccomp: what init sent is not its listener");
	return 0;
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
	if (msg_send(sock, STAGE_PAGE, NULL, fd) < 0) {
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

static const struct listener_page *awaited;

/* Once the descriptor is with whom it is for, nobody is needed any more. */
static void listener_give_up(int signal)
{
	(void)signal;
	if (!atomic_load(&awaited->taken))
		_exit(1);
}

/* A timer of POSIX: it ends with execve, unlike alarm(). By a handler, for the first process of a
 * pid namespace is not killed by a signal of its own. And the socket tells when the other side
 * dies: who may not sleep would spin until the timer. It brings nothing else from now on, so that
 * no handler has to return under the filter. */
int listener_set_deadline(const struct listener_page *page, int sock, struct error *e)
{
	const struct itimerspec in = {.it_value = {.tv_sec = DEADLINE_S}};
	struct sigaction act = {.sa_handler = listener_give_up};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	timer_t timer;

	awaited = page;
	if (sigaction(SIGIO, &act, NULL) < 0 || fcntl(sock, F_SETOWN, getpid()) < 0 ||
	    fcntl(sock, F_SETFL, O_ASYNC) < 0)
		return err_sys(e, "linux.seccomp: watch the other side");
	if (sigaction(SIGALRM, &act, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 ||
	    timer_settime(timer, 0, &in, NULL) < 0)
		return err_sys(e, "linux.seccomp: set a timer");
	return 0;
}

void listener_hand_over(struct listener_page *page, int listener_fd, bool may_sleep)
{
	atomic_store(&page->number, listener_fd + 1);
	if (may_sleep)
		syscall(SYS_futex, &page->number, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (!atomic_load(&page->taken)) {
		if (may_sleep)
			syscall(SYS_futex, &page->taken, FUTEX_WAIT, 0, NULL, NULL, 0);
		else
			listener_pause();
	}
}

/*
 * A moment, or until init has woken us, which its filter may not let it do.
 *
 * Trust: the container may have the page, and wake us or change it as it likes: the next moment is
 * a whole one then.
 */
static bool listener_await(struct listener_page *page, int pidfd, bool woken)
{
	const struct timespec moment = {.tv_nsec = LOOP_MS};

	if (woken)
		return loop_is_ready(pidfd, POLLIN, loop_now() + LOOP_MS);
	syscall(SYS_futex, &page->number, FUTEX_WAIT, 0, &moment, NULL, 0);
	return loop_is_ready(pidfd, POLLIN, loop_now());
}

int listener_take(struct listener_page *page, int pidfd, struct error *e)
{
	int number, fd, ms;

	for (ms = 0; ms < TAKE_MS; ms++) {
		number = atomic_load(&page->number);
		if (number)
			break;
		if (listener_await(page, pidfd, ms % 2))
			return err_set(e, ERR_SYSTEM, "init died while its filter was loaded");
	}
	if (!number)
		return err_set(e, ERR_SYSTEM, "linux.seccomp: no listener within %d s",
			       TAKE_MS / 1000);
	fd = pidfd_getfd(pidfd, number - 1, 0);
	if (fd < 0)
		return err_sys(e, "linux.seccomp: take the listener");
	if (listener_check(fd, e) < 0)
		fd_close(&fd);
	return fd;
}

void listener_unmap(struct listener_page *page)
{
	munmap(page, sizeof(*page));
}

void listener_release(struct listener_page *page)
{
	atomic_store(&page->taken, 1);
	syscall(SYS_futex, &page->taken, FUTEX_WAKE, 1, NULL, NULL, 0);
	listener_unmap(page);
}
