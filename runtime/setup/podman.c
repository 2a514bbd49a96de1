/*
 * podman: a file of our own. Two lists in it name the runtimes that can do something; a list
 * replaces those before it, so what they have is repeated. A list may also end in {append=true},
 * but not for podman 4.
 */
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "setup/engine.h"
#include "setup/toml_scan.h"

/* Defaults of podman's own code (4.3 to 5.8; ocijail since 5.3). */
static const char *const json_defaults[] = {"crun",  "runc", "kata",   "runsc",
					    "youki", "krun", "ocijail"};
static const char *const nocgroup_defaults[] = {"crun", "krun"};

static const struct supports {
	const char *key;
	const char *const *defaults;
	size_t n;
} supports[] = {
	{"runtime_supports_json", json_defaults, ARRAY_SIZE(json_defaults)},
	/* podman's manual calls it "nocgroups", its code does not. */
	{"runtime_supports_nocgroup", nocgroup_defaults, ARRAY_SIZE(nocgroup_defaults)},
};

static const char *podman_directory(const struct setup_work *w)
{
	return w->config_home ? arena_printf(w->arena, "%s/containers", w->config_home) :
				"/etc/containers";
}

static const char *podman_own_file(const struct setup_work *w)
{
	return arena_printf(w->arena, "%s/containers.conf.d/sbxrun.conf", podman_directory(w));
}

static void names_add(struct arena *a, struct strings *names, size_t *cap, const char *name)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (str_eq(names->v[i], name))
			return;
	names->v = arena_grow(a, names->v, cap, names->n + 1, sizeof(char *));
	names->v[names->n++] = arena_strdup(a, name);
}

/* Files that podman reads, ours left out. */
static void podman_list_files(const struct setup_work *w, struct strings *ret)
{
	const char *dirs[] = {"/usr/share/containers", "/etc/containers", podman_directory(w)};
	size_t n = w->config_home ? 3 : 2, i, k, cap = 0;
	struct strings found;

	*ret = (struct strings){0};
	for (i = 0; i < n; i++) {
		names_add(w->arena, ret, &cap,
			  arena_printf(w->arena, "%s/containers.conf", dirs[i]));
		tree_list(w->tree, arena_printf(w->arena, "%s/containers.conf.d", dirs[i]), ".conf",
			  &found);
		for (k = 0; k < found.n; k++)
			if (!str_eq(found.v[k], podman_own_file(w)))
				names_add(w->arena, ret, &cap, found.v[k]);
	}
}

/* Adds what the files have in this list. Those that can't be read or understood are podman's own
 * affair to complain of. */
static void podman_collect(const struct setup_work *w, const struct strings *files, const char *key,
			   struct strings *names, size_t *cap)
{
	const char *path[] = {"engine", key};
	struct tree_file f;
	struct toml_scan scan;
	struct error ignored;
	size_t i, k, m;

	for (i = 0; i < files->n; i++) {
		if (tree_read(w->tree, files->v[i], &f, &ignored) < 0 ||
		    toml_scan(f.name, f.text, f.len, w->arena, &scan, &ignored) < 0)
			continue;
		for (k = 0; k < scan.n; k++)
			for (m = 0; toml_is(&scan.v[k].path, path, 2) && m < scan.v[k].items.n; m++)
				names_add(w->arena, names, cap, scan.v[k].items.v[m]);
	}
}

static void podman_write_list(const struct setup_work *w, const struct strings *files,
			      const struct supports *s, struct buf *b)
{
	struct strings names = {0};
	size_t cap = 0, i;

	for (i = 0; i < s->n; i++)
		names_add(w->arena, &names, &cap, s->defaults[i]);
	podman_collect(w, files, s->key, &names, &cap);
	names_add(w->arena, &names, &cap, "sbxrun");
	buf_str(b, s->key);
	for (i = 0; i < names.n; i++) {
		buf_str(b, i ? ", " : " = [");
		json_write_string(b, names.v[i]);
	}
	buf_str(b, "]\n");
}

static int podman_add(struct setup_work *w, struct error *e)
{
	struct buf b = buf_new(w->arena, TREE_FILE_MAX);
	struct strings files;
	size_t i;

	podman_list_files(w, &files);
	buf_str(&b, SETUP_MARK
		"\n"
		"# Each list replaces the one before it, so other runtimes are repeated.\n"
		"[engine]\n");
	for (i = 0; i < ARRAY_SIZE(supports); i++)
		podman_write_list(w, &files, &supports[i], &b);
	buf_str(&b, "\n[engine.runtimes]\nsbxrun = [");
	json_write_string(&b, w->program);
	buf_str(&b, "]\n");
	return setup_put_own(w, podman_own_file(w), b.data, e);
}

static int podman_remove(struct setup_work *w, struct error *e)
{
	return setup_remove_own(w, podman_own_file(w), e);
}

const struct setup_engine setup_podman = {
	.name = "podman",
	.binary = "podman",
	.directory = "/etc/containers",
	.for_users = true,
	.add = podman_add,
	.remove = podman_remove,
	.try_it = "podman --runtime sbxrun run --rm hello-world",
};
