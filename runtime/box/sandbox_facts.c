/* Facts of a box that stays, which never change: from a request, on record, and back. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "box/sandbox.h"
#include "json/rows.h"

enum { WORDS_MAX = 4096 };

static const struct json_row box_limits_rows[] = {
	F(box_limits, "memory", I64, memory),
	F(box_limits, "cpus", U32, cpus),
	F(box_limits, "pids", U32, pids),
	F(box_limits, "timeout_ns", I64, timeout_ns),
	F(box_limits, "cpu_time_ns", I64, cpu_time_ns),
	F(box_limits, "disk", I64, disk),
	F(box_limits, "tmpfs", I64, tmpfs),
	F(box_limits, "output", I64, output),
	F(box_limits, "file_size", I64, file_size),
	F(box_limits, "open_files", U32, open_files),
	F(box_limits, "net_bytes", I64, net_bytes),
	F(box_limits, "net_rate", I64, net_rate),
};
TABLE(box_limits);

static const struct json_row sandbox_volume_rows[] = {
	F(sandbox_volume, "source", STR, source, REQUIRED),
	F(sandbox_volume, "target", STR, target, REQUIRED),
	F(sandbox_volume, "writable", BOOL, writable, OMIT),
	F(sandbox_volume, "device", U64, device, OMIT),
	F(sandbox_volume, "inode", U64, inode, OMIT),
};
TABLE(sandbox_volume);

static const struct json_row sandbox_ulimit_rows[] = {
	F(sandbox_ulimit, "type", STR, type, REQUIRED),
	F(sandbox_ulimit, "soft", U64, soft),
	F(sandbox_ulimit, "hard", U64, hard),
};
TABLE(sandbox_ulimit);

static const struct json_row sandbox_facts_rows[] = {
	F(sandbox_facts, "version", U32, version, REQUIRED),
	F(sandbox_facts, "language", STR, language, OMIT),
	F(sandbox_facts, "rootfs", STR, rootfs),
	F(sandbox_facts, "uid", U32, uid),
	F(sandbox_facts, "gid", U32, gid),
	F(sandbox_facts, "idle_s", U32, idle_s, REQUIRED),
	F(sandbox_facts, "on_volume", BOOL, on_volume),
	F(sandbox_facts, "on_disk", BOOL, on_disk, OMIT),
	F(sandbox_facts, "writable_root", I64, writable_root, OMIT),
	F(sandbox_facts, "root_asked", STR, root_asked, OMIT),
	F(sandbox_facts, "strict", BOOL, strict, OMIT),
	L(sandbox_facts, "env", STRINGS, env, WORDS_MAX, OMIT),
	N(sandbox_facts, "volumes", LIST, volumes, sandbox_volume, WORDS_MAX, OMIT),
	N(sandbox_facts, "ulimits", LIST, ulimits, sandbox_ulimit, WORDS_MAX, OMIT),
	O(sandbox_facts, "limits", limits, box_limits, REQUIRED),
};
const struct json_table sandbox_facts_table = ROWS(sandbox_facts);

int sandbox_read_facts(const struct record *r, struct arena *a, struct sandbox_facts *ret,
			      struct error *e)
{
	const struct pair *p;

	for (p = r->annotations.v; p < r->annotations.v + r->annotations.n; p++)
		if (str_eq(p->key, BOX_FACTS))
			return json_read(BOX_FACTS, p->value, strlen(p->value),
					 &sandbox_facts_table, &json_default_limits, ret, a, e);
	return err_set(e, ERR_NOT_FOUND, "container \"%s\" is no box", r->id);
}

/* As it is found from any directory. A name stays a name. */
static char *facts_root(const char *asked, struct arena *a)
{
	char *real = asked && strchr(asked, '/') ? realpath(asked, NULL) : NULL;
	char *path = asked ? arena_strdup(a, real ? real : asked) : NULL;

	free(real);
	return path;
}

struct sandbox_facts sandbox_facts_of(const struct box_request *q, const struct sandbox_wish *wish,
				      struct arena *a)
{
	struct sandbox_facts facts = {
		.version = 1,
		.language = q->language ? arena_strdup(a, q->language->name) : NULL,
		.root_asked = facts_root(q->rootfs, a),
		.uid = q->uid,
		.gid = q->gid,
		.idle_s = wish->idle_s ? wish->idle_s : SANDBOX_IDLE_S,
		.on_volume = box_workspace_is_volume(q),
		.writable_root = q->writable_root,
		.strict = q->strict_limits,
		.env = q->env,
		.limits = q->limits,
	};
	size_t i;

	facts.limits.disk = box_workspace_size(&q->limits);
	facts.volumes.v = arena_array(a, q->n_volumes + 1, struct sandbox_volume);
	for (i = 0; i < q->n_volumes; i++)
		facts.volumes.v[facts.volumes.n++] = (struct sandbox_volume){
			.source = arena_strdup(a, q->volumes[i].source),
			.target = arena_strdup(a, q->volumes[i].target),
			.writable = q->volumes[i].writable,
			.device = q->volumes[i].device,
			.inode = q->volumes[i].inode,
		};
	facts.ulimits.v = arena_array(a, q->n_rlimits + 1, struct sandbox_ulimit);
	for (i = 0; i < q->n_rlimits; i++)
		facts.ulimits.v[facts.ulimits.n++] = (struct sandbox_ulimit){
			.type = arena_strdup(a, q->rlimits[i].type),
			.soft = q->rlimits[i].soft,
			.hard = q->rlimits[i].hard,
		};
	return facts;
}

void sandbox_request_again(const struct sandbox_facts *f, struct arena *a, struct box_request *q)
{
	struct box_volume *volumes = arena_array(a, f->volumes.n + 1, struct box_volume);
	struct box_rlimit *rlimits = arena_array(a, f->ulimits.n + 1, struct box_rlimit);
	size_t i;

	for (i = 0; i < f->volumes.n; i++)
		volumes[i] = (struct box_volume){f->volumes.v[i].source, f->volumes.v[i].target,
						 f->volumes.v[i].writable, f->volumes.v[i].device,
						 f->volumes.v[i].inode};
	for (i = 0; i < f->ulimits.n; i++)
		rlimits[i] = (struct box_rlimit){f->ulimits.v[i].type, f->ulimits.v[i].soft,
						 f->ulimits.v[i].hard};
	q->language = f->language ? box_language_find(f->language) : NULL;
	q->rootfs = f->root_asked;
	q->uid = f->uid;
	q->gid = f->gid;
	q->limits = f->limits;
	q->writable_root = f->writable_root;
	q->strict_limits = f->strict;
	q->env = f->env;
	q->n_volumes = f->volumes.n;
	q->volumes = volumes;
	q->n_rlimits = f->ulimits.n;
	q->rlimits = rlimits;
}
