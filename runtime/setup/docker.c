/* docker: an entry in daemon.json, which others write to as well. */
#include "setup/daemon_json.h"
#include "setup/engine.h"

static const char daemon_json[] = "/etc/docker/daemon.json";

static int docker_add(struct setup_work *w, struct error *e)
{
	struct tree_file f;
	struct splice s;

	if (tree_read(w->tree, daemon_json, &f, e) < 0 ||
	    daemon_json_add(f.name, f.text, f.len, w->program, w->options->force, w->arena, &s, e) <
		    0)
		return -1;
	if (s.changes)
		setup_change(w, &f, s.text, s.len, "runtime \"sbxrun\" registered")->backup = true;
	else
		setup_say(w, "%s: runtime \"sbxrun\" is registered already", f.name);
	return 0;
}

/* A file with the old values gets the old text, and its backup goes; a file that install has made,
 * and nobody else has added to, goes as well. */
static void docker_tidy(struct setup_work *w, struct setup_change *c, const struct tree_file *old)
{
	const char *text = old ? old->text : "";
	size_t len = old ? old->len : 0;

	if (!daemon_json_equal(c->text, c->len, text, len, w->arena))
		return;
	c->text = old ? text : NULL;
	c->len = len;
	if (old)
		*(c->stale = arena_new(w->arena, struct tree_file)) = *old;
}

static int docker_remove(struct setup_work *w, struct error *e)
{
	struct tree_file f, old;
	struct splice s;
	bool has_old;

	if (tree_read(w->tree, daemon_json, &f, e) < 0)
		return -1;
	has_old = tree_newest_backup(w->tree, &f, &old);
	if (daemon_json_remove(f.name, f.text, f.len, w->options->force,
			       has_old && daemon_json_has_runtimes(old.text, old.len, w->arena),
			       w->arena, &s, e) < 0)
		return -1;
	if (!s.changes)
		return 0;
	docker_tidy(w, setup_change(w, &f, s.text, s.len, "runtime \"sbxrun\" taken out"),
		    has_old ? &old : NULL);
	return 0;
}

const struct setup_engine setup_docker = {
	.name = "docker",
	.binary = "dockerd",
	.directory = "/etc/docker",
	.add = docker_add,
	.remove = docker_remove,
	.reload = "systemctl reload docker (without systemd: kill -HUP its dockerd)",
	/* A reload adds runtimes, and keeps those that are gone. */
	.forget = "systemctl restart docker, which ends its containers unless live-restore is on",
	.try_it = "docker run --rm --runtime sbxrun hello-world",
};
