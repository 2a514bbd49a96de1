/*
 * Device rules. The config's list, in order, followed by what every container has (the spec's
 * default devices, and mknod of anything: a node that may not be opened does no harm).
 *
 * The normal form has one meaning on both versions: the last rule that matches a device decides,
 * for each of the three accesses by itself. A rule for everything resets what stands before it.
 * Without any rule, nothing is allowed but the defaults.
 *
 * cgroup v1 knows a default and exceptions from it, so a later rule can take back an exception as a
 * whole but can't cut a hole into it. Such a list is refused there (the kernel would ignore the
 * rule silently); the eBPF program on v2 has no such limit.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "plan/cgroup_build.h"

#define ANY (-1)

static const struct cgroup_device_rule defaults[] = {
	{true, 'c', ANY, ANY, CGROUP_DEV_MKNOD}, {true, 'b', ANY, ANY, CGROUP_DEV_MKNOD},
	{true, 'c', 1, 3, CGROUP_DEV_ALL},     /* null */
	{true, 'c', 1, 5, CGROUP_DEV_ALL},     /* zero */
	{true, 'c', 1, 7, CGROUP_DEV_ALL},     /* full */
	{true, 'c', 1, 8, CGROUP_DEV_ALL},     /* random */
	{true, 'c', 1, 9, CGROUP_DEV_ALL},     /* urandom */
	{true, 'c', 5, 0, CGROUP_DEV_ALL},     /* tty */
	{true, 'c', 5, 1, CGROUP_DEV_ALL},     /* console */
	{true, 'c', 5, 2, CGROUP_DEV_ALL},     /* ptmx */
	{true, 'c', 136, ANY, CGROUP_DEV_ALL}, /* pts */
};

static const char *rule_field(struct cgroup_build *b, size_t i, const char *member)
{
	return arena_printf(b->a, "linux.resources.devices[%zu]%s", i, member);
}

static int access_parse(struct cgroup_build *b, size_t i, const char *s, unsigned int *ret)
{
	unsigned int access = 0;

	if (!s || !*s) {
		*ret = CGROUP_DEV_ALL;
		return 0;
	}
	for (; *s; s++) {
		if (*s == 'r')
			access |= CGROUP_DEV_READ;
		else if (*s == 'w')
			access |= CGROUP_DEV_WRITE;
		else if (*s == 'm')
			access |= CGROUP_DEV_MKNOD;
		else
			return err_set(b->e, ERR_CONFIG, "%s: only r, w and m are known",
				       rule_field(b, i, ".access"));
	}
	*ret = access;
	return 0;
}

static int number_parse(struct cgroup_build *b, size_t i, const char *member, struct opt_i64 n,
			int64_t *ret)
{
	*ret = n.set ? n.v : ANY;
	if (*ret < ANY || *ret > UINT32_MAX)
		return err_set(b->e, ERR_CONFIG, "%s: %lld is no device number",
			       rule_field(b, i, member), (long long)*ret);
	return 0;
}

/* One rule of the config becomes none (a reset), one, or two (both types). */
static int rule_normal(struct cgroup_build *b, size_t i, const struct oci_device_rule *in,
		       struct cgroup_devices *d)
{
	const char *type = in->type && *in->type ? in->type : "a";
	struct cgroup_device_rule r = {.allow = in->allow};

	if (strlen(type) != 1 || !strchr("acb", *type))
		return err_set(b->e, ERR_CONFIG, "%s: \"%s\" is not a, c or b",
			       rule_field(b, i, ".type"), type);
	if (access_parse(b, i, in->access, &r.access) < 0 ||
	    number_parse(b, i, ".major", in->major, &r.major) < 0 ||
	    number_parse(b, i, ".minor", in->minor, &r.minor) < 0)
		return -1;
	if (*type == 'a' && r.major == ANY && r.minor == ANY && r.access == CGROUP_DEV_ALL) {
		d->allow_all_default = r.allow;
		d->n = 0;
		return 0;
	}
	if (*type != 'b') {
		r.type = 'c';
		d->v[d->n++] = r;
	}
	if (*type != 'c') {
		r.type = 'b';
		d->v[d->n++] = r;
	}
	return 0;
}

static bool covers(const struct cgroup_device_rule *r, const struct cgroup_device_rule *x)
{
	return r->type == x->type && (r->major == ANY || r->major == x->major) &&
	       (r->minor == ANY || r->minor == x->minor);
}

static bool overlaps(const struct cgroup_device_rule *r, const struct cgroup_device_rule *x)
{
	return r->type == x->type && (r->major == ANY || x->major == ANY || r->major == x->major) &&
	       (r->minor == ANY || x->minor == ANY || r->minor == x->minor);
}

/* Adds an exception to the v1 set; the kernel would merge equal devices in the same way. */
static void exception_add(struct cgroup_devices *x, const struct cgroup_device_rule *r)
{
	size_t i;

	for (i = 0; i < x->n; i++) {
		if (x->v[i].type == r->type && x->v[i].major == r->major &&
		    x->v[i].minor == r->minor) {
			x->v[i].access |= r->access;
			return;
		}
	}
	x->v[x->n++] = *r;
}

