/*
 * Making the container's cgroups. Runs in the runtime's process, before the container's exists.
 *
 * Each hierarchy by itself: directory, what its kind demands of parents (cpusets filled, v2
 * controllers switched on), limits, join descriptor. Parents are shared with other containers that
 * come and go: they may vanish until our leaf is in them (mkdir is tried again), and can't after.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/driver.h"
#include "cgroup/tree.h"
#include "cgroup/write.h"

#define MKDIR_TRIES 64
#define LIST_SIZE 1024 /* a list of cpus or memory nodes */

/* One hierarchy's directory while it is made. Prefixes of full are its parents. */
struct making {
	const struct cgroup_plan *p;
	size_t i;
	struct cgroup_dir *d; /* as on record */
	char full[CGROUP_PATH_SIZE];
	size_t mount_len;
	size_t len;	 /* of full */
	size_t made_len; /* of the topmost directory that we made; 0: none */
	bool mark;	 /* new parents get CGROUP_MARK */
	pid_t holder;	 /* of systemd's scope, or 0 */
	int dfd;
};

/* Opens a parent (or the leaf): the first len bytes of full. */
static int prefix_open(struct making *m, size_t len)
{
	char saved = m->full[len];
	int fd;

	m->full[len] = '\0';
	fd = open(m->full, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	m->full[len] = saved;
	return fd;
}

static int prefix_mkdir(struct making *m, size_t len)
{
	char saved = m->full[len];
	int rc;

	m->full[len] = '\0';
	rc = mkdir(m->full, 0755);
	if (rc == 0)
		log_info("cgroup made: %s", m->full);
	/* A mark for whoever removes the last container below a parent that another one made. */
	if (rc == 0 && len < m->len && m->mark)
		(void)!setxattr(m->full, CGROUP_MARK, "1", 1, 0);
	m->full[len] = saved;
	return rc;
}

/* The length of the next prefix below the one of len bytes; m->len at the end. */
static size_t prefix_next(const struct making *m, size_t len)
{
	return len + 1 + strcspn(m->full + len + 1, "/");
}

static size_t prefix_up(const struct making *m, size_t len)
{
	while (len > m->mount_len && m->full[len - 1] != '/')
		len--;
	return len > m->mount_len ? len - 1 : m->mount_len;
}

/* Every missing directory on the way. ENOENT when a parent vanished under us. */
static int mkdir_down(struct making *m)
{
	size_t len = m->mount_len;

	while (len < m->len) {
		len = prefix_next(m, len);
		if (prefix_mkdir(m, len) == 0) {
			if (!m->made_len)
				m->made_len = len;
		} else if (errno != EEXIST || len == m->len) {
			return -1;
		}
	}
	return 0;
}

/* The leaf. 0: made; 1: it was there. *parents: begin with them, as the hierarchy before had to. */
static int leaf_mkdir(struct making *m, bool *parents, struct error *e)
{
	int tries;

	for (tries = 0; tries < MKDIR_TRIES; tries++) {
		m->made_len = *parents ? 0 : m->len;
		if ((*parents ? mkdir_down(m) : prefix_mkdir(m, m->len)) == 0)
			return 0;
		if (!*parents)
			m->made_len = 0;
		if (errno == EEXIST)
			return 1;
		if (errno != ENOENT)
			break;
		*parents = true;
	}
	return err_sys(e, "mkdir %s", m->full);
}

static const struct {
	const char *file;
	const char *field;
} cpuset_files[] = {
	{"cpuset.cpus", "linux.resources.cpu.cpus"},
	{"cpuset.mems", "linux.resources.cpu.mems"},
};
#define CPUSET_FILES ARRAY_SIZE(cpuset_files)

/* The values of a prefix; whether none is empty. What this create has made is empty. */
static int cpuset_read(struct making *m, int dfd, size_t len, char text[CPUSET_FILES][LIST_SIZE],
		       bool *ret_full)
{
	size_t k;

	*ret_full = true;
	for (k = 0; k < CPUSET_FILES; k++) {
		text[k][0] = '\0';
		if (!(m->made_len && len >= m->made_len) &&
		    fd_read_at(dfd, cpuset_files[k].file, text[k], LIST_SIZE) < 0)
			return -1;
		*ret_full = *ret_full && text[k][0];
	}
	return 0;
}

/* The next longer prefix, on the way to len. */
static size_t prefix_down(const struct making *m, size_t from, size_t len)
{
	const char *slash = memchr(m->full + from + 1, '/', len - from - 1);

	return slash ? (size_t)(slash - m->full) : len;
}

/* The longest prefix, of len at most, that has values of its own; they are in text then. 0 with
 * errno. */
static size_t cpuset_find_full(struct making *m, size_t len, char text[CPUSET_FILES][LIST_SIZE])
{
	for (;; len = prefix_up(m, len)) {
		autoclose int dfd = prefix_open(m, len);
		bool full;

		if (dfd < 0 || cpuset_read(m, dfd, len, text, &full) < 0)
			return 0;
		if (full)
			return len;
		if (len == m->mount_len) {
			errno = ENOSPC;
			return 0;
		}
	}
}

/*
 * A cpuset without cpus or memory nodes takes no process (ENOSPC). Gets the values of the prefix;
 * empty ones are filled from the nearest above that has some, downwards. Another create may do the
 * same at the same time, with the same values.
 */
static int cpuset_fill(struct making *m, size_t len, char text[CPUSET_FILES][LIST_SIZE])
{
	char own[CPUSET_FILES][LIST_SIZE];
	size_t at = cpuset_find_full(m, len, text), k;

	if (!at)
		return -1;
	while (at < len) {
		autoclose int dfd = -1;
		bool full;

		at = prefix_down(m, at, len);
		dfd = prefix_open(m, at);
		if (dfd < 0 || cpuset_read(m, dfd, at, own, &full) < 0)
			return -1;
		for (k = 0; k < CPUSET_FILES; k++) {
			if (own[k][0])
				memcpy(text[k], own[k], LIST_SIZE);
			else if (cgroup_write_at(dfd, cpuset_files[k].file, text[k]) < 0)
				return -1;
		}
	}
	return 0;
}

/* The leaf: what the config asks for, else the parent's. */
static int cpuset_settle(struct making *m, bool existed, struct error *e)
{
	const char *const asked[CPUSET_FILES] = {m->p->cpus, m->p->mems};
	char text[CPUSET_FILES][LIST_SIZE];
	size_t k;

	if (cpuset_fill(m, existed ? m->len : prefix_up(m, m->len), text) < 0)
		return err_sys(e, "fill the cpuset %s", m->full);
	for (k = 0; k < CPUSET_FILES; k++) {
		if (existed && !asked[k])
			continue;
		if (cgroup_write_at(m->dfd, cpuset_files[k].file, asked[k] ? asked[k] : text[k]) <
		    0)
			return err_sys(e, "%s: write %s to %s", cpuset_files[k].field,
				       asked[k] ? asked[k] : text[k], cpuset_files[k].file);
	}
	return 0;
}

/* Appends the words of `words` ("+a +b") that `have` ("a b") lacks. */
static void missing_add(char *to, size_t size, const char *words, const char *have)
{
	const char *s, *at;
	size_t len, used;

	for (s = words; *s; s += len + (s[len] == ' ')) {
		len = strcspn(s, " ");
		if (len < 2)
			continue;
		for (at = have; *at; at += strcspn(at, " "), at += *at == ' ')
			if (strcspn(at, " ") == len - 1 && memcmp(at, s + 1, len - 1) == 0)
				break;
		used = strlen(to);
		if (!*at)
			snprintf(to + used, size - used, "%s%.*s", used ? " " : "", (int)len, s);
	}
}

/* Things made in a cgroup are charged to it: a limit of a page has no room for them. */
static const char *room_hint(int err)
{
	return err == ENOMEM ? " (is linux.resources.memory.limit large enough?)" : "";
}

static int controllers_failed(struct making *m, const char *need, size_t len, struct error *e)
{
	if (errno == EBUSY)
		return err_set(
			e, ERR_HOST,
			"%.*s holds processes itself, so cgroup v2 gives no controllers (%s) to cgroups in it",
			(int)len, m->full, need);
	return err_sys(e, "write %s to %.*s/cgroup.subtree_control%s", need, (int)len, m->full,
		       room_hint(errno));
}

/* Switches controllers on in one parent: all in one write, else the needed ones and each of the
 * others that works. */
static int controllers_enable(struct making *m, size_t len, struct error *e)
{
	static const char file[] = "cgroup.subtree_control";
	autoclose int dfd = prefix_open(m, len);
	char have[1024] = "", need[1024] = "", want[1024] = "", all[2050];
	char *rest = want, *word;

	if (dfd < 0)
		return err_sys(e, "%.*s", (int)len, m->full);
	if (!(m->made_len && len >= m->made_len) && fd_read_at(dfd, file, have, sizeof(have)) < 0)
		return err_sys(e, "read %.*s/%s", (int)len, m->full, file);
	missing_add(need, sizeof(need), m->p->v2_need, have);
	missing_add(want, sizeof(want), m->p->v2_want, have);
	if (!*need && !*want)
		return 0;
	snprintf(all, sizeof(all), "%s%s%s", need, *need && *want ? " " : "", want);
	if (cgroup_write_at(dfd, file, all) == 0)
		return 0;
	if (*need && cgroup_write_at(dfd, file, need) < 0)
		return controllers_failed(m, need, len, e);
	while ((word = strsep(&rest, " ")))
		if (*word)
			(void)!cgroup_write_at(dfd, file, word);
	return 0;
}

static int controllers_settle(struct making *m, struct error *e)
{
	size_t len;

	if (!*m->p->v2_need && !*m->p->v2_want)
		return 0;
	for (len = m->mount_len; len < m->len; len = prefix_next(m, len))
		if (controllers_enable(m, len, e) < 0)
			return -1;
	return 0;
}

/* New parents that need values of the leaf (real time). */
static int parents_settle(struct making *m, struct error *e)
{
	size_t len;

	if (!m->made_len || !cgroup_write_has_parents(m->p, m->i))
		return 0;
	for (len = m->made_len; len < m->len; len = prefix_next(m, len)) {
		autoclose int dfd = prefix_open(m, len);

		if (dfd < 0)
			return err_sys(e, "%.*s", (int)len, m->full);
		if (cgroup_write_parent(m->p, m->i, dfd, e) < 0)
			return -1;
	}
	return 0;
}

/* A process that joins a frozen v1 cgroup hangs, whether it is frozen itself or by a parent. */
static int frozen_check(struct making *m, struct error *e)
{
	bool all_new = m->made_len && prefix_up(m, m->made_len) == m->mount_len;

	if (all_new || !(m->d->freezer || m->d->unified))
		return 0;
	if (cgroup_dfd_frozen(m->dfd, m->d->unified))
		return err_set(e, ERR_WRONG_STATE, "%s is frozen", m->full);
	return 0;
}

/* The kernel says which files go with a delegated cgroup. */
static int owner_set(struct making *m, struct error *e)
{
	char files[2048] = "cgroup.procs\ncgroup.subtree_control\ncgroup.threads\n";
	char *rest = files, *file;

	(void)!fd_read_at(AT_FDCWD, "/sys/kernel/cgroup/delegate", files, sizeof(files));
	if (fchownat(m->dfd, "", m->p->owner_uid, (gid_t)-1, AT_EMPTY_PATH) < 0)
		return err_sys(e, "chown %s", m->full);
	while ((file = strsep(&rest, "\n"))) {
		if (!*file || strchr(file, '/'))
			continue;
		if (fchownat(m->dfd, file, m->p->owner_uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0 &&
		    errno != ENOENT)
			return err_sys(e, "chown %s/%s", m->full, file);
	}
	return 0;
}

static int hierarchy_settle(struct making *m, bool existed, struct cgroup_handle *h,
			    struct error *e)
{
	if (m->d->unified) {
		if (controllers_settle(m, e) < 0)
			return -1;
	} else if (m->i == m->p->cpuset_dir && cpuset_settle(m, existed, e) < 0) {
		return -1;
	}
	if (parents_settle(m, e) < 0)
		return -1;
	if (cgroup_write_all(m->p, m->i, m->dfd, h->warning, sizeof(h->warning), e) < 0)
		return -1;
	if (m->i == m->p->devices_dir &&
	    cgroup_devices_attach(m->p, m->dfd, h->warning, sizeof(h->warning), e) < 0)
		return -1;
	if (m->d->unified && m->p->chown)
		return owner_set(m, e);
	return 0;
}

static int holder_move(struct making *m, int dfd, struct error *e)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", m->holder);
	return cgroup_write_at(dfd, "cgroup.procs", pid) < 0 ?
		       err_sys(e, "move the holder of %s into the container's own cgroup",
			       m->full) :
		       0;
}

/* Makes the container's cgroup below its limits. */
static int inner_settle(struct making *m, struct error *e)
{
	int dfd;

	if (!m->d->inner)
		return 0;
	dfd = cgroup_inner_make(m->dfd);
	/* Controllers are handed down by a cgroup that holds no process itself. */
	if (dfd >= 0 && m->holder && holder_move(m, dfd, e) < 0) {
		fd_close(&dfd);
		return -1;
	}
	if (dfd >= 0 && controllers_enable(m, m->len, e) < 0) {
		fd_close(&dfd);
		return -1;
	}
	if (dfd < 0)
		return err_sys(e, "make %s" CGROUP_INNER "%s", m->full, room_hint(errno));
	fd_close(&m->dfd);
	m->dfd = dfd;
	cgroup_inner_repeat(m->p, m->i, dfd);
	return 0;
}

static int join_open(struct making *m, struct cgroup_handle *h, struct error *e)
{
	int fd;

	if (m->d->unified) {
		h->unified_dfd = fd_steal(&m->dfd);
		return 0;
	}
	fd = openat(m->dfd, "tasks", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open %s/tasks", m->full);
	h->tasks_fd[h->n++] = fd;
	return 0;
}

/* Undoes the mkdirs: leaf, then parents while they are empty. What another one has claimed since
 * stays. */
static void hierarchy_undo(struct making *m)
{
	autoclose int dfd = open(m->full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int whose = dfd < 0 ? -1 : cgroup_claim_whose(m->d, dfd, m->full);
	size_t len;

	if (whose == CGROUP_ANOTHERS)
		return;
	if (whose == CGROUP_OURS && !m->made_len)
		cgroup_disclaim(dfd);
	if (!m->made_len)
		return;
	if (dfd >= 0 && m->d->inner)
		unlinkat(dfd, &CGROUP_INNER[1], AT_REMOVEDIR);
	for (len = m->len; len >= m->made_len; len = prefix_up(m, len)) {
		m->full[len] = '\0';
		if (rmdir(m->full) < 0 && errno != ENOENT)
			return;
	}
}

/* The leaf, ours alone. 0: made; 1: it was there. Its last owner may remove it under us. */
static int leaf_claim(struct making *m, bool *parents, struct error *e)
{
	int tries, existed, again;

	for (tries = 0; tries < MKDIR_TRIES; tries++) {
		existed = leaf_mkdir(m, parents, e);
		if (existed < 0)
			return -1;
		fd_close(&m->dfd);
		m->dfd = open(m->full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (m->dfd < 0 && errno == ENOENT)
			continue;
		if (m->dfd < 0)
			return err_sys(e, "open %s", m->full);
		again = cgroup_claim(m->dfd, m->full, existed, m->holder, m->d, e);
		if (again <= 0)
			return again < 0 ? -1 : existed;
	}
	return err_set(e, ERR_SYSTEM, "%s is removed as often as it is made", m->full);
}

static int hierarchy_make(struct making *m, bool *parents, struct cgroup_handle *h, struct error *e)
{
	int existed = leaf_claim(m, parents, e);

	if (existed < 0)
		return -1;
	/* All hierarchies have the same containers; the unified one is looked at since it may be
	 * seen alone. */
	if ((m->i == 0 || m->d->unified) && cgroup_claim_check_above(m->d, e) < 0)
		return -1;
	if (m->p->apart_for && cgroup_check_apart(m->d, m->p->apart_for, e) < 0)
		return -1;
	if (frozen_check(m, e) < 0 || hierarchy_settle(m, existed, h, e) < 0 ||
	    inner_settle(m, e) < 0)
		return -1;
	return join_open(m, h, e);
}

static int making_init(struct making *m, const struct cgroup_plan *p, struct cgroup_dirs *dirs,
		       size_t i, pid_t holder, struct error *e)
{
	m->p = p;
	m->i = i;
	m->d = &dirs->v[i];
	m->dfd = -1;
	m->made_len = 0;
	m->holder = holder;
	m->mark = str_eq(p->dirs.v[i].made, m->d->path);
	if (!cgroup_full_path(m->d->mount, m->d->path, m->full))
		return err_set(e, ERR_CONFIG, "linux.cgroupsPath: too long");
	m->mount_len = strlen(m->d->mount);
	m->len = strlen(m->full);
	return 0;
}

static void hierarchies_undo(const struct cgroup_plan *p, struct cgroup_dirs *dirs,
			     const size_t *made_len, size_t n)
{
	struct error ignored;
	struct making m;

	while (n-- > 0) {
		if (making_init(&m, p, dirs, n, 0, &ignored) < 0)
			continue;
		m.made_len = made_len[n];
		hierarchy_undo(&m);
	}
}

static int hierarchies_make(const struct cgroup_plan *p, struct cgroup_dirs *dirs,
			    struct cgroup_handle *h, struct error *e)
{
	size_t made_len[CGROUP_MAX] = {0}, i;
	bool parents = false;
	struct making m;

	for (i = 0; i < p->dirs.n; i++) {
		int rc = making_init(&m, p, dirs, i, h->holder, e);

		if (rc == 0)
			rc = hierarchy_make(&m, &parents, h, e);
		fd_close(&m.dfd);
		made_len[i] = m.made_len;
		if (rc < 0) {
			hierarchies_undo(p, dirs, made_len, i + 1);
			return -1;
		}
	}
	return 0;
}

int cgroup_make(const struct cgroup_plan *p, struct cgroup_dirs *dirs,
		struct cgroup_handle *ret_handle, struct error *e)
{
	struct cgroup_handle h = CGROUP_HANDLE_NONE;

	if (p->dirs.n > CGROUP_MAX)
		return err_set(e, ERR_BUG, "cgroup: more than %d hierarchies", CGROUP_MAX);
	if (cgroup_driver_begin(p, dirs, &h, e) < 0)
		return err_wrap(e, "cgroup");
	if (hierarchies_make(p, dirs, &h, e) < 0) {
		cgroup_handle_close(&h);
		cgroup_driver_give_up(&p->unit, dirs, &h);
		return err_wrap(e, "cgroup");
	}
	*ret_handle = h;
	return 0;
}

/* The topmost part of d->path that does not exist yet, its parents looked at from the leaf's up:
 * the usual case is one look. The leaf itself is the container's whether it exists or not. */
static char *missing_top(const struct cgroup_dir *d, struct arena *a)
{
	char full[CGROUP_PATH_SIZE];
	size_t mount_len = strlen(d->mount);
	char *top = d->path;

	if (!cgroup_full_path(d->mount, d->path, full))
		return top;
	for (;;) {
		*strrchr(full, '/') = '\0';
		if (strlen(full) <= mount_len || access(full, F_OK) == 0 || errno != ENOENT)
			return top;
		top = arena_strdup(a, full + mount_len);
	}
}

struct cgroup_dirs cgroup_dirs_settle(const struct cgroup_plan *p, const char *record,
				      struct arena *a)
{
	struct cgroup_dirs dirs = {.n = p->dirs.n,
				   .v = arena_array(a, p->dirs.n + 1, struct cgroup_dir)};
	char *claim = cgroup_claim_new(record, a);
	size_t i;

	for (i = 0; i < dirs.n; i++) {
		struct cgroup_dir *d = &dirs.v[i];

		*d = p->dirs.v[i];
		d->claim = claim;
		/* Below /sbxrun there is nothing to find out, and systemd's slices are its own. */
		if (str_eq(d->made, d->path) && !d->by_systemd)
			d->made = missing_top(d, a);
	}
	return dirs;
}
