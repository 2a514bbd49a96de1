#include "init/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rootfs/resolve.h"

/* A passwd file larger than this is not read on: HOME is then "/". */
enum { PASSWD_MAX = 1 << 20 };

static const char *program_env_get(const struct strings *env, const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
			return env->v[i] + len + 1;
	return NULL;
}

/* 0, or the errno that says why this file can't be run. */
static int program_check(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return EACCES;
	return 0;
}

static int program_find_at(const char *path, struct error *e)
{
	int why = program_check(path);

	if (!why)
		return 0;
	if (why == EACCES)
		return err_set(e, ERR_NO_EXEC, "exec: \"%s\": permission denied", path);
	if (why == EISDIR) /* docker goes by the first half, podman by what execve would say */
		return err_set(e, ERR_NO_EXEC, "exec: \"%s\": is a directory: permission denied",
			       path);
	return err_set(e, ERR_NO_PROGRAM, "exec: \"%s\": stat %s: %s", path, path, err_text(why));
}

int program_find(const char *name, const struct strings *env, struct arena *a, char **ret_path,
		 struct error *e)
{
	const char *path = program_env_get(env, "PATH"), *end;
	bool denied = false;

	*ret_path = arena_strdup(a, name);
	if (strchr(name, '/'))
		return program_find_at(name, e);
	for (; path && *name; path = *end ? end + 1 : NULL) {
		int len, why;

		end = strchrnul(path, ':');
		len = (int)(end - path);
		*ret_path = arena_printf(a, "%.*s/%s", len ? len : 1, len ? path : ".", name);
		why = program_check(*ret_path);
		if (!why)
			return 0;
		denied |= why == EACCES;
	}
	if (denied)
		return err_set(e, ERR_NO_EXEC, "exec: \"%s\": permission denied", name);
	return err_set(e, ERR_NO_PROGRAM, "exec: \"%s\": executable file not found in $PATH", name);
}

int program_exec_failed(const char *path, int sys, struct error *e)
{
	err_set(e, sys == ENOENT ? ERR_NO_PROGRAM : ERR_NO_EXEC, "exec %s: %s", path,
		err_text(sys));
	e->sys = sys;
	return -1;
}

/* name:password:uid:gid:gecos:home:shell. Trust: the line is the image's. */
static const char *program_home_of_line(char *line, uint32_t uid)
{
	char *field[6];
	uint32_t id;
	int i;

	for (i = 0; i < 6; i++)
		field[i] = strsep(&line, ":");
	/* An absolute home only; a uid is a number, whole, and nothing else. */
	if (!field[5] || !str_to_u32(field[2], &id) || id != uid || field[5][0] != '/')
		return NULL;
	return field[5];
}

static const char *program_home(uint32_t uid, struct arena *a)
{
	autoclose int root_dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = resolve_open(root_dfd, "/etc/passwd", O_RDONLY | O_NONBLOCK);
	const char *home;
	struct stat st;
	char *text, *line;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return "/";
	text = fd_read_all(fd, PASSWD_MAX, a, &len);
	while (text && (line = strsep(&text, "\n")) != NULL) {
		home = program_home_of_line(line, uid);
		if (home)
			return home;
	}
	return "/";
}

struct variable {
	const char *text;
	size_t name_len;
	size_t at; /* in the list */
};

/* By name; of one name the last one first. */
static int variable_compare(const void *one, const void *other)
{
	const struct variable *a = one, *b = other;
	size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
	int order = memcmp(a->text, b->text, len);

	if (order)
		return order;
	if (a->name_len != b->name_len)
		return a->name_len < b->name_len ? -1 : 1;
	return a->at > b->at ? -1 : 1;
}

/* Which of them the program gets: of several with one name the last, as with other runtimes, for C
 * libraries take the first and shells the last. An empty HOME is none. */
static bool *program_env_choose(const struct strings *env, struct arena *a)
{
	struct variable *v = arena_array(a, env->n + 1, struct variable);
	bool *chosen = arena_array(a, env->n + 1, bool);
	size_t i;

	for (i = 0; i < env->n; i++)
		v[i] = (struct variable){env->v[i], strcspn(env->v[i], "="), i};
	qsort(v, env->n, sizeof(*v), variable_compare);
	for (i = 0; i < env->n; i++)
		chosen[v[i].at] = (i == 0 || v[i].name_len != v[i - 1].name_len ||
				   memcmp(v[i].text, v[i - 1].text, v[i].name_len) != 0) &&
				  !str_eq(v[i].text, "HOME=");
	return chosen;
}

struct strings program_env(const struct program_plan *p, struct arena *a)
{
	/* With room for what program_env_add_sockets() adds. */
	struct strings env = {.v = arena_array(a, p->env.n + 4, char *)};
	const bool *chosen = program_env_choose(&p->env, a);
	size_t i;

	for (i = 0; i < p->env.n; i++)
		if (chosen[i])
			env.v[env.n++] = p->env.v[i];
	if (!program_env_get(&env, "HOME"))
		env.v[env.n++] = arena_printf(a, "HOME=%s", program_home(p->uid, a));
	return env;
}

void program_env_add_sockets(struct strings *env, unsigned int listen_fds, struct arena *a)
{
	if (!listen_fds)
		return;
	env->v[env->n++] = arena_printf(a, "LISTEN_FDS=%u", listen_fds);
	env->v[env->n++] = arena_printf(a, "LISTEN_PID=%d", getpid());
}
