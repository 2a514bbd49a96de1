#include "same.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pipe or a socket has a number that another of its kind does not: it is compared, too. */
static void list_fds(char *text, size_t size)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[300], to[256];
	size_t len = 0;

	while (dir && (entry = readdir(dir)) && len < size) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(dir) || n < 0)
			continue;
		to[n] = '\0';
		len += (size_t)snprintf(text + len, size - len, "%s=%s ", entry->d_name, to);
	}
	if (dir)
		closedir(dir);
}

void same_look(struct same *ret)
{
	struct sigaction act;
	int sig;

	memset(ret, 0, sizeof(*ret));
	list_fds(ret->fds, sizeof(ret->fds));
	sigprocmask(SIG_BLOCK, NULL, &ret->mask);
	for (sig = 1; sig < 65; sig++)
		if (sigaction(sig, NULL, &act) == 0)
			ret->handlers[sig] = act.sa_handler;
	ret->mask_of_files = umask(022);
	umask(ret->mask_of_files);
	if (!getcwd(ret->cwd, sizeof(ret->cwd)))
		ret->cwd[0] = '\0';
	prctl(PR_GET_CHILD_SUBREAPER, &ret->reaps);
	ret->has_children = !(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD);
}

const char *same_differs(const struct same *before)
{
	static char text[2 * sizeof(before->fds) + 64];
	struct same now;
	int sig;

	same_look(&now);
	if (strcmp(now.fds, before->fds) != 0) {
		snprintf(text, sizeof(text), "descriptors: %s; before: %s", now.fds, before->fds);
		return text;
	}
	for (sig = 1; sig < 65; sig++) {
		snprintf(text, sizeof(text), "signal %d", sig);
		if (sigismember(&now.mask, sig) != sigismember(&before->mask, sig) ||
		    now.handlers[sig] != before->handlers[sig])
			return text;
	}
	return now.mask_of_files != before->mask_of_files ? "the umask" :
	       strcmp(now.cwd, before->cwd) != 0	   ? "the directory" :
	       now.reaps != before->reaps		   ? "whether it is a subreaper" :
	       now.has_children != before->has_children	   ? "whether it has children" :
							     NULL;
}
