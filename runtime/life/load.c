/* Every verb on an existing container begins here: its record, and what it is doing now. */
#include <fcntl.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "life/internal.h"
#include "oci/oci.h"
#include "security/identity.h"
#include "sys/proc.h"

int life_is_of_this_boot(const struct record *r, bool *ret, struct error *e)
{
	char boot_id[37];

	if (proc_boot_id(boot_id, e) < 0)
		return -1;
	*ret = str_eq(boot_id, r->boot_id);
	return 0;
}

/* Numbers of namespaces and of cgroups' inodes begin anew with every boot: by now they are somebody
 * else's. */
static int load_forget_other_boot(struct record *r, struct error *e)
{
	bool ours;

	if (life_is_of_this_boot(r, &ours, e) < 0)
		return -1;
	if (!ours) {
		r->cgroups.n = 0;
		r->mnt_id = r->user_id = 0;
	}
	return 0;
}

int life_load(const char *root, const char *id, enum store_lock how, struct arena *a,
	      struct store *ret_store, struct record *ret_record, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	bool found;

	if (store_check_id(id, e) < 0 || store_open(root, id, how, &s, e) < 0 ||
	    store_read(&s, a, ret_record, &found, e) < 0)
		return -1;
	if (!found)
		return err_set(e, ERR_NOT_FOUND, "container \"%s\" does not exist", id);
	if (load_forget_other_boot(ret_record, e) < 0)
		return -1;
	*ret_store = s;
	s = STORE_NONE;
	return 0;
}

int life_read_config(const struct store *s, struct arena *a, struct oci_config *ret,
		     struct error *e)
{
	autoclose int fd =
		openat(s->dfd, "config.json", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len;
	char *text = fd < 0 ? NULL : fd_read_all(fd, JSON_BYTES_MAX, a, &len);

	if (!text)
		return err_sys(e, "read the config of container \"%s\"", s->id);
	if (oci_config_read("config.json", text, len, a, ret, e) < 0)
		return err_wrap(e, "the config of container \"%s\"", s->id);
	return 0;
}

void life_settle_oom_score(struct oci_process *p)
{
	if (p->set && !p->oom_score_adj.set && identity_is_protected_from_oom())
		p->oom_score_adj = (struct opt_i32){.set = true, .v = 0};
}

static void notes_join(const struct notes *notes, struct buf *b)
{
	size_t i;

	for (i = 0; i < notes->n; i++) {
		buf_str(b, b->len ? "; " : "");
		buf_str(b, notes->v[i]);
	}
}

int life_settle_notes(const struct plan *p, bool strict, const struct noter *noter, struct arena *a,
		      struct error *e)
{
	const struct notes *lists[] = {&p->warnings, &p->cgroup.warnings};
	struct buf text = buf_new(a, 1 << 16);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (strict)
			notes_join(lists[i], &text);
		else
			note_all(noter, lists[i]);
	return text.len ? err_set(e, ERR_HOST, "--strict: %s", text.data) : 0;
}

struct cgroup_dirs life_cgroups(const struct record *r)
{
	return (struct cgroup_dirs){.n = r->cgroups.n, .v = r->cgroups.v};
}

int life_status(const struct store *s, const struct record *r, enum status *ret, int *ret_pidfd,
		struct error *e)
{
	const struct cgroup_dirs dirs = life_cgroups(r);

	if (store_status(s, r, ret, ret_pidfd, e) < 0)
		return -1;
	if ((*ret == STATUS_CREATED || *ret == STATUS_RUNNING) && cgroup_is_frozen(&dirs))
		*ret = STATUS_PAUSED;
	return 0;
}

/* In the order in which it will be carried out. */
void life_log_plan(const struct plan *p, struct arena *a)
{
	enum { PLAN_TEXT_MAX = 1 << 20 };
	struct buf text;

	if (!log_wants(LOG_DEBUG))
		return;
	text = buf_new(a, PLAN_TEXT_MAX);
	plan_print(p, PLAN_LOG, &text);
	log_debug_lines("plan: ", text.data);
}
