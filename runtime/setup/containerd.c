/* containerd: a handler for its CRI plugin (containerd_toml.h says where it goes, and why). */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "setup/containerd_toml.h"
#include "setup/engine.h"
#include "setup/program.h"
#include "setup/toml_scan.h"
#include "sys/child.h"
#include "sys/patience.h"

static const char config_toml[] = "/etc/containerd/config.toml";
static const char drop_in[] = CONTAINERD_CONF_D "/sbxrun.toml";

/* ---- which containerd it is ---- */

/* "containerd github.com/containerd/containerd/v2 2.1.9 …": the first word that is a version. */
static char read_major(const char *said)
{
	const char *p;

	for (p = said; (p = strchr(p, ' ')); p++) {
		p += strspn(p, " ");
		p += *p == 'v';
		if (*p >= '1' && *p <= '9' && p[1] == '.')
			return *p;
		if (!*p)
			break;
	}
	return '\0';
}

/* The program's output; NULL if it fails. */
static const char *ask_version(const struct setup_work *w, const char *binary)
{
	char *argv[] = {arena_strdup(w->arena, "containerd"), arena_strdup(w->arena, "--version"),
			NULL};
	autoclose int out_fd = memfd_create("containerd", MFD_CLOEXEC);
	posix_spawn_file_actions_t actions;
	struct error ignored;
	pid_t pid = -1;
	int status = -1, rc;
	size_t len;

	if (out_fd < 0 || posix_spawn_file_actions_init(&actions) != 0)
		return NULL;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawn(&pid, binary, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		return NULL;
	if (child_collect_within(pid, PATIENCE_PEER_MS, &status, &ignored) < 0)
		child_end(pid);
	if (status != 0 || lseek(out_fd, 0, SEEK_SET) < 0)
		return NULL;
	return fd_read_all(out_fd, 4096, w->arena, &len);
}

/* '1', '2', …; NUL if it can't be told. Never a program of another tree, and none that others than
 * root could have put there. */
static int ask_major(const struct setup_work *w, char *ret, struct error *e)
{
	const char *binary = w->options->sysroot ? NULL : setup_find_binary(w->tree, "containerd");
	const char *open_to_others = NULL, *said = NULL;

	if (binary && program_check_way(w->tree, binary, &open_to_others, e) < 0)
		return -1;
	if (open_to_others)
		return err_set(e, ERR_HOST,
			       "%s: others than root can change it, so %s is not asked for its "
			       "version: make %s with `containerd config default`, and call this "
			       "again",
			       open_to_others, binary, config_toml);
	if (binary)
		said = ask_version(w, binary);
	*ret = said ? read_major(said) : '\0';
	return 0;
}

/* ---- install ---- */

static int put_drop_in(struct setup_work *w, bool systemd, struct error *e)
{
	return setup_put_own(w, drop_in,
			     containerd_toml_drop_in(w->program, systemd, SETUP_MARK, w->arena), e);
}

/* There is no config, or it says nothing. */
static int add_to_none(struct setup_work *w, const struct tree_file *f, struct containerd_toml *c,
		       struct error *e)
{
	struct strings there;
	const char *text;
	size_t len;
	char major = '\0';

	tree_list(w->tree, CONTAINERD_CONF_D, ".toml", &there);
	if (!f->there && there.n) /* containerd 2.2 reads them without being told */
		return put_drop_in(w, false, e);
	if (ask_major(w, &major, e) < 0)
		return -1;
	if (!major)
		return err_set(e, ERR_HOST,
			       "%s is missing, and whether containerd is 1.x or 2.x can't be told: "
			       "make one with `containerd config default >%s`, and call this again",
			       f->name, f->name);
	if (major >= '2' && put_drop_in(w, false, e) < 0)
		return -1;
	text = major >= '2' ? containerd_toml_add_imports(c, w->arena, &len) :
			      containerd_toml_add(c, w->program, w->arena, &len);
	setup_change(w, f, text, len, major >= '2' ? "imports of conf.d" : "handler \"sbxrun\"")
		->backup = f->there;
	return 0;
}

static bool names_cri(const struct setup_work *w, const struct tree_file *f)
{
	static const char *const plugin[] = {"plugins", "io.containerd.grpc.v1.cri"};
	struct toml_scan scan;
	struct error ignored;
	size_t i;

	if (toml_scan(f->name, f->text, f->len, w->arena, &scan, &ignored) < 0)
		return strstr(f->text, plugin[1]);
	for (i = 0; i < scan.n; i++)
		if (toml_begins(&scan.v[i].path, plugin, ARRAY_SIZE(plugin)))
			return true;
	return false;
}

/* A file that is imported replaces the CRI plugin's whole config, ours with it (containerd 1.x). */
static int check_import(struct setup_work *w, const struct tree_file *f, const char *import,
			struct error *e)
{
	const char *path = path_join(w->arena, "/etc/containerd", import), *slash;
	struct strings files;
	struct tree_file other;
	size_t i;

	slash = strrchr(path, '/');
	if (strcspn(path, "*?[\\") < (size_t)(slash - path))
		return err_set(
			e, ERR_CONFIG,
			"%s: imports %s, and what that is can't be told: add the handler by hand "
			"(sbxrun-install(8))",
			f->name, path);
	tree_list(w->tree, arena_strndup(w->arena, path, (size_t)(slash - path)), "", &files);
	for (i = 0; i < files.n; i++) {
		if (fnmatch(slash + 1, strrchr(files.v[i], '/') + 1, 0) != 0)
			continue;
		if (tree_read(w->tree, files.v[i], &other, e) < 0)
			return -1;
		if (names_cri(w, &other))
			return err_set(
				e, ERR_CONFIG,
				"%s is imported, has the CRI plugin's config and replaces what "
				"stands in %s: add the handler there by hand "
				"(sbxrun-install(8))",
				other.name, f->name);
	}
	return 0;
}

static int check_imports(struct setup_work *w, const struct tree_file *f,
			 const struct containerd_toml *c, struct error *e)
{
	size_t i;

	for (i = 0; i < c->imports.n; i++)
		if (check_import(w, f, c->imports.v[i], e) < 0)
			return -1;
	return 0;
}

static int refuse_version(const struct tree_file *f, struct error *e)
{
	return err_set(
		e, ERR_CONFIG,
		"%s has no version, so it is of the first form, which containerd gives up: "
		"`containerd config migrate` prints it in the present one; put that there, and "
		"call this again",
		f->name);
}

static int add_block(struct setup_work *w, const struct tree_file *f,
		     const struct containerd_toml *c, struct error *e)
{
	struct containerd_toml again;
	const char *text;
	size_t len;

	if (c->version == 2 && check_imports(w, f, c, e) < 0)
		return -1;
	text = containerd_toml_add(c, w->program, w->arena, &len);
	if (len == f->len && memcmp(text, f->text, len) == 0) {
		setup_say(w, "%s: handler \"sbxrun\" is registered already", f->name);
		return 0;
	}
	if (containerd_toml_read(f->name, text, len, w->arena, &again, e) < 0)
		return err_wrap(e, "the edit does not give what it should, and nothing is changed");
	setup_change(w, f, text, len, "handler \"sbxrun\" registered")->backup = true;
	return 0;
}

/* The handler is in a file of its own; lines of an earlier install in config.toml go. */
static int add_drop_in(struct setup_work *w, const struct tree_file *f,
		       const struct containerd_toml *c, struct error *e)
{
	const char *text;
	size_t len;

	if (put_drop_in(w, c->systemd, e) < 0)
		return -1;
	if (c->block_end && !c->block_has_version) {
		text = containerd_toml_remove(c, w->arena, &len);
		setup_change(w, f, text, len, "handler \"sbxrun\" moved to conf.d");
	}
	return 0;
}

static int containerd_add(struct setup_work *w, struct error *e)
{
	struct tree_file f;
	struct containerd_toml c;

	if (tree_read(w->tree, config_toml, &f, e) < 0 ||
	    containerd_toml_read(f.name, f.text, f.len, w->arena, &c, e) < 0)
		return -1;
	if (c.blank)
		return add_to_none(w, &f, &c, e);
	if (c.cri_is_disabled) {
		setup_say(w,
			  "%s: disabled_plugins has the CRI plugin, the only one that knows "
			  "handlers%s",
			  f.name, w->named ? "; enable it" : ": nothing to register");
		if (!w->named)
			return 0;
	}
	if (c.version < 2)
		return refuse_version(&f, e);
	if (c.foreign_line)
		return err_set(
			e, ERR_CONFIG,
			"%s:%zu: there is a handler \"sbxrun\" already, which sbxrun install "
			"has not made: remove it first, or leave it",
			f.name, c.foreign_line);
	if (c.version >= 3 && containerd_toml_imports_conf_d(&c))
		return add_drop_in(w, &f, &c, e);
	return add_block(w, &f, &c, e);
}

/* ---- uninstall ---- */

/* Whether somebody else's files are there as well, for which the import must stay. */
static bool conf_d_is_shared(const struct setup_work *w)
{
	struct strings there;
	size_t i;

	tree_list(w->tree, CONTAINERD_CONF_D, ".toml", &there);
	for (i = 0; i < there.n; i++)
		if (!str_eq(there.v[i], drop_in))
			return true;
	return false;
}

static void remove_block(struct setup_work *w, const struct tree_file *f,
			 const struct containerd_toml *c)
{
	struct setup_change *change;
	struct tree_file old;
	const char *text;
	size_t len;
	bool has_old = tree_newest_backup(w->tree, f, &old);

	text = containerd_toml_remove(c, w->arena, &len);
	change = setup_change(w, f, text, len, "handler \"sbxrun\" taken out");
	/* A line's end may be what was added before our part. */
	if (has_old && old.len <= len && memcmp(old.text, text, old.len) == 0 &&
	    (old.len == len || str_eq(text + old.len, "\n"))) {
		change->text = old.text;
		change->len = old.len;
		*(change->stale = arena_new(w->arena, struct tree_file)) = old;
	}
	if (!len && !has_old)
		change->text = NULL;
}

static int remove_from_config(struct setup_work *w, struct error *e)
{
	struct tree_file f;
	struct containerd_toml c;

	if (tree_read(w->tree, config_toml, &f, e) < 0)
		return -1;
	/* A file that lacks us need not be understood. */
	if (!strstr(f.text, "sbxrun"))
		return 0;
	if (containerd_toml_read(f.name, f.text, f.len, w->arena, &c, e) < 0)
		return -1;
	if (c.foreign_line)
		return err_set(
			e, ERR_CONFIG,
			"%s:%zu: a handler \"sbxrun\" that sbxrun install has not made: remove "
			"it by hand",
			f.name, c.foreign_line);
	if (!c.block_end)
		return 0;
	if (c.block_has_version && c.has_others)
		return err_set(
			e, ERR_CONFIG,
			"%s: sbxrun install has made this file, and others have added to it: "
			"remove the lines from \"# sbxrun: begin\" to \"# sbxrun: end\" by hand, "
			"but for the version",
			f.name);
	if (c.block_has_version && c.version >= 3 && conf_d_is_shared(w))
		setup_say(w, "%s: stays, because %s has other files", f.name, CONTAINERD_CONF_D);
	else
		remove_block(w, &f, &c);
	return 0;
}

static int containerd_remove(struct setup_work *w, struct error *e)
{
	if (remove_from_config(w, e) < 0)
		return -1;
	return setup_remove_own(w, drop_in, e);
}

const struct setup_engine setup_containerd = {
	.name = "containerd",
	.binary = "containerd",
	.directory = "/etc/containerd",
	.add = containerd_add,
	.remove = containerd_remove,
	.reload = "systemctl restart containerd",
	.try_it = "a pod with runtimeClassName: sbxrun (spec/engines has the class and a pod)",
};
