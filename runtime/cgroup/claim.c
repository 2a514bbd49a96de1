/*
 * Whose a cgroup is. What the record of a container names is a path, and the kill, the freeze and
 * the removal that follow from it must not reach another container that is at this path by now,
 * above it or below it; with another state root, neither knows of the other's record.
 *
 * So a container's cgroup carries its claim, an extended attribute with a word that no other
 * container has. It is set with XATTR_CREATE: of two creates that find an empty directory, made by
 * one of them or by an engine, one gets it. The word is on record before the first directory is
 * made, so that a create which is cut short anywhere has left nothing that its record can't be told
 * from others'. Afterwards the record has the inode's number, too, which is never used again before
 * the next boot and which the container can't change, whatever it does to attributes of its own
 * cgroup.
 *
 * Containers in each other: the one below claims, and then looks at what is above; the one above
 * claims, and then looks at what is below. Whoever is second in that order sees the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/boxes.h"
#include "cgroup/cgroup.h"
#include "cgroup/tree.h"

/* The second is for who lacks CAP_SYS_ADMIN over the machine. Whoever may write the directory can
 * change it. */
static const char *const claim_names[] = {"trusted.sbxrun.owner", "user.sbxrun.owner"};
enum { CLAIM_ROOT, CLAIM_USER, CLAIM_KINDS };

/* A number, a blank, and where the record is: ROOT/ID. */
enum { CLAIM_SIZE = 4096 };

char *cgroup_claim_new(const char *record, struct arena *a)
{
	uint64_t number = 0;

	(void)!getrandom(&number, sizeof(number), GRND_INSECURE);
	if (strlen(record) + 32 > CLAIM_SIZE)
		record = "?";
	return arena_printf(a, "%016llx %s", (unsigned long long)number, record);
}

static const char *claim_record(const char *claim)
{
	const char *blank = strchr(claim, ' ');

	return blank ? blank + 1 : "";
}

/*
 * Has the owner's record been removed, by hand or because it was broken? Of the id that is our own
 * now, no other container can be. Should it only be out of sight, its cgroup is lost to it, which
 * it will notice by the inode. Trust: the claim is one that the caller, or who has the same rights,
 * has written.
 */
static bool claim_is_stale(const char *claim, const char *own)
{
	const char *record = claim_record(claim);

	return *record == '/' &&
	       (str_eq(record, claim_record(own)) || (access(record, F_OK) < 0 && errno == ENOENT));
}

/* The claim on a directory: of dfd, or, if that is -1, at full. "": none. */
static int claim_read(int dfd, const char *full, int kind, char text[CLAIM_SIZE])
{
	ssize_t n = dfd >= 0 ? fgetxattr(dfd, claim_names[kind], text, CLAIM_SIZE - 1) :
			       getxattr(full, claim_names[kind], text, CLAIM_SIZE - 1);

	if (n < 0 && errno == ERANGE) /* nothing that we wrote */
		n = snprintf(text, CLAIM_SIZE, "?");
	if (n < 0 && (errno == ENODATA || errno == EOPNOTSUPP))
		n = 0;
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -1 : 0;
}

/* Is the directory the one that the record means, by its number? */
static bool claim_has_inode(const struct cgroup_dir *d, int dfd, const char *full)
{
	struct stat st;

	return d->inode && (dfd >= 0 ? fstat(dfd, &st) : lstat(full, &st)) == 0 &&
	       st.st_ino == d->inode;
}

/* By CAP_SYS_ADMIN over the machine a container can write one, too: no record goes with it. */
static bool claim_is_nobodys(const char *claim, const struct cgroup_dir *d)
{
	return *claim_record(claim) != '/' || claim_is_stale(claim, d->claim ? d->claim : "");
}

int cgroup_claim_whose(const struct cgroup_dir *d, int dfd, const char *full)
{
	char text[CLAIM_SIZE];
	int kind;

	for (kind = 0; kind < CLAIM_KINDS; kind++) {
		if (claim_read(dfd, full, kind, text) < 0)
			return -1;
		if (!*text)
			continue;
		if (d->claim && str_eq(text, d->claim))
			return CGROUP_OURS;
		/* The container may have written that itself, to be left alone. */
		if ((kind == CLAIM_USER || claim_is_nobodys(text, d)) &&
		    claim_has_inode(d, dfd, full))
			return CGROUP_OURS;
		return CGROUP_ANOTHERS;
	}
	/* A record from before there were claims. */
	if (!d->claim)
		return CGROUP_OURS;
	if (d->inode)
		return claim_has_inode(d, dfd, full) ? CGROUP_OURS : CGROUP_ANOTHERS;
	/* A create was cut short before it had claimed this, or even made it. */
	return CGROUP_NOBODYS;
}

