/* Ids for user namespaces: the helpers that map them, and the ranges in /etc. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/str.h"
#include "doctor/check.h"
#include "doctor/words.h"

enum { RANGE = 65536, FIRST_SUBID = 100000 };

/* Above what systemd gives to containers of its own, and room for 1024 of ours. */
#define AUTO_OWNER "sbxrun"
enum { AUTO_FIRST = 0x70000000, AUTO_COUNT = 1024 * RANGE };

static const char *const id_files[] = {"/etc/subuid", "/etc/subgid"};

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

/* Ranges for containers that root's runtime gives ids of their own: the same in both files. */
static int look_auto(struct look *l)
{
	const char *lacking = "", *text = "";
	const struct subid *other = NULL;
	struct subids all;
	uint64_t first;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(id_files); i++) {
		const char *read = look_file(l, id_files[i], NULL);
		struct subids s = read_ids(l, id_files[i]);

		text = arena_printf(l->arena, "%s\n%s", text, read ? read : "");
		other = other ? other : words_shared_subid(&s, AUTO_OWNER);
		if (words_count_subids(&s, AUTO_OWNER, AUTO_OWNER) < RANGE)
			lacking = arena_printf(l->arena, "%s %s", lacking, id_files[i]);
	}
	if (other)
		return look_less(l, "%s has ids of the entry " AUTO_OWNER ", too", other->owner);
	if (!*lacking)
		return look_fine(l, "/etc/subuid and /etc/subgid have ranges for " AUTO_OWNER);
	all = words_read_subids(arena_strdup(l->arena, text), l->arena);
	first = words_free_subids(&all, AUTO_FIRST, AUTO_COUNT);
	if (first)
		look_remedy(l, "echo " AUTO_OWNER ":%llu:%d | tee -a%s", (unsigned long long)first,
			    AUTO_COUNT, lacking);
	return look_missing(l,
			    "no entry " AUTO_OWNER " with %d ids in%s: containers get no ids of "
			    "their own by themselves",
			    RANGE, lacking);
}

static const struct doctor_check checks[] = {
	{"ids.helpers", "newuidmap, newgidmap", WHO_ROOT | WHO_USER, 0, look_helpers},
	{"ids.subuid", "/etc/subuid", WHO_USER, 0, look_ranges, "/etc/subuid"},
	{"ids.subgid", "/etc/subgid", WHO_USER, 0, look_ranges, "/etc/subgid"},
	{"ids.auto", "ids for automatic user namespaces", WHO_ROOT, 0, look_auto},
};

const struct doctor_group doctor_ids = {checks, ARRAY_SIZE(checks)};
