/* Which engines are there, what is to be changed for each, and the changes themselves. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "setup/diff.h"
#include "setup/engine.h"
#include "setup/program.h"
#include "setup/running.h"
#include "setup/setup.h"

static const struct setup_engine *const engines[] = {&setup_docker, &setup_containerd,
						     &setup_podman, &setup_crio};

/* ---- what engines are made of ---- */

static void strings_add(struct arena *a, struct strings *list, const char *line)
{
	char **v = arena_array(a, list->n + 2, char *);

	if (list->n)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = arena_strdup(a, line);
	list->v = v;
}

void setup_say(struct setup_work *w, const char *fmt, ...)
{
	struct buf b = buf_new(w->arena, SIZE_MAX);
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* Links in another's tree have names of his own. */
	diff_show(&b, line, strlen(line));
	strings_add(w->arena, &w->report->said, b.data);
}

struct setup_change *setup_change(struct setup_work *w, const struct tree_file *f, const char *text,
				  size_t len, const char *what)
{
	struct setup_change *c = &w->changes[w->n < SETUP_CHANGES ? w->n++ : SETUP_CHANGES - 1];

	*c = (struct setup_change){.file = *f, .text = text, .len = len, .what = what};
	return c;
}

static bool is_marked(const struct tree_file *f)
{
	return str_after(f->text, SETUP_MARK "\n");
}

static int refuse_unmarked(const struct tree_file *f, const char *remedy, struct error *e)
{
	return err_set(e, ERR_EXISTS, "%s: sbxrun install has not made it; %s", f->name, remedy);
}

int setup_put_own(struct setup_work *w, const char *path, const char *text, struct error *e)
{
	struct tree_file f;
	size_t len = strlen(text);

	if (tree_read(w->tree, path, &f, e) < 0)
		return -1;
	if (f.there && f.len == len && memcmp(f.text, text, len) == 0) {
		setup_say(w, "%s: it says so already", f.name);
		return 0;
	}
	if (f.there && !is_marked(&f) && !w->options->force)
		return refuse_unmarked(&f, "move it away, or --force replaces it", e);
	setup_change(w, &f, text, len, f.there ? "replaced" : "made");
	return 0;
}

int setup_remove_own(struct setup_work *w, const char *path, struct error *e)
{
	struct tree_file f;

	if (tree_read(w->tree, path, &f, e) < 0)
		return -1;
	if (!f.there)
		return 0;
	if (!is_marked(&f) && !w->options->force)
		return refuse_unmarked(&f, "remove it by hand, or with --force", e);
	setup_change(w, &f, NULL, 0, "removed");
	return 0;
}

/* ---- which are there ---- */

/* An empty word of PATH is the current directory: it is passed over. */
static const char *find_in(const struct tree *t, const char *dirs, const char *name)
{
	const char *path;
	size_t len;

	for (; *dirs; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		path = arena_printf(t->arena, "%.*s/%s", (int)len, dirs, name);
		if (*dirs == '/' && tree_has(t, path))
			return path;
	}
	return NULL;
}

const char *setup_find_binary(const struct tree *t, const char *name)
{
	const char *usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	const char *found = find_in(t, usual, name), *path = getenv("PATH");

	if (!found && !*t->prefix && path && geteuid() != 0)
		found = find_in(t, path, name);
	return found;
}

static const char *engine_directory(const struct setup_work *w, const struct setup_engine *engine)
{
	return w->config_home ? arena_printf(w->arena, "%s/containers", w->config_home) :
				engine->directory;
}

static bool engine_is_there(const struct setup_work *w, const struct setup_engine *engine)
{
	return setup_find_binary(w->tree, engine->binary) ||
	       tree_has(w->tree, engine_directory(w, engine));
}

static bool engine_is_named(const struct setup_options *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (str_eq(o->names[i], name))
			return true;
	return false;
}

static int check_names(const struct setup_options *o, struct error *e)
{
	size_t i, k;

	for (i = 0; i < o->n; i++) {
		for (k = 0; k < ARRAY_SIZE(engines); k++)
			if (str_eq(o->names[i], engines[k]->name))
				break;
		if (k == ARRAY_SIZE(engines))
			return err_set(
				e, ERR_USAGE,
				"unknown engine \"%s\" (there are docker, containerd, podman and "
				"crio)",
				o->names[i]);
	}
	return 0;
}

/* An ordinary user's directory of config files; NULL for root. */
static int find_config_home(struct arena *a, const char **ret, struct error *e)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	*ret = NULL;
	if (geteuid() == 0)
		return 0;
	if (config && *config == '/')
		*ret = config;
	else if (home && *home == '/')
		*ret = arena_printf(a, "%s/.config", home);
	return *ret ? 0 :
		      err_set(e, ERR_USAGE, "neither XDG_CONFIG_HOME nor HOME is an absolute path");
}

/* ---- the changes ---- */

