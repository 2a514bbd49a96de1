#include "learn/tally.h"

#include <errno.h>
#include <linux/sched.h>
#include <sys/mman.h>

#include "base/str.h"

/* A signal, and what makes a thread or namespaces; not where a stack or a number lies. */
#define CLONE_BITS                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_THREAD | CLONE_VFORK)
#define ALL UINT64_MAX

static const struct {
	const char *name;
	int at;
	uint64_t mask;
} arguments[] = {
	{"socket", 0, ALL},	 {"socketpair", 0, ALL},     {"clone", 0, CLONE_BITS},
	{"unshare", 0, ALL},	 {"setns", 1, ALL},	     {"ioctl", 1, UINT32_MAX},
	{"prctl", 0, ALL},	 {"arch_prctl", 0, ALL},     {"personality", 0, UINT32_MAX},
	{"fcntl", 1, ALL},	 {"futex", 1, 0x7f},	     {"madvise", 2, ALL},
	{"mmap", 2, ALL},	 {"mprotect", 2, ALL},	     {"ptrace", 0, ALL},
	{"keyctl", 0, ALL},	 {"bpf", 0, ALL},	     {"seccomp", 0, ALL},
	{"getsockopt", 1, ALL},	 {"setsockopt", 1, ALL},     {"clock_gettime", 0, UINT32_MAX},
};

int tally_argument(const char *name, uint64_t *ret_mask)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(arguments); i++)
		if (str_eq(arguments[i].name, name)) {
			*ret_mask = arguments[i].mask;
			return arguments[i].at;
		}
	return -1;
}

bool tally_refuses(uint32_t verdict)
{
	switch (verdict & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_USER_NOTIF: /* whoever is asked decides */
	case SECCOMP_RET_TRACE:
		return false;
	default:
		return true;
	}
}

static struct tally_call *tally_find(struct tally *t, uint32_t token, uint32_t nr)
{
	struct tally_call *c;
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->v[i].nr == nr && t->v[i].token == token)
			return &t->v[i];
	if (t->n == TALLY_CALLS)
		return NULL;
	c = &t->v[t->n++];
	c->token = token;
	c->nr = nr;
	c->row = syscall_seen(token, nr, &c->arch);
	return c;
}

static void tally_note_value(struct tally_call *c, const struct seccomp_data *data, bool refused)
{
	uint64_t mask = 0, value;
	int at = c->row ? tally_argument(c->row->name, &mask) : -1;
	uint32_t i;

	if (at < 0)
		return;
	value = data->args[at] & mask;
	for (i = 0; i < c->n_values; i++)
		if (c->values[i].value == value && c->values[i].refused == refused) {
			c->values[i].count++;
			return;
		}
	if (c->n_values == TALLY_VALUES) {
		c->more = true;
		return;
	}
	c->values[c->n_values++] =
		(struct tally_value){.value = value, .count = 1, .refused = refused};
}

int tally_note(struct tally *t, const struct seccomp_data *data, uint32_t verdict,
	       enum tally_who who)
{
	struct tally_call *c = tally_find(t, data->arch, (uint32_t)data->nr);
	const bool refused = tally_refuses(verdict);

	if (!c) {
		t->lost++;
		return TALLY_NONE;
	}
	if (refused && who == TALLY_PROGRAM) {
		c->refused++;
		c->verdict = verdict;
	} else {
		c->made[who]++;
	}
	if (who != TALLY_PROGRAM)
		return TALLY_NONE;
	tally_note_value(c, data, refused);
	return refused ? TALLY_NONE : (int)(c - t->v);
}

/* PR_SET_MDWE answers so; mmap and mprotect have no other reason to. */
static bool tally_gains_exec(const struct tally_call *c, int error, uint64_t protection)
{
	return error == EACCES && (protection & PROT_EXEC) && c->row &&
	       (str_eq(c->row->name, "mmap") || str_eq(c->row->name, "mprotect"));
}

void tally_note_failure(struct tally *t, int which, int error, uint64_t arg2)
{
	struct tally_call *c;

	if (which < 0 || (uint32_t)which >= t->n)
		return;
	c = &t->v[which];
	c->failed++;
	if (tally_gains_exec(c, error, arg2))
		c->exec_gain = true;
}
