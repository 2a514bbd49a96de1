#include "life/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "json/json.h"
#include "sys/sys.h"

#define POLICY_ANNOTATION "org.sbxrun.policy"

enum { FILE_MAX = 1 << 20, OVERFLOW_ID = 65534 };

/* Root's, or the caller's own; nobody else may write it. Where root has no id, the overflow id
 * stands for it. */
static int file_check(const char *path, int fd, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_HOST, "%s: not a regular file", path);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, ERR_HOST,
			       "%s: others than its owner may write it: chmod go-w %s", path, path);
	if (st.st_uid != 0 && st.st_uid != geteuid() &&
	    !(st.st_uid == OVERFLOW_ID && !sys_is_machine_root()))
		return err_set(e, ERR_HOST, "%s: it belongs to uid %u: chown root %s", path,
			       st.st_uid, path);
	return 0;
}

static char *file_read_text(const char *path, int fd, struct arena *a, size_t *ret_len,
			    struct error *e)
{
	char *text;

	if (file_check(path, fd, e) < 0)
		return NULL;
	text = fd_read_all(fd, FILE_MAX, a, ret_len);
	if (!text)
		err_sys(e, "read %s", path);
	return text;
}

static int file_read(const char *path, int fd, struct arena *a, struct policy_file *ret,
		     struct error *e)
{
	size_t len;
	char *text = file_read_text(path, fd, a, &len, e);

	if (!text)
		return -1;
	return policy_file_read(text, len, a, ret, e) < 0 ? err_wrap(e, "%s", path) : 0;
}

int life_read_policy_file(const char *path, struct arena *a, struct policy_file *ret,
			  struct error *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return err_sys(e, "open the policy %s", path);
	return file_read(path, fd, a, ret, e);
}

/* Somebody has put something there, or at its directory, that leads nowhere. */
static bool file_dangles(const char *path, struct arena *a)
{
	char *dir = arena_strdup(a, path);
	struct stat st;

	*strrchr(dir, '/') = '\0';
	return lstat(path, &st) == 0 ||
	       (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode) && access(dir, F_OK) < 0);
}

/* 1; 0: there is none. What can't be read may hold more than what would then be given. */
static int file_open_admins(const char *path, struct arena *a, int *ret_fd, struct error *e)
{
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*ret_fd >= 0)
		return 1;
	if (errno == ENOENT && !file_dangles(path, a))
		return 0;
	return err_sys(e, "open %s: nothing is run as long as it can't be read", path);
}

int life_read_admin_file(const char *path, struct arena *a, char **ret_text, size_t *ret_len,
			 struct error *e)
{
	autoclose int fd = -1;
	int found = file_open_admins(path, a, &fd, e);

	*ret_text = NULL;
	if (found <= 0)
		return found;
	*ret_text = file_read_text(path, fd, a, ret_len, e);
	return *ret_text ? 0 : -1;
}

int life_read_policies(struct arena *a, struct policy_file *ret, bool *ret_found, struct error *e)
{
	autoclose int fd = -1;
	int found = file_open_admins(POLICY_FILE, a, &fd, e);

	*ret = (struct policy_file){0};
	*ret_found = found > 0;
	return found > 0 ? file_read(POLICY_FILE, fd, a, ret, e) : found;
}

static bool file_offers(const struct policy_file *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->choices.n; i++)
		if (str_eq(f->choices.v[i], name))
			return true;
	return !f->choices.n;
}

static int choose_file(const struct policy_file *admin, const char *path, struct arena *a,
		       struct policy *ret, struct error *e)
{
	struct policy_file f;

	if (admin->choices.n)
		return err_set(e, ERR_USAGE,
			       "--policy %s: " POLICY_FILE " has \"choices\", and no other file is one",
			       path);
	if (life_read_policy_file(path, a, &f, e) < 0)
		return -1;
	if (!f.fallback && f.policies.n != 1)
		return err_set(e, ERR_CONFIG,
			       "%s: \"default\" is missing: which of its policies is meant?", path);
	return policy_find(&f, f.fallback ? f.fallback : f.policies.v[0].name, a, ret, e);
}

static int choose_asked(const struct policy_file *admin, const char *asked, struct arena *a,
			struct policy *ret, struct error *e)
{
	if (strchr(asked, '/'))
		return choose_file(admin, asked, a, ret, e);
	if (!file_offers(admin, asked))
		return err_set(e, ERR_USAGE,
			       "policy %s: it is not among the \"choices\" of " POLICY_FILE,
			       json_show(asked).text);
	return policy_find(admin, asked, a, ret, e);
}

