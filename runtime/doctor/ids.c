/* Ids for user namespaces: the helpers that map them, and the ranges in /etc. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/str.h"
#include "doctor/check.h"
#include "doctor/words.h"
#include "state/pool.h"

enum { RANGE = 65536, FIRST_SUBID = 100000 };

#define BOTH "/etc/subuid /etc/subgid"

/* ---- the helpers ---- */

static bool has_right(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) < 0 || statvfs(path, &fs) < 0 || (fs.f_flag & ST_NOSUID))
		return false;
	return (st.st_uid == 0 && (st.st_mode & S_ISUID)) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Fixed places, as ns/userns.c has them. */
static const char *find_helper(const char *const places[3])
{
	size_t i;

	for (i = 0; i < 3; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

static int look_helpers(struct look *l)
{
	static const char *const helpers[][3] = {
		{"/usr/bin/newuidmap", "/usr/local/bin/newuidmap", "/run/wrappers/bin/newuidmap"},
		{"/usr/bin/newgidmap", "/usr/local/bin/newgidmap", "/run/wrappers/bin/newgidmap"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(helpers); i++) {
		const char *path = find_helper(helpers[i]);

		if (!path) {
			look_remedy_package(l, "uidmap", "shadow-utils");
			return look_missing(l,
					    "there is no %s: containers of ordinary users have "
					    "one id alone",
					    helpers[i][0]);
		}
		if (!has_right(path)) {
			look_remedy(l, "chown root:root %s && chmod u+s %s", path, path);
			return look_missing(
				l,
				"%s has neither the setuid bit nor a file capability, or "
				"lies on a mount with nosuid",
				path);
		}
	}
	return look_fine(l, "newuidmap and newgidmap may map");
}

/* ---- the ranges ---- */

static struct subids read_ids(struct look *l, const char *path)
{
	char *text = look_file(l, path, NULL);

	return text ? words_read_subids(text, l->arena) : (struct subids){0};
}

static const char *own_name(struct look *l, const char *uid)
{
	char *text = look_file(l, "/etc/passwd", NULL);
	const char *name = text ? words_name_of(text, uid) : NULL;

	return name && *name ? name : NULL;
}

static int look_ranges(struct look *l)
{
	const char *path = l->check->what, *what = str_ends(path, "uid") ? "uids" : "gids";
	struct subids s = read_ids(l, path);
	char uid[16];
	const char *name;
	uint64_t n, first;

	snprintf(uid, sizeof(uid), "%u", geteuid());
	name = own_name(l, uid);
	n = words_count_subids(&s, name, uid);
	if (n >= RANGE)
		return look_fine(l, "%llu ids for %s", (unsigned long long)n, name ? name : uid);
	first = words_free_subids(&s, FIRST_SUBID, RANGE);
	if (first && name)
		look_remedy(l, "usermod --add-sub%s %llu-%llu %s", what, (unsigned long long)first,
			    (unsigned long long)first + RANGE - 1, name);
	else if (first)
		look_remedy(l, "echo %s:%llu:%d >>%s", uid, (unsigned long long)first, RANGE, path);
	if (n)
		return look_less(l, "%s has %llu ids for %s; images use up to %d", path,
				 (unsigned long long)n, name ? name : uid, RANGE);
	return look_missing(l, "%s has no ids for %s: containers have one id alone", path,
			    name ? name : uid);
}

/* Ids for containers to which root's runtime gives some of their own. */
static int look_pool(struct look *l)
{
	const char *subuid = look_file(l, "/etc/subuid", NULL);
	const char *subgid = look_file(l, "/etc/subgid", NULL);
	struct pool pool;
	struct error e;

	subuid = subuid ? subuid : "";
	subgid = subgid ? subgid : "";
	if (pool_read(subuid, subgid, &pool, &e) == 0)
		return look_fine(l, "for %u containers%s", pool_count(&pool),
				 pool.unasked ? ": the usual ids, for no entry " POOL_NAME
						" of /etc/subuid and /etc/subgid says others" :
						"");
	/* Without an entry of ours there are the usual ids. */
	if (strstr(subuid, POOL_NAME ":") || strstr(subgid, POOL_NAME ":"))
		look_remedy(l, "touch " BOTH " && sed -i /^" POOL_NAME ":/d " BOTH);
	return look_missing(l, "%s", e.text);
}

static const struct doctor_check checks[] = {
	{"ids.helpers", "newuidmap, newgidmap", WHO_ROOT | WHO_USER, 0, look_helpers},
	{"ids.subuid", "/etc/subuid", WHO_USER, 0, look_ranges, "/etc/subuid"},
	{"ids.subgid", "/etc/subgid", WHO_USER, 0, look_ranges, "/etc/subgid"},
	{"ids.auto", "ids for automatic user namespaces", WHO_ROOT, 0, look_pool},
};

const struct doctor_group doctor_ids = {checks, ARRAY_SIZE(checks)};
