#include "ns/joins.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "oci/names.h"

/* Whether the process (a number, or "self") is in it. Of others not everybody may know. */
static bool join_is_of(int fd, const char *process, const struct oci_ns_name *name)
{
	struct stat here, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, name->proc);
	return stat(path, &here) == 0 && fstat(fd, &other) == 0 && here.st_dev == other.st_dev &&
	       here.st_ino == other.st_ino;
}

static int join_open(const struct oci_namespace *ns, struct error *e)
{
	const struct oci_ns_name *name = &oci_ns_names[ns->type];
	autoclose int fd = open(ns->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return err_sys(e, "linux.namespaces: open %s namespace %s", name->word, ns->path);
	if (ioctl(fd, NS_GET_NSTYPE) != name->flag)
		return err_set(e, ERR_CONFIG, "linux.namespaces: %s is not a %s namespace",
			       ns->path, name->word);
	return fd_steal(&fd);
}

static int joins_add(struct joins *j, const struct oci_namespace *ns, struct error *e)
{
	const struct oci_ns_name *name = &oci_ns_names[ns->type];
	unsigned int bit = 1U << ns->type;
	int fd = join_open(ns, e);

	if (fd < 0)
		return -1;
	j->fds[ns->type] = fd;
	if (join_is_of(fd, "self", name)) {
		j->own |= bit;
		j->host |= bit;
		fd_close(&j->fds[ns->type]);
	} else if (join_is_of(fd, "1", name)) {
		j->host |= bit;
	}
	return 0;
}

int joins_open(const struct oci_config *c, struct joins *ret, struct error *e)
{
	struct joins j = JOINS_NONE;
	size_t i;

	for (i = 0; i < c->linux_.namespaces.n; i++) {
		const struct oci_namespace *ns = &c->linux_.namespaces.v[i];

		if (ns->path && joins_add(&j, ns, e) < 0) {
			joins_close(&j);
			return -1;
		}
	}
	*ret = j;
	return 0;
}

void joins_close(struct joins *j)
{
	size_t i;

	for (i = 0; i < OCI_NS_COUNT; i++)
		fd_close(&j->fds[i]);
}
