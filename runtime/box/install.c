#include "box/install.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/str.h"
#include "json/rows.h"
#include "sys/loop.h"

enum { NAME_MAX_PYPI = 100, NAME_MAX_NPM = 214, VERSION_MAX = 64, HASH_MAX = 200 };

/* ---- names ---- */

static bool is_small(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_plain(char c)
{
	return is_small(c) || (c >= 'A' && c <= 'Z');
}

/* A package manager takes it for a file by its name alone. */
static bool is_archive(const char *name)
{
	static const char *const ends[] = {".zip", ".whl", ".tar", ".tgz", ".gz", ".bz2", ".xz",
					   ".tbz", ".txz", ".tlz", ".lz", ".lzma", ".egg", ".git"};
	const size_t len = strlen(name);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (len >= strlen(ends[i]) &&
		    strcasecmp(name + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* It begins and ends with a letter or a digit, so it is no option and no path. */
static bool is_pypi_name(const char *name)
{
	const size_t len = strlen(name);
	size_t i;

	for (i = 0; i < len; i++)
		if (!is_plain(name[i]) && !strchr("._-", name[i]))
			return false;
	return len && len <= NAME_MAX_PYPI && is_plain(name[0]) && is_plain(name[len - 1]);
}

/* One part of it: in small letters, and no "." before or behind them. */
static bool is_npm_part(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!is_small(name[i]) && !(i && strchr("._-", name[i])))
			return false;
	return len > 0 && name[len - 1] != '.';
}

static bool is_npm_name(const char *name)
{
	const char *slash = *name == '@' ? strchr(name, '/') : NULL;
	const char *last = slash ? slash + 1 : name;

	if (strlen(name) > NAME_MAX_NPM || (*name == '@' && !slash))
		return false;
	return (!slash || is_npm_part(name + 1, (size_t)(slash - name) - 1)) &&
	       is_npm_part(last, strlen(last)) && !str_eq(last, "node_modules");
}

static bool is_version(const char *version)
{
	const char *p = version;

	while (is_plain(*p) || (p > version && *p && strchr(".+!_-", *p)))
		p++;
	return !*p && p > version && p - version <= VERSION_MAX;
}

/* The version stands behind "==", or npm's "@", which a scope has as well. */
static void package_split(struct install *x, bool npm, struct arena *a)
{
	const char *sign = strstr(x->package, "=="), *at;
	size_t len = 2;

	at = npm && !sign && *x->package ? strchr(x->package + 1, '@') : NULL;
	if (at) {
		sign = at;
		len = 1;
	}
	x->name = sign ? arena_strndup(a, x->package, (size_t)(sign - x->package)) : x->package;
	x->version = sign ? sign + len : NULL;
}

int install_read(const char *registry, const char *package, struct arena *a, struct install *ret,
		 struct error *e)
{
	struct install x = {.registry = registry, .package = package};
	const bool npm = str_eq(registry, "npm");

	if (!npm && !str_eq(registry, "pypi"))
		return err_set(e, ERR_USAGE, "there is no registry %s (there are pypi and npm)",
			       json_show(registry).text);
	package_split(&x, npm, a);
	if (!(npm ? is_npm_name(x.name) : is_pypi_name(x.name)) || is_archive(x.name))
		return err_set(e, ERR_USAGE,
			       "%s is no name of a package (NAME, or NAME==VERSION): options, addresses, "
			       "paths, archives and version control can't be installed",
			       json_show(package).text);
	if (x.version && !is_version(x.version))
		return err_set(e, ERR_USAGE, "%s: the version is none (NAME==1.2.3)",
			       json_show(package).text);
	*ret = x;
	return 0;
}

/* ---- the command ---- */

static void words_add(struct strings *l, const char *const *words, struct arena *a)
{
	size_t n = 0, cap = l->n;

	while (words[n])
		n++;
	l->v = arena_grow(a, l->v, &cap, l->n + n + 1, sizeof(char *));
	for (; *words; words++)
		l->v[l->n++] = arena_strdup(a, *words);
}
#define WORDS(l, a, ...) words_add(l, (const char *const[]){__VA_ARGS__, NULL}, a)

/* Files of the workspace are the box's, also a program that is called like pip: it is looked for in
 * the root filesystem alone, and from a directory that nobody can write. */
static void request_pip(struct install *x, struct box_request *q, struct arena *a)
{
	const char *spec = x->version ? arena_printf(a, "%s==%s", x->name, x->version) : x->name;

	WORDS(&q->args, a, "python3", "-I", "-m", "pip", "install", "--user", "--no-cache-dir",
	      "--disable-pip-version-check", "--no-input", "--no-warn-script-location",
	      "--progress-bar", "off", "--index-url", x->index, "--report",
	      arena_printf(a, BOX_WORKSPACE "/%s", x->report));
	/* The operator, or the root filesystem, says so: nobody else names a registry. */
	if (str_after(x->index, "http://"))
		WORDS(&q->args, a, "--trusted-host",
		      arena_strndup(a, x->index + strlen("http://"),
				    strcspn(x->index + strlen("http://"), "/")));
	WORDS(&q->args, a, "--", spec);
	WORDS(&q->env, a, "PIP_CONFIG_FILE=/dev/null", "PIP_BREAK_SYSTEM_PACKAGES=1",
	      "PIP_ROOT_USER_ACTION=ignore");
}

static void request_npm(struct install *x, struct box_request *q, struct arena *a)
{
	const char *spec = x->version ? arena_printf(a, "%s@%s", x->name, x->version) : x->name;

	WORDS(&q->args, a, "npm", "install", "--prefix", BOX_WORKSPACE, "--registry", x->index,
	      "--no-audit", "--no-fund", "--no-update-notifier", "--no-save", "--no-package-lock",
	      "--loglevel", "warn", "--", spec);
	WORDS(&q->env, a, "npm_config_userconfig=/dev/null", "npm_config_cache=/tmp/.npm",
	      "npm_config_proxy=http://127.0.0.1:3128",
	      "npm_config_https_proxy=http://127.0.0.1:3128");
}

void install_request(struct install *x, const struct registry *r, struct box_request *q,
		     struct arena *a)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint32_t)loop_now();
	x->index = r->index;
	q->language = NULL;
	q->args = q->env = (struct strings){0};
	q->cwd = "/";
	if (str_eq(x->registry, "npm")) {
		x->report = "node_modules/.package-lock.json";
		request_npm(x, q, a);
	} else {
		x->report = arena_printf(a, ".install-%08x.json", number);
		request_pip(x, q, a);
	}
}

/* ---- what was installed ---- */

struct pip_hashes {
	char *sha256;
};
struct pip_archive {
	struct pip_hashes hashes;
	char *hash; /* "sha256=…" */
};
struct pip_download {
	struct pip_archive archive;
};
struct pip_metadata {
	char *name, *version;
};
struct pip_item {
	struct pip_download download;
	struct pip_metadata metadata;
};
struct pip_report {
	LIST(struct pip_item) items;
};

static const struct json_row pip_hashes_rows[] = {F(pip_hashes, "sha256", STR, sha256)};
TABLE(pip_hashes);
static const struct json_row pip_archive_rows[] = {
	O(pip_archive, "hashes", hashes, pip_hashes),
	F(pip_archive, "hash", STR, hash),
};
TABLE(pip_archive);
static const struct json_row pip_download_rows[] = {
	O(pip_download, "archive_info", archive, pip_archive),
};
TABLE(pip_download);
static const struct json_row pip_metadata_rows[] = {
	F(pip_metadata, "name", STR, name),
	F(pip_metadata, "version", STR, version),
};
TABLE(pip_metadata);
static const struct json_row pip_item_rows[] = {
	O(pip_item, "download_info", download, pip_download),
	O(pip_item, "metadata", metadata, pip_metadata),
};
TABLE(pip_item);
static const struct json_row pip_report_rows[] = {
	N(pip_report, "install", LIST, items, pip_item, INSTALLED_MAX),
};
TABLE(pip_report);

struct npm_item {
	char *path; /* node_modules/NAME */
	char *version, *integrity;
};
struct npm_lock {
	LIST(struct npm_item) items;
};

static const struct json_row npm_item_rows[] = {
	F(npm_item, "version", STR, version),
	F(npm_item, "integrity", STR, integrity),
};
KEYED_TABLE(npm_item, path);
static const struct json_row npm_lock_rows[] = {
	N(npm_lock, "packages", MAP, items, npm_item, INSTALLED_MAX),
};
TABLE(npm_lock);

/* pip writes "sha256=…" where it does not write an object. */
static const char *pip_hash(const struct pip_archive *p, struct arena *a)
{
	const char *hex = p->hashes.sha256 ? p->hashes.sha256 :
			  p->hash	   ? str_after(p->hash, "sha256=") :
					     NULL;

	return hex ? arena_printf(a, "sha256:%s", hex) : p->hash;
}

/* A digest and how it was made, in hexadecimal or base64. */
static const char *hash_check(const char *hash)
{
	const char *p = hash;

	while (p && (is_plain(*p) || (*p && strchr("=+/:-", *p))))
		p++;
	return p && !*p && p > hash && p - hash <= HASH_MAX ? hash : NULL;
}

static void installed_add(const struct install *x, const char *name, const char *version,
			  const char *hash, struct installed *v, size_t *n)
{
	if (!name || !version || !is_version(version) ||
	    !(str_eq(x->registry, "npm") ? is_npm_name(name) : is_pypi_name(name)))
		return;
	v[(*n)++] = (struct installed){name, version, hash_check(hash)};
}

size_t install_read_report(const struct install *x, const char *text, size_t len, struct arena *a,
			   struct installed **ret)
{
	const bool npm = str_eq(x->registry, "npm");
	struct json_limits limits = json_default_limits;
	struct installed *v = arena_array(a, INSTALLED_MAX, struct installed);
	struct pip_report pip = {0};
	struct npm_lock lock = {0};
	struct error ignored;
	size_t i, n = 0;

	if (json_read("report", text, len, npm ? &npm_lock_table : &pip_report_table, &limits,
		      npm ? (void *)&lock : (void *)&pip, a, &ignored) < 0)
		return 0;
	for (i = 0; i < pip.items.n; i++) {
		const struct pip_item *p = &pip.items.v[i];

		installed_add(x, p->metadata.name, p->metadata.version,
			      pip_hash(&p->download.archive, a), v, &n);
	}
	for (i = 0; i < lock.items.n; i++) {
		const struct npm_item *p = &lock.items.v[i];
		const char *at = p->path, *next;

		/* One that is another's own lies below that. */
		while (at && (next = strstr(at, "node_modules/")))
			at = next + strlen("node_modules/");
		installed_add(x, at, p->version, p->integrity, v, &n);
	}
	*ret = v;
	return n;
}

void install_write(const struct install *x, const struct installed *v, size_t n, struct buf *b)
{
	size_t i;

	buf_str(b, "{\"package\":");
	json_write_string(b, x->package);
	buf_printf(b, ",\"registry\":\"%s\",\"index\":", x->registry);
	json_write_string(b, x->index ? x->index : "");
	buf_str(b, ",\"installed\":[");
	for (i = 0; i < n; i++) {
		buf_str(b, i ? ",{\"name\":" : "{\"name\":");
		json_write_string(b, v[i].name);
		buf_str(b, ",\"version\":");
		json_write_string(b, v[i].version);
		buf_str(b, ",\"hash\":");
		if (v[i].hash)
			json_write_string(b, v[i].hash);
		else
			buf_str(b, "null");
		buf_char(b, '}');
	}
	buf_str(b, "]}");
}