/* An annotation comes with the config, and the config is not trusted. */
static int choose_by_annotation(const struct policy_file *admin, const struct pairs *annotations,
				struct arena *a, struct policy *p, struct error *e)
{
	struct policy chosen;
	const char *row;
	size_t i;

	for (i = 0; i < annotations->n; i++)
		if (str_eq(annotations->v[i].key, POLICY_ANNOTATION))
			break;
	if (i == annotations->n)
		return 0;
	if (!file_offers(admin, annotations->v[i].value) ||
	    policy_find(admin, annotations->v[i].value, a, &chosen, e) < 0)
		return err_set(e, ERR_CONFIG, "annotations.%s: there is no policy %s to choose",
			       POLICY_ANNOTATION, json_show(annotations->v[i].value).text);
	if (!policy_is_within(&chosen, p, &row))
		return err_set(e, ERR_CONFIG,
			       "annotations.%s: policy %s is not stricter than %s in the row %s, "
			       "and no annotation loosens anything",
			       POLICY_ANNOTATION, chosen.name, p->name, row);
	*p = chosen;
	return 0;
}

int life_choose_policy(const char *asked, const struct pairs *annotations, struct arena *a,
		       struct policy *ret, struct error *e)
{
	struct policy_file admin;
	bool found;
	int result;

	if (life_read_policies(a, &admin, &found, e) < 0)
		return -1;
	if (asked)
		result = choose_asked(&admin, asked, a, ret, e);
	else
		result = policy_find(&admin, admin.fallback ? admin.fallback : "engine", a, ret, e);
	return result < 0 ? -1 : choose_by_annotation(&admin, annotations, a, ret, e);
}

int life_audit_files(const char *asked, struct arena *a, struct strings *ret, struct error *e)
{
	struct policy_file files[2] = {0};
	bool found;
	size_t i;

	*ret = (struct strings){.v = arena_array(a, ARRAY_SIZE(files) + 1, char *)};
	if (life_read_policies(a, &files[0], &found, e) < 0 ||
	    (asked && strchr(asked, '/') && life_read_policy_file(asked, a, &files[1], e) < 0))
		return -1;
	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i].audit && !(ret->n && str_eq(ret->v[0], files[i].audit)))
			ret->v[ret->n++] = files[i].audit;
	return 0;
}

int life_policy_of(const struct record *r, struct arena *a, struct policy *ret, struct error *e)
{
	struct policy_file admin;
	struct policy own, today;
	struct error ignored;
	bool found;

	if (!r->policy) {
		*ret = *policy_preset_find("oci");
		return 0;
	}
	if (r->policy_text.base ? policy_from_text(&r->policy_text, a, &own, e) < 0 :
				  policy_find(NULL, r->policy, a, &own, e) < 0)
		return err_wrap(e, "the record's policy");
	own.name = r->policy;
	if (life_read_policies(a, &admin, &found, e) < 0)
		return -1;
	if (policy_find(&admin, r->policy, a, &today, &ignored) < 0)
		*ret = own; /* it was one of a file of its own, or is not offered any more */
	else
		*ret = policy_meet(&own, &today, a);
	return 0;
}

static bool policy_is_preset(const struct policy *p)
{
	const struct policy *preset = policy_preset_find(p->name);

	return preset && memcmp(preset->level, p->level, sizeof(p->level)) == 0 &&
	       memcmp(preset->list, p->list, sizeof(p->list)) == 0;
}

void life_record_policy(const struct policy *p, const struct policy_clamps *clamps, struct arena *a,
			struct record *r)
{
	r->policy = arena_strdup(a, p->name);
	if (!policy_is_preset(p))
		policy_to_text(p, a, &r->policy_text);
	if (p->level[LEVEL_HOOKS] != AS_ASKED)
		r->trusted_hooks = r->policy;
	r->clamps.n = clamps->n;
	r->clamps.v = clamps->v;
}

int life_check_options(const struct policy *p, const struct create_options *o, struct error *e)
{
	if (p->level[LEVEL_DESCRIPTORS] == DESCRIPTORS_NONE && (o->preserve_fds || o->listen_fds))
		return err_set(e, ERR_USAGE,
			       "policy %s refuses --preserve-fds and socket activation "
			       "[descriptors]; to allow it, an administrator gives "
			       "\"descriptors\": \"as-asked\" to a policy in " POLICY_FILE
			       ", or runs this with --policy oci",
			       p->name);
	return 0;
}
