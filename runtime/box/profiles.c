#include "box/profiles.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/box.h"
#include "filter/syscalls.h"
#include "policy/ceiling.h"

enum { CALLS_MAX = 640, FILE_MAX = 1 << 20 };

/* Names behind one another, each with its NUL, and an empty one at the end: nothing to relocate. */
#define USES(name, why) #name "\0"
static const char of_python[] =
#include "../spec/seccomp/python.def"
	"";
static const char of_node[] =
#include "../spec/seccomp/node.def"
	"";
static const char of_bash[] =
#include "../spec/seccomp/bash.def"
	"";
static const char of_c[] =
#include "../spec/seccomp/c.def"
	"";
static const char of_r[] =
#include "../spec/seccomp/r.def"
	"";
#undef USES

static const char *const families[] = {
#define FAMILY(why, names) names,
#include "../spec/seccomp/siblings.def"
#undef FAMILY
};

/* Every one has the shell's: subprocess, child_process, system() and system2() start one. */
static const struct profile {
	const char *name;
	const char *calls[6];
} profiles[] = {
	{"python", {of_python, of_bash}},
	{"node", {of_node, of_bash}},
	{"bash", {of_bash}},
	{"c", {of_c, of_bash}},
	{"r", {of_r, of_bash}},
	{"union", {of_python, of_node, of_bash, of_c, of_r}},
};

const char *const box_profiles[] = {"python", "node", "bash", "c", "r", "union", NULL};

static const struct profile *profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		if (str_eq(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

bool box_profile_exists(const char *name)
{
	return str_eq(name, BOX_PROFILE_NONE) || profile_find(name);
}

static bool code_gives(const char *name)
{
	return ceiling_verdict(policy_preset_find("code"), name) >= CALL_some;
}

/* ---- a set of calls, by their rows ---- */

struct calls {
	bool has[CALLS_MAX];
};

static void calls_put(struct calls *c, const char *name)
{
	const struct syscall_row *row = syscall_find(name);

	if (row && (size_t)(row - syscall_rows) < CALLS_MAX && code_gives(name))
		c->has[row - syscall_rows] = true;
}

/* Does the family have one that is in it already? With put: and then all of them are. */
static bool family_meets(struct calls *c, const char *names, bool put)
{
	bool meets = false;
	char name[32];
	size_t len;

	for (; *names; names += len + (names[len] == ' ')) {
		const struct syscall_row *row;

		len = strcspn(names, " ");
		if (len >= sizeof(name))
			continue;
		memcpy(name, names, len);
		name[len] = '\0';
		row = syscall_find(name);
		meets |= row && (size_t)(row - syscall_rows) < CALLS_MAX &&
			 c->has[row - syscall_rows];
		if (put)
			calls_put(c, name);
	}
	return meets;
}

void box_profile_calls(const char *name, struct arena *a, struct strings *ret)
{
	const struct profile *p = profile_find(name);
	struct calls c = {0};
	const char *at;
	size_t i;

	*ret = (struct strings){.v = arena_array(a, syscall_row_count + 1, char *)};
	for (i = 0; p && i < ARRAY_SIZE(p->calls) && p->calls[i]; i++)
		for (at = p->calls[i]; *at; at += strlen(at) + 1)
			calls_put(&c, at);
	/* Once: what a sibling brings has no family but its own. */
	for (i = 0; i < ARRAY_SIZE(families); i++)
		if (family_meets(&c, families[i], false))
			family_meets(&c, families[i], true);
	for (i = 0; i < syscall_row_count && i < CALLS_MAX; i++)
		if (c.has[i])
			ret->v[ret->n++] = arena_strdup(a, syscall_rows[i].name);
}

bool box_is_own_root(const struct box_request *q, const struct box_root *root)
{
	return q->language && !root->host &&
	       (!q->rootfs || str_eq(q->rootfs, q->language->rootfs));
}

static const char *profile_by_language(const struct box_request *q, const struct box_root *root)
{
	if (!q->language || q->policy)
		return BOX_PROFILE_NONE;
	return box_is_own_root(q, root) ? q->language->profile : "union";
}

void box_choose_profile(struct box_request *q, const struct box_root *root, struct arena *a)
{
	const char *name = q->profile ? q->profile : profile_by_language(q, root);
	size_t cap, i;

	q->calls = (struct strings){0};
	q->profile = str_eq(name, BOX_PROFILE_NONE) ? NULL : name;
	if (!q->profile)
		return;
	box_profile_calls(name, a, &q->calls);
	cap = q->calls.n;
	q->calls.v = arena_grow(a, q->calls.v, &cap, q->calls.n + q->calls_added.n + 1,
				sizeof(char *));
	for (i = 0; i < q->calls_added.n; i++)
		q->calls.v[q->calls.n++] = q->calls_added.v[i];
}

/* ---- what a user adds ---- */

static int add_line(const char *path, unsigned int number, char *line, struct arena *a,
		    struct strings *calls, struct error *e)
{
	char *name = line + strspn(line, " \t\r");
	size_t cap = calls->n;

	name[strcspn(name, " \t\r#")] = '\0';
	if (!*name)
		return 0;
	if (!syscall_find(name))
		return err_set(e, ERR_USAGE,
			       "--profile-add: %s, line %u: there is no system call \"%s\"", path,
			       number, name);
	if (!code_gives(name))
		return err_set(e, ERR_USAGE,
			       "--profile-add: %s, line %u: the policy code does not give %s; an "
			       "administrator adds it by \"system-calls\": {\"allow\": [\"%s\"]} to a "
			       "policy of his own, which --policy then names",
			       path, number, name, name);
	calls->v = arena_grow(a, calls->v, &cap, calls->n + 2, sizeof(char *));
	calls->v[calls->n++] = arena_strdup(a, name);
	return 0;
}

int box_profile_read(const char *path, struct arena *a, struct strings *calls, struct error *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text, *line, *next;
	unsigned int number = 0;
	size_t len;

	text = fd < 0 ? NULL : fd_read_all(fd, FILE_MAX, a, &len);
	if (!text)
		return err_sys(e, "--profile-add: read %s", path);
	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (add_line(path, ++number, line, a, calls, e) < 0)
			return -1;
	}
	return 0;
}

bool box_profile_refuses(const struct strings *calls, const char *name)
{
	size_t i;

	if (!calls->n || !code_gives(name))
		return false;
	for (i = 0; i < calls->n; i++)
		if (str_eq(calls->v[i], name))
			return false;
	return true;
}
