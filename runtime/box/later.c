#include "box/later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/hints.h"
#include "box/sandbox.h"
#include "oci/notes.h"
#include "sys/sys.h"

#define HOOKS ".git/hooks"
enum { FILES_MAX = 512, HOOKS_MAX = 128, TOLD_MAX = 8 };
enum { INSIDE = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

/* A directory is one of them where all that is in it counts, or a link could stand in its place. */
static const char *const names[] = {
	".bashrc",
	".bash_profile",
	".bash_login",
	".bash_logout",
	".bash_aliases",
	".profile",
	".zshrc",
	".zshenv",
	".zprofile",
	".zlogin",
	".envrc",
	".gitconfig",
	".git/config",
	".mcp.json",
	".claude.json",
	".claude/settings.json",
	".claude/settings.local.json",
	".codex/config.toml",
	".cursor/mcp.json",
	".cursor/hooks.json",
	".gemini/settings.json",
	".vscode/settings.json",
	".vscode/tasks.json",
	".vscode/launch.json",
	".vscode/mcp.json",
	".npmrc",
	".pre-commit-config.yaml",
	".husky/pre-commit",
	".ssh/authorized_keys",
	".ssh/config",
	".config/fish/config.fish",
};

/* Where files are, if a link in their place would lead elsewhere. */
static const char *const places[] = {".git",    ".git/hooks", ".claude", ".codex", ".cursor",
				     ".gemini", ".vscode",    ".husky",  ".ssh",   ".config"};

struct look {
	struct later *to;
	struct arena *a;
	const char *target; /* of the volume */
	size_t cap;
};

static void look_add(struct look *l, const char *path, const struct stat *st)
{
	struct later *to = l->to;

	if (to->n == FILES_MAX)
		return;
	to->v = arena_grow(l->a, to->v, &l->cap, to->n + 1, sizeof(*to->v));
	to->v[to->n++] = (struct later_file){
		.path = *path ? arena_printf(l->a, "%s/%s", l->target, path) : l->target,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.changed = st->st_ctim,
	};
}

static void look_name(struct look *l, int dfd, const char *name, bool links_only)
{
	autoclose int fd = sys_openat2(dfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, INSIDE);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode) &&
	    (!links_only || S_ISLNK(st.st_mode)))
		look_add(l, name, &st);
}

/* Hooks have any names; those that git brings as samples are not run. */
static void look_hooks(struct look *l, int dfd)
{
	int fd = sys_openat2(dfd, HOOKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
			     INSIDE);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	size_t n = 0;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while (n < HOOKS_MAX && (d = readdir(dir)))
		if (*d->d_name != '.' && !str_ends(d->d_name, ".sample")) {
			look_name(l, dfd, arena_printf(l->a, HOOKS "/%s", d->d_name), false);
			n++;
		}
	closedir(dir);
}

static void look_volume(struct look *l, const char *source)
{
	autoclose int dfd = open(source, O_PATH | O_CLOEXEC);
	struct stat st;
	size_t i;

	if (dfd < 0 || fstat(dfd, &st) < 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		if (later_is(source))
			look_add(l, "", &st);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		look_name(l, dfd, names[i], false);
	for (i = 0; i < ARRAY_SIZE(places); i++)
		look_name(l, dfd, places[i], true);
	look_hooks(l, dfd);
}

void later_look(const struct box_request *q, struct arena *a, struct later *ret)
{
	struct look l = {.to = ret, .a = a};
	size_t i;

	*ret = (struct later){0};
	for (i = 0; i < q->n_volumes; i++)
		if (q->volumes[i].writable) {
			l.target = q->volumes[i].target;
			look_volume(&l, q->volumes[i].source);
		}
	for (i = 0; q->sandbox && i < q->sandbox->facts.volumes.n; i++) {
		const struct sandbox_volume *v = &q->sandbox->facts.volumes.v[i];

		l.target = v->target;
		if (v->writable)
			look_volume(&l, v->source);
	}
}

static bool is_in(const struct later *l, const struct later_file *f)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (str_eq(l->v[i].path, f->path))
			return l->v[i].dev == f->dev && l->v[i].ino == f->ino &&
			       l->v[i].changed.tv_sec == f->changed.tv_sec &&
			       l->v[i].changed.tv_nsec == f->changed.tv_nsec;
	return false;
}

void later_tell(const struct box_request *q, const struct later *before, struct arena *a,
		struct notes *notes)
{
	struct buf b = buf_new(a, TOLD_MAX * PATH_MAX);
	struct later now;
	size_t i, n = 0;

	later_look(q, a, &now);
	for (i = 0; i < now.n; i++)
		if (!is_in(before, &now.v[i]) && n++ < TOLD_MAX)
			buf_printf(&b, "%s%s", n > 1 ? ", " : "", hint_clean(now.v[i].path, a));
	if (n)
		notes_add(notes,
			  arena_printf(a,
				       "the program has made or changed what others run later: %s%s; "
				       "look at it before you go there",
				       b.data, n > TOLD_MAX ? ", …" : ""),
			  a);
}

bool later_is(const char *path)
{
	const char *p;
	size_t i;

	for (p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (str_eq(p, names[i]))
				return true;
		if (str_after(p, HOOKS "/") && !str_ends(p, ".sample"))
			return true;
		if (!*p)
			break;
	}
	return false;
}

char *later_note_copied(const char *first, size_t n, struct arena *a)
{
	return arena_printf(a,
			    "--copy-out: %s%s is what others run later, if it lies where they look; "
			    "look at it before you go there",
			    hint_clean(first, a), n > 1 ? " (and more)" : "");
}