static void change_diff(const struct setup_change *c, struct buf *b)
{
	const struct tree_file *f = &c->file;
	const struct diff_side before = {f->there ? f->name : NULL, f->text, f->len};
	const struct diff_side after = {c->text ? f->name : NULL, c->text ? c->text : "",
					c->text ? c->len : 0};

	diff_write(b, &before, &after);
}

static int change_apply(struct setup_work *w, const struct setup_change *c, struct error *e)
{
	const char *backup = NULL;

	if (c->backup && c->file.there && tree_backup(w->tree, &c->file, &backup, e) < 0)
		return -1;
	if (c->text ? tree_write(w->tree, &c->file, c->text, c->len, e) < 0 :
		      tree_remove(w->tree, &c->file, e) < 0)
		return -1;
	if (c->stale && tree_remove(w->tree, c->stale, e) < 0)
		return -1;
	if (backup)
		setup_say(w, "%s: %s; as it was: %s", c->file.name, c->what, backup);
	else
		setup_say(w, "%s: %s%s", c->file.name, c->what,
			  c->text || str_eq(c->what, "removed") ? "" : ", file removed");
	return 0;
}

static int engine_work(struct setup_work *w, const struct setup_engine *engine, struct error *e)
{
	struct buf b = buf_new(w->arena, SIZE_MAX);
	size_t i;

	if (w->config_home && !engine->for_users)
		return err_set(e, ERR_USAGE, "only root can change its config: call this as root");
	if (!w->options->remove && !w->program) {
		*e = *w->no_program;
		return -1;
	}
	if ((w->options->remove ? engine->remove(w, e) : engine->add(w, e)) < 0)
		return -1;
	for (i = 0; i < w->n; i++) {
		if (w->options->dry_run)
			change_diff(&w->changes[i], &b);
		else if (change_apply(w, &w->changes[i], e) < 0)
			return -1;
	}
	w->report->diff = b.data;
	w->report->outcome = w->n ? SETUP_DONE : SETUP_NOTHING;
	w->report->reload =
		w->options->remove && engine->forget ? engine->forget : engine->reload;
	w->report->try_it = w->options->remove ? NULL : engine->try_it;
	return 0;
}

static void engine_absent(struct setup_work *w, const struct setup_engine *engine)
{
	w->report->outcome = SETUP_ABSENT;
	setup_say(w, "not found (looked for %s in %sthe usual places, and for %s%s)",
		  engine->binary, *w->tree->prefix || geteuid() == 0 ? "" : "PATH and ",
		  w->tree->prefix, engine_directory(w, engine));
}

static void engine_run(struct setup_work *w, const struct setup_engine *engine)
{
	const struct setup_options *o = w->options;

	w->named = engine_is_named(o, engine->name) && !o->only_looks;
	*w->report = (struct setup_report){.engine = engine->name};
	if (!w->named && w->config_home && !engine->for_users) {
		w->report->outcome = SETUP_ABSENT;
		setup_say(w, "left out: it is root's");
	} else if (!w->named && !o->remove && !engine_is_there(w, engine)) {
		engine_absent(w, engine);
	} else if (engine_work(w, engine, &w->report->error) < 0) {
		w->report->outcome = SETUP_FAILED;
		err_wrap(&w->report->error, "%s", engine->name);
	}
}

/* ---- all of it ---- */

static int check_found(const struct setup_result *r, struct error *e)
{
	char looked[600] = "";
	size_t i, len = 0;

	for (i = 0; i < r->n; i++) {
		if (r->v[i].outcome != SETUP_ABSENT)
			return 0;
		len += (size_t)snprintf(looked + len, sizeof(looked) - len, "%s%s: %s",
					i ? "; " : "", r->v[i].engine, r->v[i].said.v[0]);
		if (len >= sizeof(looked))
			break;
	}
	return err_set(e, ERR_HOST,
		       "no engine was found (%s): name one, to have its config made all the same",
		       looked);
}

int setup_run(const struct setup_options *o, struct arena *a, struct setup_result *ret,
	      struct error *e)
{
	auto_tree struct tree tree = TREE_NONE;
	struct setup_result result = {0};
	const char *program = NULL, *config_home;
	size_t i;

	if (check_names(o, e) < 0 || tree_open(o->sysroot, a, &tree, e) < 0 ||
	    find_config_home(a, &config_home, e) < 0)
		return -1;
	if (!o->remove && program_choose(&tree, o->program, o->sysroot, &program, e) < 0 &&
	    !o->only_looks)
		return -1;
	result.v = arena_array(a, ARRAY_SIZE(engines), struct setup_report);
	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		struct setup_work w = {.options = o,
				       .tree = &tree,
				       .arena = a,
				       .program = program,
				       .no_program = e,
				       .config_home = config_home,
				       .report = &result.v[result.n]};

		if (o->n && !engine_is_named(o, engines[i]->name))
			continue;
		engine_run(&w, engines[i]);
		result.n++;
	}
	if (!o->dry_run)
		tree_sweep(&tree);
	if (!o->only_looks && check_found(&result, e) < 0)
		return -1;
	if (o->remove)
		running_look(&tree, &result.warnings);
	*ret = result;
	return 0;
}
