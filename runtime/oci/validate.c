/*
 * Judges what config.json alone decides, and the top level of it. The rule: what no host could
 * honour, or what peers read in different ways, is refused here with field and reason; what depends
 * on the host is left to those who meet it.
 *
 * Trust: every value is hostile, but has passed the reader: no NUL, bounded counts and lengths.
 */
#include "oci/validate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "oci/words.h"

int oci_check_absolute(const char *path, const char *at, struct error *e)
{
	if (path[0] != '/')
		return REFUSE(e, "%s: %s is not an absolute path", at, json_show(path).text);
	if (strlen(path) > PATH_LONGEST)
		return REFUSE(e, "%s: longer than %d bytes", at, PATH_LONGEST);
	return 0;
}

bool oci_is_number_list(const char *s)
{
	/* A cgroup file takes no longer text at once, and what a range costs is paid for each. */
	enum { LARGEST = 1 << 20, LONGEST = 4095 };
	unsigned long first, last;
	char *end;

	if (strlen(s) > LONGEST)
		return false;
	for (;;) {
		if (!isdigit((unsigned char)*s))
			return false;
		first = last = strtoul(s, &end, 10);
		if (*end == '-') {
			s = end + 1;
			if (!isdigit((unsigned char)*s))
				return false;
			last = strtoul(s, &end, 10);
		}
		if (last < first || last > LARGEST)
			return false;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		s = end + 1;
	}
}

bool oci_path_climbs(const char *path)
{
	const char *p = path, *end;

	for (;; p = end + 1) {
		end = strchrnul(p, '/');
		if (end - p == 2 && p[0] == '.' && p[1] == '.')
			return true;
		if (!*end)
			return false;
	}
}

bool oci_is_ifname(const char *s)
{
	size_t len = strlen(s), i;

	if (len == 0 || len > IFNAME_LONGEST || str_eq(s, ".") || str_eq(s, ".."))
		return false;
	for (i = 0; i < len; i++)
		if (s[i] == '/' || s[i] == ':' || isspace((unsigned char)s[i]))
			return false;
	return true;
}

bool oci_is_dev(int64_t major, int64_t minor)
{
	return major >= 0 && major < 1 << 12 && minor >= 0 && minor < 1 << 20;
}

const struct oci_namespace *oci_namespace_find(const struct oci_config *c, enum oci_ns type)
{
	size_t i;

	for (i = 0; i < c->linux_.namespaces.n; i++)
		if (c->linux_.namespaces.v[i].type == type)
			return &c->linux_.namespaces.v[i];
	return NULL;
}

/* One number of a version: no sign, no leading zero. The rest of the text, or NULL. */
static const char *version_number(const char *s, unsigned int *ret)
{
	const char *p = s;
	unsigned int v = 0;

	while (isdigit((unsigned char)*p) && p - s < 6)
		v = v * 10 + (unsigned int)(*p++ - '0');
	if (p == s || (s[0] == '0' && p - s > 1) || isdigit((unsigned char)*p))
		return NULL;
	*ret = v;
	return p;
}

/* Dot-separated words of a pre-release or build part; ends at `stop` or the end. */
static const char *version_words(const char *s, char stop)
{
	size_t len;

	for (;; s++) {
		len = strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
		if (len == 0)
			return NULL;
		s += len;
		if (!*s || *s == stop)
			return s;
		if (*s != '.')
			return NULL;
	}
}

/* Semantic versioning 2.0.0: "1.0.2-dev", "1.1.0+dev". */
static bool version_parse(const char *s, unsigned int *major, unsigned int *minor)
{
	unsigned int patch;

	s = version_number(s, major);
	if (!s || *s != '.')
		return false;
	s = version_number(s + 1, minor);
	if (!s || *s != '.')
		return false;
	s = version_number(s + 1, &patch);
	if (s && *s == '-')
		s = version_words(s + 1, '+');
	if (s && *s == '+')
		s = version_words(s + 1, '\0');
	return s && !*s;
}

unsigned int oci_version_minor(const char *version)
{
	unsigned int major = 0, minor = 0;

	(void)version_parse(version, &major, &minor);
	return minor;
}

int oci_validate_version(const char *version, struct error *e)
{
	unsigned int major = 0, minor = 0;

	if (!version_parse(version, &major, &minor))
		return REFUSE(e, "ociVersion: %s is not a version", json_show(version).text);
	if (major != 1 || minor > OCI_MINOR_MAX)
		return REFUSE(e, "ociVersion: %s is not supported (%s to %s are)",
			      json_show(version).text, OCI_VERSION_MIN, OCI_VERSION_MAX);
	return 0;
}

static int validate_uts(const struct oci_config *c, const char *name, const char *at,
			struct error *e)
{
	if (!name)
		return 0;
	if (!oci_namespace_find(c, OCI_NS_UTS))
		return REFUSE(e, "%s: needs a uts namespace", at);
	if (strlen(name) > UTS_LONGEST)
		return REFUSE(e, "%s: longer than %d bytes", at, UTS_LONGEST);
	return 0;
}

static int validate_root(const struct oci_root *r, struct error *e)
{
	if (!*r->path)
		return REFUSE(e, "root.path: must not be empty");
	if (strlen(r->path) > PATH_LONGEST)
		return REFUSE(e, "root.path: longer than %d bytes", PATH_LONGEST);
	return 0;
}

static int validate_annotations(const struct pairs *p, struct error *e)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!*p->v[i].key)
			return REFUSE(e, "annotations: a key is empty");
	return 0;
}

static int validate_hook_list(const struct oci_hook_list *l, const char *kind, struct error *e)
{
	char at[64];
	size_t i;

	for (i = 0; i < l->n; i++) {
		snprintf(at, sizeof(at), "hooks.%s[%zu].path", kind, i);
		if (oci_check_absolute(l->v[i].path, at, e) < 0)
			return -1;
		if (l->v[i].timeout.set && l->v[i].timeout.v <= 0)
			return REFUSE(e, "hooks.%s[%zu].timeout: must be above 0", kind, i);
	}
	return 0;
}

int oci_validate_hooks(const struct oci_hooks *h, struct error *e)
{
	const struct oci_hook_list *lists[] = {&h->prestart,	    &h->create_runtime,
					       &h->create_container, &h->start_container,
					       &h->poststart,	     &h->poststop};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (validate_hook_list(lists[i], oci_hook_kinds[i], e) < 0)
			return -1;
	return 0;
}

int oci_config_validate(const struct oci_config *c, struct error *e)
{
	if (oci_validate_version(c->oci_version, e) < 0 || validate_root(&c->root, e) < 0)
		return -1;
	if (c->process.set && oci_process_validate(&c->process, "process.", e) < 0)
		return -1;
	if (validate_uts(c, c->hostname, "hostname", e) < 0 ||
	    validate_uts(c, c->domainname, "domainname", e) < 0)
		return -1;
	if (oci_validate_mounts(c, e) < 0 || oci_validate_hooks(&c->hooks, e) < 0 ||
	    validate_annotations(&c->annotations, e) < 0)
		return -1;
	return oci_validate_linux(c, e);
}
