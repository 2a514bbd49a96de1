/* Making a box that stays, see sandbox.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sha256.h"
#include "base/str.h"
#include "box/disk.h"
#include "box/explain.h"
#include "box/network_stay.h"
#include "box/sandbox.h"
#include "json/rows.h"
#include "sys/patience.h"
#include "sys/sys.h"

#define FILE_BEFORE SANDBOX_FILE ".new"

enum { CONFIG_MAX = 4 << 20 };

static const char *sandbox_make_id(struct arena *a, struct error *e)
{
	unsigned char b[6];

	if (getrandom(b, sizeof(b), 0) != sizeof(b)) {
		err_sys(e, "make up an id");
		return NULL;
	}
	return arena_printf(a, "%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
}

/* The state of one create. */
struct making {
	struct box_request *q;
	const struct sandbox_wish *wish;
	const char *id;
	const char *cgroup; /* its name */
	struct box_root root;
	int workspace_fd, layer_fd; /* on disk, where memory can't hold them; else -1 */
	struct arena *a;
	struct noted *notes;
};

static int making_config(const struct making *m, struct buf *ret, struct error *e)
{
	struct sandbox_facts facts = sandbox_facts_of(m->q, m->wish, m->a);
	struct box_request box = *m->q;
	struct buf text = buf_new(m->a, SANDBOX_FACTS_MAX);
	char *program[] = {arena_strdup(m->a, "box"), NULL};

	facts.rootfs = arena_strdup(m->a, m->root.name);
	facts.on_disk = m->workspace_fd >= 0;
	json_write(&text, &sandbox_facts_table, &facts, 0);
	if (text.overflow)
		return err_set(e, ERR_USAGE, "environment and volumes are too much for a box");
	/* It has no program: what is named here is never looked for. */
	box.language = NULL;
	box.limits.network = false; /* each call is told of its proxy: rules come and go */
	box.args = (struct strings){.n = 1, .v = program};
	box.facts = text.data;
	return box_config_write(&box, &m->root, m->a, ret, e);
}

/* ---- what does not fit into memory ---- */

static int making_disk(struct making *m, const char *option, int64_t size, int *ret_fd,
		       struct error *e)
{
	const char *note;

	if (disk_make_tree(option, size, m->a, ret_fd, &note, e) < 0)
		return -1;
	if (note)
		noted_take(m->notes, note);
	return 0;
}

/* Nobody would remove a directory when such a box ends by itself, nor hold its size. */
static int making_workspace(struct making *m, struct error *e)
{
	struct box_request *q = m->q;

	if (!disk_is_wanted(q) ||
	    making_disk(m, "--disk", box_workspace_size(&q->limits), &m->workspace_fd, e) == 0)
		return 0;
	if (!q->usual_disk || q->strict_limits)
		return err_set(e, e->class,
			       "%s; half of --memory can lie in memory, and -v DIR:" BOX_WORKSPACE
			       " is a directory on disk",
			       arena_strdup(m->a, e->text));
	q->limits.disk = 0;
	noted_take(m->notes, arena_printf(m->a,
					  "--preset: the workspace lies in memory and has %lld MB, "
					  "since: %s",
					  (long long)(box_workspace_size(&q->limits) >> 20),
					  e->text));
	return 0;
}

static int making_disks(struct making *m, struct error *e)
{
	const struct box_request *q = m->q;

	if (making_workspace(m, e) < 0)
		return -1;
	if (q->writable_root > q->limits.memory / 2 &&
	    making_disk(m, "--writable-root", q->writable_root, &m->layer_fd, e) < 0)
		return err_set(e, e->class, "%s; half of --memory can lie in memory",
			       arena_strdup(m->a, e->text));
	return 0;
}

/* ---- its process ---- */

/* Nobody's call begins before its file has that name, and one whose create ends before is swept,
 * its network with it. Who is not root may enter its namespaces only when it runs a program. */
static int making_start(const struct making *m, struct created *c, struct sandbox *s,
			struct error *e)
{
	const struct network_rules rules = box_network_rules(m->q);