/* Takes a rule of the default's own kind out of the exceptions; false if v1 can't express it. */
static bool exception_take(struct cgroup_devices *x, const struct cgroup_device_rule *r)
{
	bool whole = true;
	size_t i;

	for (i = 0; i < x->n; i++) {
		if (covers(r, &x->v[i]))
			x->v[i].access &= ~r->access;
		else if (overlaps(r, &x->v[i]) && (r->access & x->v[i].access))
			whole = false;
	}
	return whole;
}

/* A default and exceptions from it. Returns the first rule that can't be said so, or NULL. */
static const struct cgroup_device_rule *exceptions_from(const struct cgroup_devices *d,
							struct arena *a, struct cgroup_devices *ret)
{
	size_t i;

	*ret = (struct cgroup_devices){
		.allow_all_default = d->allow_all_default,
		.v = arena_array(a, d->n + 1, struct cgroup_device_rule),
	};
	for (i = 0; i < d->n; i++) {
		if (d->v[i].allow != d->allow_all_default)
			exception_add(ret, &d->v[i]);
		else if (!exception_take(ret, &d->v[i]))
			return &d->v[i];
	}
	return NULL;
}

static int v1_exceptions(struct cgroup_build *b, const struct cgroup_devices *d,
			 struct cgroup_devices *ret)
{
	const struct cgroup_device_rule *r = exceptions_from(d, b->a, ret);

	if (!r)
		return 0;
	return err_set(b->e, ERR_CONFIG,
		       "linux.resources.devices: cgroup v1 can't take a part back of a wider rule "
		       "before it (%s %c %lld:%lld)",
		       r->allow ? "allow" : "deny", r->type, (long long)r->major,
		       (long long)r->minor);
}

bool cgroup_build_allowed_devices(struct cgroup_build *b, struct cgroup_devices *ret)
{
	size_t i;

	if (exceptions_from(&b->p->devices, b->a, ret))
		return false;
	for (i = 0; ret->allow_all_default && i < ret->n; i++)
		if (ret->v[i].access)
			return false;
	return true;
}

static const char *number_text(struct cgroup_build *b, int64_t n)
{
	return n == ANY ? "*" : arena_printf(b->a, "%lld", (long long)n);
}

static void v1_writes(struct cgroup_build *b, size_t dir, const struct cgroup_devices *x)
{
	const char *reset = x->allow_all_default ? "devices.allow" : "devices.deny";
	const char *file = x->allow_all_default ? "devices.deny" : "devices.allow";
	size_t i;

	cgroup_build_put(b, dir, "linux.resources.devices", reset, "a");
	for (i = 0; i < x->n; i++) {
		const struct cgroup_device_rule *r = &x->v[i];

		if (!r->access)
			continue;
		cgroup_build_put(b, dir, "linux.resources.devices", file, "%c %s:%s %s%s%s",
				 r->type, number_text(b, r->major), number_text(b, r->minor),
				 r->access & CGROUP_DEV_READ ? "r" : "",
				 r->access & CGROUP_DEV_WRITE ? "w" : "",
				 r->access & CGROUP_DEV_MKNOD ? "m" : "");
	}
}

/* Does the list differ from "everything is allowed"? */
static bool restricts(const struct cgroup_devices *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (!d->v[i].allow)
			return true;
	return !d->allow_all_default;
}

static size_t unified_dir(const struct cgroup_host *host)
{
	return host->n && host->v[host->n - 1].unified ? host->n - 1 : CGROUP_NO_DIR;
}

static int rules_read(struct cgroup_build *b, const struct oci_resources *r,
		      struct cgroup_devices *ret)
{
	size_t i, room = 2 * r->devices.n + ARRAY_SIZE(defaults);
	struct cgroup_devices d = {.v = arena_array(b->a, room, struct cgroup_device_rule)};

	for (i = 0; i < r->devices.n; i++)
		if (rule_normal(b, i, &r->devices.v[i], &d) < 0)
			return -1;
	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		d.v[d.n++] = defaults[i];
	*ret = d;
	return 0;
}

int cgroup_build_denies_devices(struct cgroup_build *b, const struct oci_resources *r, bool *ret)
{
	struct cgroup_devices d;

	if (rules_read(b, r, &d) < 0)
		return -1;
	*ret = r->devices.n && restricts(&d);
	return 0;
}

int cgroup_build_devices(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t dir = cgroup_build_find(b, "devices");
	struct cgroup_devices d, x;

	if (rules_read(b, r, &d) < 0)
		return -1;
	b->p->devices = d;
	b->p->devices_asked = r->devices.n > 0;
	if (dir != CGROUP_NO_DIR) {
		if (v1_exceptions(b, &d, &x) < 0)
			return -1;
		v1_writes(b, dir, &x);
		return 0;
	}
	if (!restricts(&d))
		return 0;
	b->p->devices_dir = unified_dir(b->host);
	if (b->p->devices_dir == CGROUP_NO_DIR && r->devices.n)
		return err_set(
			b->e, ERR_HOST,
			"linux.resources.devices: this host has no devices cgroup controller");
	return 0;
}
