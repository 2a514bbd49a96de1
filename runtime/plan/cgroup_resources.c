/*
 * linux.resources → files and values: the table of parts, and all of them but memory, cpu and
 * devices, which have files of their own. Pure.
 *
 * Numbers follow the practice of engines: 0 means "not asked for" in limits that no container could
 * live with (memory, shares, quota, weights), -1 is unlimited. pids.limit 0 is a limit, as the
 * spec says since 1.3; of older configs oci/oci.c has taken it away. What a host can't do is an
 * error that names the field; where only the leaf directory shows whether a file exists, the write
 * carries its fallback.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "plan/cgroup_build.h"

#define R "linux.resources."

static int pids(struct cgroup_build *b, const struct oci_resources *r)
{
	const char *field = R "pids.limit";
	struct opt_i64 n = r->pids_limit;
	size_t dir;

	if (!n.set)
		return 0;
	if (cgroup_build_check_size(b, field, n) < 0)
		return -1;
	/* Unlimited is what a new cgroup is; no controller is fine for that. */
	if (n.v < 0 && cgroup_build_find(b, "pids") == CGROUP_NO_DIR)
		return 0;
	if (cgroup_build_need(b, "pids", field, &dir) < 0)
		return -1;
	/* A process can move into a cgroup with the limit 0 (v1) but not be born there (v2). With 1
	 * it is alone all the same. */
	if (n.v == 0 && cgroup_build_on_v2(b, dir))
		n.v = 1;
	cgroup_build_put(b, dir, field, "pids.max", "%s", cgroup_build_v2_size(b, n.v));
	return 0;
}

static uint32_t v2_io_weight(uint32_t weight)
{
	return 1 + (weight - 10) * 9999 / 990;
}

static int weight_check(struct cgroup_build *b, const char *field, struct opt_u32 w)
{
	if (w.set && w.v && (w.v < 10 || w.v > 1000))
		return err_set(b->e, ERR_CONFIG, "%s: %u is not between 10 and 1000", field, w.v);
	return 0;
}

static int block_weight(struct cgroup_build *b, size_t dir, const struct oci_block_io *io)
{
	struct cgroup_write *w;

	if (weight_check(b, R "blockIO.weight", io->weight) < 0 ||
	    weight_check(b, R "blockIO.leafWeight", io->leaf_weight) < 0)
		return -1;
	if (io->weight.set && io->weight.v) {
		w = cgroup_build_put(b, dir, R "blockIO.weight",
				     cgroup_build_on_v2(b, dir) ? "io.bfq.weight" : "blkio.weight",
				     "%u", io->weight.v);
		w->alt_file = cgroup_build_on_v2(b, dir) ? "io.weight" : "blkio.bfq.weight";
		w->alt_value =
			cgroup_build_on_v2(b, dir) ?
				arena_printf(b->a, "default %u", v2_io_weight(io->weight.v)) :
				w->value;
	}
	if (io->leaf_weight.set && io->leaf_weight.v) {
		if (cgroup_build_on_v2(b, dir))
			return cgroup_build_not_on_v2(b, R "blockIO.leafWeight");
		cgroup_build_put(b, dir, R "blockIO.leafWeight", "blkio.leaf_weight", "%u",
				 io->leaf_weight.v);
	}
	return 0;
}

static int block_weight_device(struct cgroup_build *b, size_t dir, const struct oci_block_io *io,
			       size_t i)
{
	const struct oci_weight_device *d = &io->weight_device.v[i];
	const char *field = arena_printf(b->a, R "blockIO.weightDevice[%zu]", i);
	struct cgroup_write *w;

	if (weight_check(b, field, d->weight) < 0 || weight_check(b, field, d->leaf_weight) < 0)
		return -1;
	if (d->weight.set && d->weight.v) {
		w = cgroup_build_put(b, dir, field,
				     cgroup_build_on_v2(b, dir) ? "io.bfq.weight" :
								  "blkio.weight_device",
				     "%" PRId64 ":%" PRId64 " %u", d->major, d->minor, d->weight.v);
		w->alt_file = cgroup_build_on_v2(b, dir) ? "io.weight" : "blkio.bfq.weight_device";
		w->alt_value = cgroup_build_on_v2(b, dir) ?
				       arena_printf(b->a, "%" PRId64 ":%" PRId64 " %u", d->major,
						    d->minor, v2_io_weight(d->weight.v)) :
				       w->value;
	}
	if (d->leaf_weight.set && d->leaf_weight.v) {
		if (cgroup_build_on_v2(b, dir))
			return cgroup_build_not_on_v2(b, field);
		cgroup_build_put(b, dir, field, "blkio.leaf_weight_device",
				 "%" PRId64 ":%" PRId64 " %u", d->major, d->minor,
				 d->leaf_weight.v);
	}
	return 0;
}