	s->root = m->q->state_root;
	s->id = m->id;
	s->container = sandbox_container(m->id, m->a);
	s->facts = sandbox_facts_of(m->q, m->wish, m->a);
	s->record = c->record;
	s->dfd = fcntl(c->store.dfd, F_DUPFD_CLOEXEC, 3);
	s->init_pidfd = fcntl(c->pidfd, F_DUPFD_CLOEXEC, 3);
	s->lock_fd = openat(c->store.dfd, FILE_BEFORE,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->dfd < 0 || s->init_pidfd < 0 || s->lock_fd < 0)
		return err_sys(e, "make the file of the box");
	sandbox_touch(s);
	if (sandbox_log_make(c->store.dfd, e) < 0 || life_launch(c, NULL, m->a, e) < 0 ||
	    network_stay(c->store.dfd, &rules, c->pidfd, m->a, e) < 0)
		return -1;
	if (m->wish->fill && m->wish->fill(m->wish->context, s, m->a, e) < 0)
		return -1;
	sandbox_touch(s);
	return renameat(s->dfd, FILE_BEFORE, s->dfd, SANDBOX_FILE) < 0 ?
		       err_sys(e, "make the file of the box") :
		       0;
}

static void making_take_note(void *context, const char *text)
{
	struct noted *notes = context;

	noted_take(notes, box_words(text, notes->arena));
}

/* The sources of a fork were asked for before, and perhaps by a box that may write there. */
static void making_pin(const struct making *m, struct box_options *o)
{
	const struct box_request *q = m->q;
	struct pinned_source *pinned = arena_array(m->a, q->n_volumes + 1, struct pinned_source);
	size_t i;

	for (i = 0; i < q->n_volumes; i++)
		pinned[i] = (struct pinned_source){q->volumes[i].source, q->volumes[i].device,
						   q->volumes[i].inode};
	o->pinned = pinned;
	o->n_pinned = q->n_volumes;
}

static int making_create(const struct making *m, struct created *ret, struct error *e)
{
	autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int streams[3] = {null_fd, null_fd, null_fd};
	const struct noter noter = {.take = making_take_note, .context = m->notes};
	struct create_options o = box_options(m->q, &m->root);
	struct buf config = buf_new(m->a, CONFIG_MAX);
	struct given_tree given[2];

	if (null_fd < 0)
		return err_sys(e, "open /dev/null");
	if (m->workspace_fd >= 0)
		given[o.box.n_given++] = (struct given_tree){BOX_WORKSPACE, m->workspace_fd};
	if (m->layer_fd >= 0)
		given[o.box.n_given++] = (struct given_tree){"/", m->layer_fd};
	if (making_config(m, &config, e) < 0)
		return -1;
	o.id = sandbox_container(m->id, m->a);
	o.box.cgroup_name = m->cgroup;
	o.config_text = config.data;
	o.config_len = config.len;
	o.box.given = given;
	o.box.root_upper = m->q->writable_root;
	o.streams = streams;
	making_pin(m, &o.box);
	o.box.control_fd = -1;
	o.box.program_comes = true;
	o.take_listener = false;
	o.box.observe = OBSERVE_NOTHING;
	o.noter = &noter;
	if (life_create(&o, m->a, ret, e) < 0)
		return -1;
	ret->noter = NULL;
	return 0;
}

static int making_in_root(struct making *m, struct error *e)
{
	struct cgroup_boxes boxes = CGROUP_BOXES_NONE;
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct error ignored;
	struct created c;
	int result;

	if (making_disks(m, e) < 0 ||
	    box_cgroup_open(m->q, true, m->cgroup, m->a, &boxes, &m->root, e) < 0)
		return -1;
	result = making_create(m, &c, e);
	cgroup_boxes_close(&boxes);
	if (result < 0)
		return -1;
	result = making_start(m, &c, &s, e);
	if (result == 0)
		life_let_go(&c);
	else
		life_remove(&c, m->a, &ignored);
	return result;
}

