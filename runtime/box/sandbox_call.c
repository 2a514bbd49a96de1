/* A call in a box that stays: a request like that of `do`, for a process that joins it. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/str.h"
#include "box/sandbox.h"
#include "sys/loop.h"
#include "sys/sys.h"

/* A name that no file of the caller's has, in the directory that imports are looked for in. The
 * call's reaper makes it anew, and removes it. */
static const char *call_code_path(const struct box_language *l, struct arena *a)
{
	const char *dot = l->product ? "" : strrchr(l->file, '.');
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint32_t)loop_now();
	return arena_printf(a, BOX_WORKSPACE "/.main-%08x%s", number, dot ? dot : "");
}

void sandbox_request(struct sandbox *s, struct box_request *q, struct arena *a)
{
	q->sandbox = s;
	q->limits = s->facts.limits;
	q->uid = s->facts.uid;
	q->gid = s->facts.gid;
	q->code_path = q->language ? call_code_path(q->language, a) : NULL;
}

int sandbox_root(const struct sandbox *s, struct box_root *ret)
{
	*ret = BOX_ROOT_NONE;
	ret->path = s->record.rootfs;
	ret->name = s->facts.rootfs ? s->facts.rootfs : "";
	return 0;
}

static struct strings call_args(const struct box_request *q, struct arena *a)
{
	const struct box_language *l = q->session ? NULL : q->language;
	const char *const *words = l ? l->run : (const char *const[]){NULL};
	struct strings args = {.v = arena_array(a, BOX_WORDS_MAX + q->args.n + 1, char *)};
	size_t i;

	for (; *words; words++)
		args.v[args.n++] = arena_strdup(
			a, str_eq(*words, l->file) || (l->product && str_eq(*words, "./main")) ?
				   q->code_path :
				   *words);
	for (i = 0; i < q->args.n; i++)
		args.v[args.n++] = q->args.v[i];
	return args;
}

/* The caller's own words come last, and win. */
static struct strings call_env(const struct box_request *q, bool network, struct arena *a)
{
	struct strings env = {0};
	size_t i;

	if (!network)
		return q->env;
	box_proxy_words(&env, a);
	env.v = memcpy(arena_array(a, env.n + q->env.n + 1, char *), env.v, env.n * sizeof(char *));
	for (i = 0; i < q->env.n; i++)
		env.v[env.n++] = q->env.v[i];
	return env;
}

/* An ordinary user's process may not go from a cgroup that is not his, as after a login, into the
 * box's, which is. From a scope of its own it may (cgroup/boxes.h). */
static int call_join(const struct exec_options *o, struct arena *a, struct created *ret,
		     int *ret_listener_fd, struct error *e)
{
	struct cgroup_boxes boxes;
	struct error ignored;

	if (life_join(o, a, ret, ret_listener_fd, e) == 0)
		return 0;
	if (e->sys != EACCES || sys_is_machine_root() ||
	    life_open_boxes(true, a, &boxes, &ignored) < 0)
		return -1;
	return life_join(o, a, ret, ret_listener_fd, e);
}

int sandbox_join(const struct box_request *q, bool network, const int streams[3], int control_fd,
		 struct arena *a, struct created *ret, int *ret_listener_fd, struct error *e)
{
	const struct exec_options o = {
		.root = q->sandbox->root,
		.id = q->sandbox->container,
		.cwd = q->cwd,
		.args = call_args(q, a),
		.env = call_env(q, network, a),
		.detach = true,
		.strict = q->strict_limits,
		.streams = streams,
		.control_fd = control_fd,
		.program_comes = q->language && !q->session && q->language->compile[0],
		.observe = q->denials == DENIALS_FULL  ? OBSERVE_FULL :
			   q->denials == DENIALS_CALLS ? OBSERVE_CALLS :
							 OBSERVE_NOTHING,
	};

	if (call_join(&o, a, ret, ret_listener_fd, e) == 0)
		return 0;
	if (e->class == ERR_WRONG_STATE && sandbox_is_paused(o.root, o.id))
		return err_set(e, ERR_WRONG_STATE, "box \"%s\" is paused: box resume %s",
			       q->sandbox->id, q->sandbox->id);
	return -1;
}
