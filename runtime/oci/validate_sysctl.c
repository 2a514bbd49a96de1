/*
 * linux.sysctl: only keys that belong to a namespace which the container has. Everything else would
 * be the host's. Whether a joined namespace is the host's own is judged by plan_check_shared().
 */
#include "base/str.h"
#include "oci/validate.h"

enum { SYSCTL_LONGEST = 256 };

struct sysctl_kind {
	const char *path; /* below /proc/sys; a trailing slash means all below it */
	enum oci_ns ns;
};

static const struct sysctl_kind kinds[] = {
	{"kernel/msgmax", OCI_NS_IPC},	    {"kernel/msgmnb", OCI_NS_IPC},
	{"kernel/msgmni", OCI_NS_IPC},	    {"kernel/sem", OCI_NS_IPC},
	{"kernel/shmall", OCI_NS_IPC},	    {"kernel/shmmax", OCI_NS_IPC},
	{"kernel/shmmni", OCI_NS_IPC},	    {"kernel/shm_rmid_forced", OCI_NS_IPC},
	{"fs/mqueue/", OCI_NS_IPC},	    {"net/", OCI_NS_NETWORK},
	{"kernel/domainname", OCI_NS_UTS}, {"user/", OCI_NS_USER},
};

static const char *const ns_words[OCI_NS_COUNT] = {
	[OCI_NS_IPC] = "an ipc",
	[OCI_NS_NETWORK] = "a network",
	[OCI_NS_UTS] = "a uts",
	[OCI_NS_USER] = "a user",
};

/* The first separator says which of the two forms the key has. */
bool oci_sysctl_path(const char *key, char *ret_path, size_t size)
{
	size_t len = strlen(key), first = strcspn(key, "./"), start = 0, i, n;
	bool dots = key[first] == '.';

	if (len == 0 || len >= size)
		return false;
	for (i = 0; i <= len; i++) {
		ret_path[i] = key[i];
		if (dots && (key[i] == '.' || key[i] == '/'))
			ret_path[i] = key[i] == '.' ? '/' : '.';
		if (ret_path[i] != '/' && ret_path[i] != '\0')
			continue;
		n = i - start;
		if (n == 0 || (n == 1 && ret_path[start] == '.') ||
		    (n == 2 && ret_path[start] == '.' && ret_path[start + 1] == '.'))
			return false;
		start = i + 1;
	}
	return true;
}

static const struct sysctl_kind *sysctl_find(const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_ends(kinds[i].path, "/") ? str_after(path, kinds[i].path) != NULL
						 : str_eq(path, kinds[i].path))
			return &kinds[i];
	return NULL;
}

enum oci_ns oci_sysctl_ns(const char *key)
{
	char path[SYSCTL_LONGEST];
	const struct sysctl_kind *kind =
		oci_sysctl_path(key, path, sizeof(path)) ? sysctl_find(path) : NULL;

	return kind ? kind->ns : OCI_NS_COUNT;
}

static int validate_key(const struct oci_config *c, const char *key, struct error *e)
{
	char path[SYSCTL_LONGEST];
	const struct sysctl_kind *kind;

	if (!oci_sysctl_path(key, path, sizeof(path)))
		return REFUSE(e, "linux.sysctl: %s is not the name of a sysctl",
			      json_show(key).text);
	if (str_eq(path, "kernel/hostname"))
		return REFUSE(e, "linux.sysctl[%s]: is set by the field hostname",
			      json_show(key).text);
	kind = sysctl_find(path);
	if (!kind)
		return REFUSE(e, "linux.sysctl[%s]: belongs to no namespace", json_show(key).text);
	if (!oci_namespace_find(c, kind->ns))
		return REFUSE(e, "linux.sysctl[%s]: needs %s namespace", json_show(key).text,
			      ns_words[kind->ns]);
	return 0;
}

int oci_validate_sysctl(const struct oci_config *c, struct error *e)
{
	const struct pairs *p = &c->linux_.sysctl;
	size_t i;

	for (i = 0; i < p->n; i++) {
		if (validate_key(c, p->v[i].key, e) < 0)
			return -1;
		if (strlen(p->v[i].value) >= 4096)
			return REFUSE(e, "linux.sysctl[%s]: value longer than 4095 bytes",
				      json_show(p->v[i].key).text);
	}
	return 0;
}