/* Trust: whoever may write the directory can have written the claim. */
static int claim_refuse(const char *full, const char *claim, struct error *e)
{
	static const char id[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
	const char *slash = strrchr(claim, '/'), *name = slash ? slash + 1 : "";

	return err_set(
		e, ERR_EXISTS,
		"linux.cgroupsPath: %s is that of container \"%.*s\", which has not been deleted",
		full, (int)strspn(name, id), name);
}

/* Content of a cgroup that shall be a container's. */
struct claim_below {
	const char *claim; /* its own */
	struct cgroup_pid_list pids;
	char other[CLAIM_SIZE];
};

static int visit_below(int dfd, void *arg)
{
	struct claim_below *b = arg;
	char text[CLAIM_SIZE];
	int kind;

	for (kind = 0; kind < CLAIM_KINDS && !*b->other; kind++)
		if (claim_read(dfd, NULL, kind, text) == 0 && *text && !str_eq(text, b->claim))
			memcpy(b->other, text, sizeof(text));
	return cgroup_pids_read(dfd, &b->pids);
}

/* A cgroup that was there may be empty, nothing else: what is in it would be ours to kill. The
 * holder of a scope is ours already. */
static int claim_check_below(int dfd, const char *full, const char *claim, pid_t holder,
			     struct error *e)
{
	struct claim_below b = {.claim = claim};
	int rc = cgroup_walk(dfd, visit_below, NULL, &b);
	size_t i, n = 0;

	for (i = 0; i < b.pids.n; i++)
		n += b.pids.v[i] != holder;
	cgroup_pid_list_free(&b.pids);
	if (rc < 0)
		return err_sys(e, "read the processes of %s", full);
	if (*b.other) {
		claim_refuse("a cgroup in it", b.other, e);
		return err_wrap(e, "%s", full);
	}
	if (n)
		return err_set(e, ERR_EXISTS, "%s is not empty: %zu process%s in it", full, n,
			       n == 1 ? "" : "es");
	return 0;
}

/* For one that carries this claim ("": none) and is nobody's: a new one gets a number that is on
 * nobody's record. 1: it is gone, try again. */
static int claim_clear(int dfd, const char *full, const char *claim, struct error *e)
{
	if (claim_check_below(dfd, full, claim, 0, e) < 0)
		return -1;
	(void)!cgroup_empty(full);
	if (rmdir(full) < 0 && errno != ENOENT)
		return err_sys(e, "linux.cgroupsPath: %s was there before, and can't be made anew",
			       full);
	return 1;
}

/* For a scope's, which systemd has not made anew, and which has the holder in it. */
static int claim_replace(int dfd, const char *full, int kind, const char *old, pid_t holder,
			 struct cgroup_dir *d, struct error *e)
{
	struct stat st;

	if (claim_check_below(dfd, full, old, holder, e) < 0)
		return -1;
	if (fsetxattr(dfd, claim_names[kind], d->claim, strlen(d->claim), XATTR_REPLACE) < 0 ||
	    fstat(dfd, &st) < 0)
		return err_sys(e, "mark %s as this container's", full);
	d->inode = st.st_ino;
	return 0;
}

int cgroup_claim(int dfd, const char *full, bool existed, pid_t holder, struct cgroup_dir *d,
		 struct error *e)
{
	size_t len = strlen(d->claim);
	int kind = CLAIM_ROOT, rc = fsetxattr(dfd, claim_names[kind], d->claim, len, XATTR_CREATE);
	char text[CLAIM_SIZE];
	struct stat st;

	if (rc < 0 && errno == EPERM)
		rc = fsetxattr(dfd, claim_names[++kind], d->claim, len, XATTR_CREATE);
	if (rc < 0 && errno == EEXIST && claim_read(dfd, full, kind, text) == 0) {
		if (existed && claim_is_stale(text, d->claim))
			return d->by_systemd ? claim_replace(dfd, full, kind, text, holder, d, e) :
					       claim_clear(dfd, full, text, e);
		return claim_refuse(full, text, e);
	}
	if (rc < 0 || fstat(dfd, &st) < 0)
		return err_sys(e, "mark %s as this container's", full);
	/* Where a container can take its claim away, what bears none may still be on somebody's
	 * record. A scope's is new with the scope. */
	if (existed && kind == CLAIM_USER && !d->by_systemd)
		return claim_clear(dfd, full, d->claim, e);
	d->inode = st.st_ino;
	/* cgroupfs counts subdirectories in the links. */
	return existed || st.st_nlink > 2 ? claim_check_below(dfd, full, d->claim, holder, e) : 0;
}

void cgroup_disclaim(int dfd)
{
	int kind;

	for (kind = 0; kind < CLAIM_KINDS; kind++)
		(void)!fremovexattr(dfd, claim_names[kind]);
}

/* A container owns what it makes in its own cgroup, with our help for instance. */
static bool claim_is_around_us(const char *full)
{
	autoclose int dfd = open(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct cgroup_pid_list pids = {0};
	bool found = false;
	size_t i;

	if (dfd >= 0 && cgroup_pids_below(dfd, &pids) == 0)
		for (i = 0; i < pids.n; i++)
			found = found || pids.v[i] == getpid();
	cgroup_pid_list_free(&pids);
	return found;
}

int cgroup_claim_check_above(const struct cgroup_dir *d, struct error *e)
{
	char full[CGROUP_PATH_SIZE], text[CLAIM_SIZE];
	char *top, *slash;
	int kind;

	if (!cgroup_full_path(d->mount, d->path, full))
		return 0;
	/* Not the mount point itself: in a container, that is the container's own. */
	for (top = full + strlen(d->mount); (slash = strrchr(full, '/')) && slash > top;) {
		*slash = '\0';
		for (kind = 0; kind < CLAIM_KINDS; kind++) {
			if (claim_read(-1, full, kind, text) < 0 || !*text ||
			    claim_is_around_us(full))
				continue;
			claim_refuse(full, text, e);
			return err_wrap(e, "%s", d->path);
		}
	}
	return 0;
}

/* Has it processes of its own, or, as the unit of a service that divides it, in cgroups below? */
static bool cgroup_is_used(const char *full)
{
	char procs[CGROUP_PATH_SIZE + sizeof("/cgroup.procs")], text[32];
	struct cgroup_pid_list pids = {0};
	autoclose int dfd = -1;
	bool used;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", full);
	if (fd_read_at(AT_FDCWD, procs, text, sizeof(text)) > 0)
		return true;
	if (!str_ends(full, ".service") && !str_ends(full, ".scope"))
		return false;
	dfd = open(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	used = dfd >= 0 && cgroup_pids_below(dfd, &pids) == 0 && pids.n;
	cgroup_pid_list_free(&pids);
	return used;
}

/* Engines' parents, like /docker, kubepods and slices, hold cgroups and no processes. One that is
 * around us is the engine's own, as for `podman --cgroups=split` and in k3s. A scope is systemd's
 * to place, in slices alone. The one that boxes are in is ours, and holds nothing but them. */
int cgroup_check_apart(const struct cgroup_dir *d, const char *policy, struct error *e)
{
	char full[CGROUP_PATH_SIZE];
	char *top, *slash;

	if (d->by_systemd || !cgroup_full_path(d->mount, d->path, full))
		return 0;
	for (top = full + strlen(d->mount); (slash = strrchr(full, '/')) && slash > top;) {
		*slash = '\0';
		if (!cgroup_is_used(full))
			continue;
		if (claim_is_around_us(full) || str_ends(full, "/" CGROUP_BOXES))
			return 0;
		return err_set(e, ERR_CONFIG,
			       "policy %s refuses linux.cgroupsPath, %s: it lies in %s, which has "
			       "processes of others [cgroup-path]; to allow it, an administrator "
			       "gives \"cgroup-path\": \"as-asked\" to a policy in "
			       "/etc/sbxrun/policy.json, or runs this with --policy oci",
			       policy, d->path, full);
	}
	return 0;
}
