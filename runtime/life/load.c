/* What every verb on an existing container begins with: its record, and what it is doing now. */
#include <fcntl.h>

#include "base/fd.h"
#include "base/log.h"
#include "cgroup/cgroup.h"
#include "life/life.h"
#include "oci/oci.h"

int life_load(const char *root, const char *id, bool lock, struct arena *a, struct store *ret_store,
	      struct record *ret_record, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	bool found;

	if (store_check_id(id, e) < 0 || store_open(root, id, lock, &s, e) < 0 ||
	    store_read(&s, a, ret_record, &found, e) < 0)
		return -1;
	if (!found)
		return err_set(e, ERR_NOT_FOUND, "container \"%s\" does not exist", id);
	*ret_store = s;
	s = STORE_NONE;
	return 0;
}

int life_read_config(const struct store *s, struct arena *a, struct oci_config *ret, struct error *e)
{
	enum { CONFIG_MAX = 16 << 20 };
	autoclose int fd = openat(s->dfd, "config.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t len;
	char *text = fd < 0 ? NULL : fd_read_all(fd, CONFIG_MAX, a, &len);

	if (!text)
		return err_sys(e, "read the config of container \"%s\"", s->id);
	if (oci_config_read("config.json", text, len, a, ret, e) < 0)
		return err_wrap(e, "the config of container \"%s\"", s->id);
	return 0;
}

static char *notes_join(const struct strings *notes, char *text, struct arena *a)
{
	size_t i;

	for (i = 0; i < notes->n; i++)
		text = arena_printf(a, "%s%s%s", text, *text ? "; " : "", notes->v[i]);
	return text;
}

int life_settle_notes(const struct plan *p, bool strict, struct arena *a, struct error *e)
{
	char *text = notes_join(&p->warnings, arena_strdup(a, ""), a);

	text = notes_join(&p->cgroup.warnings, text, a);
	if (strict && *text)
		return err_set(e, ERR_HOST, "--strict: %s", text);
	life_log_notes(&p->warnings);
	life_log_notes(&p->cgroup.warnings);
	if (*text)
		log_tell_person(text);
	return 0;
}

void life_log_notes(const struct strings *notes)
{
	size_t i;

	for (i = 0; i < notes->n; i++)
		log_warn("%s", notes->v[i]);
}

struct cgroup_dirs life_cgroups(const struct record *r)
{
	return (struct cgroup_dirs){.n = r->cgroups.n, .v = r->cgroups.v};
}

void life_find_members(const struct record *r, int pidfd, struct members *ret)
{
	struct error ignored;

	*ret = MEMBERS_NONE;
	if (!r->own_pid_ns)
		ret->mnt_id = r->mnt_id;
	if (pidfd < 0 || !(r->own_pid_ns || r->own_mount_ns) ||
	    members_of_init(r->pid, r->own_pid_ns, ret, &ignored) < 0)
		return;
	/* It may have been about another process that has the number by now. */
	if (!store_is_alive(pidfd))
		members_close(ret);
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
