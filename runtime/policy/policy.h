/*
 * A policy: what the administrator lets containers have, whatever the engine asks for. It can only
 * make a container stricter than its config, or refuse it.
 *
 * A policy is a set of rows. A row is either a level, where each word is stricter than the one
 * before it, or a list of what is given, where fewer is stricter. So any two policies can be
 * compared row by row, and of any two there is one that is as strict as both.
 *
 * The rows, their words and what they are for: policy/rows.def. What each row does to a config:
 * policy/tighten.c. Pure: who opens files and looks at the host is life/policy.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/json.h"

enum policy_level {
#define LEVEL(name, id, since, what, ...) LEVEL_##name,
#define LIST_ROW(name, id, since, what, knows)
#include "policy/rows.def"
#undef LEVEL
#undef LIST_ROW
	LEVEL_COUNT,
};

/* The words of levels. 0 is "not said", and only texts of policies have it. */
enum { AS_ASKED = 1 };
enum { NNP_UNLESS_USER_NS = 2, NNP_ALWAYS };
enum { SECCOMP_ENGINE = 2, SECCOMP_CODE };
enum { ABI_ENOSYS = 2, ABI_KILL };
enum { USER_NS_AUTO = 2, USER_NS_ALWAYS };
enum { CGROUP_NS_ALWAYS = 2 };
enum { CGROUP_MOUNTS_READ_ONLY = 2, CGROUP_MOUNTS_NONE };
enum { PROC_MASKED = 2, PROC_PIDS };
enum { SYS_MASKED = 2, SYS_NONE };
enum { MOUNTS_NOSUID_NODEV = 2, MOUNTS_NOEXEC };
enum { ROOT_READ_ONLY = 2 };
enum { PROPAGATION_SLAVE = 2 };
enum { PATHS_GUARDED = 2 };
enum { HOOKS_TRUSTED = 2, HOOKS_NONE };
enum { RLIMITS_NO_CORE = 2, RLIMITS_SMALL };
enum { LIMITS_REQUIRED = 2 };
enum { OOM_ABOVE_ENGINE = 2, OOM_UNPROTECTED };
enum { KEYRING_OWN = 2 };
enum { DESCRIPTORS_NONE = 2 };
enum { WRITE_EXECUTE_DENIED = 2 };
enum { LANDLOCK_AUTO = 2, LANDLOCK_ALWAYS };
enum { NET_DEVICES_REFUSED = 2 };
enum { CGROUP_PATH_APART = 2 };

enum policy_list {
#define LEVEL(name, id, since, what, ...)
#define LIST_ROW(name, id, since, what, knows) LIST_##name,
#include "policy/rows.def"
#undef LEVEL
#undef LIST_ROW
	LIST_COUNT,
};

/* In a list: everything. */
#define POLICY_ALL "*"

/* Where an administrator's policies are. */
#define POLICY_FILE "/etc/sbxrun/policy.json"

struct policy_words { size_t n; const char *const *v; };

struct policy {
	const char *name;
	int level[LEVEL_COUNT];
	struct policy_words list[LIST_COUNT]; /* what is given */
};

/* The presets. */
enum policy_preset { PRESET_OCI, PRESET_ENGINE, PRESET_CODE, PRESET_COUNT };
extern const char *const policy_preset_names[PRESET_COUNT];

/* NULL: there is no such preset. */
const struct policy *policy_preset_find(const char *name);

/* One policy as a file says it. */
struct policy_change {
	struct strings allow, deny;
};
struct policy_text {
	char *name; /* the key */
	char *base;
	char *description;
	int level[LEVEL_COUNT]; /* 0: as the base has it */
	struct policy_change list[LIST_COUNT];
};

/*
 * A file of policies. Its version says which rows its writer knew. It counts releases that have new
 * rows, and is that of the newest row: a union is as large as the largest of its members.
 */
enum {
	POLICY_VERSION = sizeof(union {
#define LEVEL(name, id, since, what, ...) char level_##name[since];
#define LIST_ROW(name, id, since, what, knows) char list_##name[since];
#include "policy/rows.def"
#undef LEVEL
#undef LIST_ROW
	})
};
struct policy_file {
	uint32_t version;
	char *fallback; /* "default": what holds where nobody chose */
	struct strings choices; /* what a flag, a name or an annotation may choose; empty: all */
	char *audit; /* an absolute path: where each run of `do` is recorded; NULL: nowhere */
	LIST(struct policy_text) policies;
};

/* Reads one, and judges every row of it. Errors name the line. */
int policy_file_read(const char *text, size_t len, struct arena *a, struct policy_file *ret,
		     struct error *e);

/* The policy of that name, of the file (NULL: there is none) or a preset. */
int policy_find(const struct policy_file *f, const char *name, struct arena *a, struct policy *ret,
		struct error *e);

/* As one JSON object that policy_text_table reads again: for records and `policy show --json`. */
extern const struct json_table policy_text_table;
void policy_to_text(const struct policy *p, struct arena *a, struct policy_text *ret);
int policy_from_text(const struct policy_text *t, struct arena *a, struct policy *ret,
		     struct error *e);

/* The rows of the text hold in *p, too; it gets the text's name. */
void policy_apply(const struct policy_text *t, struct arena *a, struct policy *p);

/* As strict as both, row by row. */
struct policy policy_meet(const struct policy *x, const struct policy *y, struct arena *a);

/* Is x, in every row, at least as strict as y? If not, *ret_row names one where it isn't. */
bool policy_is_within(const struct policy *x, const struct policy *y, const char **ret_row);

bool policy_gives(const struct policy *p, enum policy_list list, const char *word);

/* A row's change, in words. */
struct policy_clamp {
	char *row;
	char *text;
	char *path; /* of a refusal: the source of the mount; NULL: there is none */
};
struct policy_clamps { size_t n; size_t cap; struct policy_clamp *v; };
/* As a JSON array of objects. */
void policy_clamps_write(const struct policy_clamps *l, struct buf *b);
void policy_clamps_add(struct policy_clamps *l, const char *row, const char *text, struct arena *a);

/* Rows as data: for pages, checks and `sbxrun policy`. Levels come first, then lists. */
struct policy_row {
	const char *id; /* in messages, and the key in files */
	const struct json_word *words; /* NULL: a list */
	uint32_t since;		       /* version of the file that knows it */
	const char *what;	       /* a sentence */
	bool (*knows)(const char *word); /* lists: is that one of its words? */
};
enum { POLICY_ROWS = LEVEL_COUNT + LIST_COUNT };
extern const struct policy_row policy_rows[POLICY_ROWS];
const char *policy_level_word(enum policy_level row, int level);