static void block_throttle(struct cgroup_build *b, size_t dir, const struct oci_throttle_list *list,
			   const char *member, const char *v1_file, const char *v2_key)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		const struct oci_throttle_device *d = &list->v[i];
		const char *field = arena_printf(b->a, R "blockIO.%s[%zu]", member, i);
		const char *rate = arena_printf(b->a, "%" PRIu64, d->rate);

		if (!cgroup_build_on_v2(b, dir))
			cgroup_build_put(b, dir, field, v1_file, "%" PRId64 ":%" PRId64 " %s",
					 d->major, d->minor, rate);
		else /* 0 lifts a v1 limit */
			cgroup_build_put(b, dir, field, "io.max", "%" PRId64 ":%" PRId64 " %s=%s",
					 d->major, d->minor, v2_key, d->rate ? rate : "max");
	}
}

static int block_io(struct cgroup_build *b, const struct oci_resources *r)
{
	const struct oci_block_io *io = &r->block_io;
	const struct {
		const struct oci_throttle_list *list;
		const char *member, *v1_file, *v2_key;
	} throttles[] = {
		{&io->throttle_read_bps, "throttleReadBpsDevice", "blkio.throttle.read_bps_device",
		 "rbps"},
		{&io->throttle_write_bps, "throttleWriteBpsDevice",
		 "blkio.throttle.write_bps_device", "wbps"},
		{&io->throttle_read_iops, "throttleReadIOPSDevice",
		 "blkio.throttle.read_iops_device", "riops"},
		{&io->throttle_write_iops, "throttleWriteIOPSDevice",
		 "blkio.throttle.write_iops_device", "wiops"},
	};
	const char *first = io->weight.set && io->weight.v	     ? R "blockIO.weight" :
			    io->leaf_weight.set && io->leaf_weight.v ? R "blockIO.leafWeight" :
			    io->weight_device.n			     ? R "blockIO.weightDevice" :
								       NULL;
	size_t i, dir;

	for (i = 0; !first && i < ARRAY_SIZE(throttles); i++)
		if (throttles[i].list->n)
			first = arena_printf(b->a, R "blockIO.%s", throttles[i].member);
	if (!first)
		return 0;
	if (cgroup_build_need(b, "blkio", first, &dir) < 0 || block_weight(b, dir, io) < 0)
		return -1;
	for (i = 0; i < io->weight_device.n; i++)
		if (block_weight_device(b, dir, io, i) < 0)
			return -1;
	for (i = 0; i < ARRAY_SIZE(throttles); i++)
		block_throttle(b, dir, throttles[i].list, throttles[i].member, throttles[i].v1_file,
			       throttles[i].v2_key);
	return 0;
}

/* "64KB", "2MB", "1GB": part of a file's name, so nothing else may come through. */
static bool is_page_size(const char *s)
{
	size_t digits = strspn(s, "0123456789");

	return digits && digits < 8 && strchr("KMG", s[digits]) && s[digits] &&
	       str_eq(s + digits + 1, "B");
}

static int hugepages(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	for (i = 0; i < r->hugepage_limits.n; i++) {
		const struct oci_hugepage_limit *l = &r->hugepage_limits.v[i];
		const char *field = arena_printf(b->a, R "hugepageLimits[%zu]", i);
		const char *end;
		struct cgroup_write *w;

		if (!l->page_size || !is_page_size(l->page_size))
			return err_set(b->e, ERR_CONFIG,
				       "%s.pageSize: \"%s\" is no page size such as 2MB", field,
				       l->page_size ? l->page_size : "");
		if (cgroup_build_need(b, "hugetlb", field, &dir) < 0)
			return -1;
		end = cgroup_build_on_v2(b, dir) ? "max" : "limit_in_bytes";
		cgroup_build_put(b, dir, field,
				 arena_printf(b->a, "hugetlb.%s.%s", l->page_size, end), "%" PRIu64,
				 l->limit);
		/* Counted at reservation too, where the kernel can, so that nothing gets SIGBUS. */
		w = cgroup_build_put(b, dir, field,
				     arena_printf(b->a, "hugetlb.%s.rsvd.%s", l->page_size, end),
				     "%" PRIu64, l->limit);
		w->flags |= CGROUP_OPTIONAL;
	}
	return 0;
}