/* All state directories of the machine share its cgroups, and each may have a box of that id. */
static const char *create_cgroup_name(const struct box_request *q, const char *id, struct arena *a)
{
	char hex[SHA256_HEX_SIZE];
	const char *where;
	struct stat st = {0};

	(void)stat(q->state_root, &st); /* it is there: its list of boxes is locked */
	where = arena_printf(a, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	sha256_hex(where, strlen(where), hex);
	return arena_printf(a, "%s.%.8s", sandbox_container(id, a), hex);
}

static int create_box(const struct box_request *q, const struct sandbox_wish *wish, const char *id,
		      struct arena *a, struct noted *notes, struct error *e)
{
	struct box_request own = *q;
	struct making m = {.q = &own,
			   .wish = wish,
			   .id = id,
			   .cgroup = create_cgroup_name(q, id, a),
			   .root = BOX_ROOT_NONE,
			   .workspace_fd = -1,
			   .layer_fd = -1,
			   .a = a,
			   .notes = notes};
	struct cgroup_boxes boxes = CGROUP_BOXES_NONE;
	int result = box_root_find(q, a, &m.root, e);

	if (result == 0 && m.root.note)
		noted_take(notes, m.root.note);
	if (result == 0)
		result = box_expand_rules(&own, &m.root, a, e);
	/* An ordinary user's scope would be his who makes the box, and not of those who use it. */
	if (result == 0 && sys_is_machine_root())
		result = box_cgroup_open(q, true, m.cgroup, a, &boxes, &m.root, e);
	if (result == 0 && wish->rootfs && !str_eq(wish->rootfs, m.root.name) && q->writable_root)
		result = err_set(e, ERR_HOST,
				 "the root filesystem is %s now, and the changes are those of %s",
				 m.root.name, wish->rootfs);
	if (result == 0)
		result = making_in_root(&m, e);
	cgroup_boxes_close(&boxes);
	fd_close(&m.workspace_fd);
	fd_close(&m.layer_fd);
	box_root_close(&m.root);
	return result;
}

/* A cgroup that somebody has left may have the name, too. */
static int create_refuse_taken(const struct box_request *q, const char *id, struct arena *a,
			       struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	const char *why = arena_strdup(a, e->text);

	if (sandbox_look(q->state_root, sandbox_container(id, a), a, &s, NULL, e) == 0)
		return err_set(e, ERR_EXISTS, "there is a box \"%s\" already", id);
	return err_set(e, ERR_EXISTS, "the id \"%s\" is taken on this machine: %s", id, why);
}

int sandbox_create(const struct box_request *q, const struct sandbox_wish *wish, struct arena *a,
		   const char **ret_id, struct noted *notes, struct error *e)
{
	const char *id = wish->id;
	autoclose int registry_fd = -1;

	if (id ? sandbox_check_id(id, e) < 0 : !(id = sandbox_make_id(a, e)))
		return -1;
	registry_fd =
		sandbox_registry_open(q->state_root, true, patience_until(PATIENCE_PEER_MS), e);
	if (registry_fd < 0)
		return -1;
	sandbox_registry_sweep(registry_fd, q->state_root, false);
	if (sandbox_registry_count(q->state_root, a) >= wish->most &&
	    sandbox_registry_sweep(registry_fd, q->state_root, true) == 0)
		return err_set(e, ERR_HOST,
			       "there are %u boxes, which is the most that there may be: box destroy "
			       "what is no longer needed (box list)",
			       wish->most);
	if (create_box(q, wish, id, a, notes, e) < 0) {
		if (e->class == ERR_EXISTS)
			return create_refuse_taken(q, id, a, e);
		err_set(e, e->class, "%s", box_words(e->text, a));
		return box_refuse_all(q, a, e);
	}
	/* A box that had that name before is no longer asked for. */
	if (sandbox_registry_find(q->state_root, id, a))
		sandbox_registry_add(registry_fd, id, "", a);
	*ret_id = id;
	return 0;
}
