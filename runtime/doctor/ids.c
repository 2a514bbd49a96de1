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

/* Room for 1024 containers, where POOL_ENTRY has ids of others. */
enum { SMALL_POOL = 1024 * RANGE };

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

/* The entries of others in both files. */
static struct subids read_others(struct look *l, const char *subuid, const char *subgid)
{
	struct subids s =
		words_read_subids(arena_printf(l->arena, "%s\n%s", subuid, subgid), l->arena);
	size_t i, n = 0;

	for (i = 0; i < s.n; i++)
		if (!str_eq(s.v[i].owner, POOL_NAME))
			s.v[n++] = s.v[i];
	s.n = n;
	return s;
}

/* An entry that is nobody's, where pool_read() wants it; NULL: there is no room. */
static const char *free_entry(struct look *l, const char *subuid, const char *subgid)
{
	struct subids others = read_others(l, subuid, subgid);
	struct subids ours = words_read_subids(arena_strdup(l->arena, POOL_ENTRY), l->arena);
	uint64_t first = ours.v[0].first, count = ours.v[0].count, found;

	if (words_free_subids(&others, first, count) == first)
		return POOL_ENTRY;
	found = words_free_subids(&others, first, SMALL_POOL);
	if (!found || found + SMALL_POOL > first + count)
		return NULL;
	return arena_printf(l->arena, POOL_NAME ":%llu:%d", (unsigned long long)found, SMALL_POOL);
}

/* Ids for containers to which root's runtime gives some of their own. */
static int look_pool(struct look *l)
{
	const char *subuid = look_file(l, "/etc/subuid", NULL);
	const char *subgid = look_file(l, "/etc/subgid", NULL);
	const char *entry;
	struct pool pool;
	struct error e;

	subuid = subuid ? subuid : "";
	subgid = subgid ? subgid : "";
	if (pool_read(subuid, subgid, &pool, &e) == 0)
		return look_fine(l, "for %u containers", pool_count(&pool));
	entry = free_entry(l, subuid, subgid);
	if (!strstr(subuid, POOL_NAME ":") && !strstr(subgid, POOL_NAME ":")) {
		if (entry)
			look_remedy(l, "echo %s | tee -a " BOTH, entry);
		return look_missing(l, "/etc/subuid and /etc/subgid have no entry " POOL_NAME);
	}
	if (entry)
		look_remedy(l,
			    "touch " BOTH " && sed -i /^" POOL_NAME ":/d " BOTH
			    " && echo %s | tee -a " BOTH,
			    entry);
	return look_missing(l, "%s", e.text);
}

static const struct doctor_check checks[] = {
	{"ids.helpers", "newuidmap, newgidmap", WHO_ROOT | WHO_USER, 0, look_helpers},
	{"ids.subuid", "/etc/subuid", WHO_USER, 0, look_ranges, "/etc/subuid"},
	{"ids.subgid", "/etc/subgid", WHO_USER, 0, look_ranges, "/etc/subgid"},
	{"ids.auto", "ids for automatic user namespaces", WHO_ROOT, 0, look_pool},
};

const struct doctor_group doctor_ids = {checks, ARRAY_SIZE(checks)};