static bool is_plain_word(const char *s)
{
	if (!s || !*s)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

static int network(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	if (r->network.class_id.set && r->network.class_id.v) {
		if (cgroup_build_need(b, "net_cls", R "network.classID", &dir) < 0)
			return -1;
		cgroup_build_put(b, dir, R "network.classID", "net_cls.classid", "%u",
				 r->network.class_id.v);
	}
	for (i = 0; i < r->network.priorities.n; i++) {
		const struct oci_net_priority *p = &r->network.priorities.v[i];
		const char *field = arena_printf(b->a, R "network.priorities[%zu]", i);

		if (!is_plain_word(p->name))
			return err_set(b->e, ERR_CONFIG, "%s.name: no name of an interface", field);
		if (cgroup_build_need(b, "net_prio", field, &dir) < 0)
			return -1;
		cgroup_build_put(b, dir, field, "net_prio.ifpriomap", "%s %u", p->name,
				 p->priority);
	}
	return 0;
}

static int rdma(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	for (i = 0; i < r->rdma.n; i++) {
		const struct oci_rdma *d = &r->rdma.v[i];
		const char *field = arena_printf(b->a, R "rdma[%s]", d->device ? d->device : "");

		if (!is_plain_word(d->device))
			return err_set(b->e, ERR_CONFIG, R "rdma: no name of a device");
		if (!d->hca_handles.set && !d->hca_objects.set)
			return err_set(b->e, ERR_CONFIG,
				       "%s: neither hcaHandles nor hcaObjects is given", field);
		if (cgroup_build_need(b, "rdma", field, &dir) < 0)
			return -1;
		cgroup_build_put(b, dir, field, "rdma.max", "%s%s%s", d->device,
				 d->hca_handles.set ?
					 arena_printf(b->a, " hca_handle=%u", d->hca_handles.v) :
					 "",
				 d->hca_objects.set ?
					 arena_printf(b->a, " hca_object=%u", d->hca_objects.v) :
					 "");
	}
	return 0;
}

/* Files through which a container would be moved, killed or frozen: they are the runtime's. */
static bool is_runtimes_own(const char *file)
{
	static const char *const own[] = {"cgroup.procs", "cgroup.threads", "cgroup.kill",
					  "cgroup.freeze", "cgroup.subtree_control"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		if (str_eq(file, own[i]))
			return true;
	return false;
}

/* Trust: key names a file, and comes from config.json. */
static int unified_key(struct cgroup_build *b, const char *key, const char *field, size_t *ret_dir)
{
	size_t len = strcspn(key, ".");
	char *controller = arena_strndup(b->a, key, len);
	size_t dir = b->host->n ? b->host->n - 1 : 0;

	if (!len || !key[len] || !key[len + 1] || strchr(key, '/') || !is_plain_word(key))
		return err_set(b->e, ERR_CONFIG, "%s: no name of a cgroup file", field);
	if (is_runtimes_own(key))
		return err_set(b->e, ERR_CONFIG, "%s: this file is the runtime's", field);
	if (!b->host->n || !cgroup_build_on_v2(b, dir))
		return err_set(b->e, ERR_HOST, "%s: this host has no cgroup v2", field);
	*ret_dir = dir;
	if (str_eq(controller, "cgroup"))
		return 0;
	if (str_eq(controller, "io"))
		controller = arena_strdup(b->a, "blkio");
	if (cgroup_build_need(b, controller, field, ret_dir) < 0)
		return -1;
	if (!cgroup_build_on_v2(b, *ret_dir))
		return err_set(b->e, ERR_HOST, "%s: this host has the %s controller on cgroup v1",
			       field, controller);
	return 0;
}

/* A value may have several lines, and the kernel takes one at a time. */
static int unified(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	for (i = 0; i < r->unified.n; i++) {
		const struct pair *p = &r->unified.v[i];
		const char *field = arena_printf(b->a, R "unified[%s]", p->key);
		char *rest = arena_strdup(b->a, p->value);
		char *line;

		if (strlen(p->value) >= 4096)
			return err_set(b->e, ERR_CONFIG, "%s: longer than a page", field);
		if (unified_key(b, p->key, field, &dir) < 0)
			return -1;
		while ((line = strsep(&rest, "\n")))
			if (*line || (!rest && !*p->value))
				cgroup_build_put(b, dir, field, p->key, "%s", line);
	}
	return 0;
}

int cgroup_build_resources(struct cgroup_build *b, const struct oci_resources *r)
{
	int (*const parts[])(struct cgroup_build *, const struct oci_resources *) = {
		cgroup_build_memory,
		cgroup_build_cpu,
		cgroup_build_cpuset,
		pids,
		block_io,
		hugepages,
		network,
		rdma,
		unified, /* last: it may refine what the others said */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i](b, r) < 0)
			return -1;
	return 0;
}
