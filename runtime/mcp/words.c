/*
 * Command lines and inputs for tools. Values of a model are single words behind "--", or the input;
 * a box's name is judged before it is one.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "base/str.h"
#include "box/box.h"
#include "box/sandbox.h"
#include "box/session.h"
#include "mcp/tool.h"

enum { CODE_MAX = 4 << 20, TIMEOUT_DEFAULT_S = 30, TIMEOUT_MAX_S = 24 * 3600, NAME_BYTES = 12 };

static void word(struct step *s, struct arena *a, const char *text)
{
	size_t cap = s->argv.n;

	s->argv.v = arena_grow(a, s->argv.v, &cap, s->argv.n + 2, sizeof(char *));
	s->argv.v[s->argv.n++] = arena_strdup(a, text);
	s->argv.v[s->argv.n] = NULL;
}

static void words(struct step *s, struct arena *a, const char *const *v)
{
	for (; *v; v++)
		word(s, a, *v);
}
#define WORDS(s, a, ...) words((s), (a), (const char *const[]){__VA_ARGS__, NULL})

static struct step *step_add(struct job *j)
{
	return &j->steps[j->n++];
}

static int box_given(const struct tool_args *g, struct job *ret, struct error *e)
{
	if (!g->sandbox_id)
		return err_set(e, ERR_USAGE,
			       "sandbox_id: it is missing; box_create and "
			       "code_execute name one");
	if (sandbox_check_id(g->sandbox_id, e) < 0)
		return err_wrap(e, "sandbox_id");
	ret->box = g->sandbox_id;
	return 0;
}

/* Known beforehand, so that what will run is known as a whole; and not to be guessed. */
static int box_make_up(struct job *ret, struct arena *a, struct error *e)
{
	unsigned char bytes[NAME_BYTES];
	char hex[2 * NAME_BYTES + 1];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_sys(e, "make up an id");
	for (i = 0; i < sizeof(bytes); i++) {
		hex[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	hex[2 * i] = '\0';
	ret->box = arena_printf(a, "mcp-%s", hex);
	ret->new_box = true;
	return 0;
}

static int timeout_given(const struct tool_args *g, struct job *ret, struct error *e)
{
	ret->timeout_s = g->timeout.set ? g->timeout.v : TIMEOUT_DEFAULT_S;
	if (!ret->timeout_s || ret->timeout_s > TIMEOUT_MAX_S)
		return err_set(e, ERR_USAGE, "timeout: %u is not from 1 to %d seconds",
			       ret->timeout_s, TIMEOUT_MAX_S);
	return 0;
}

static int language_given(const struct tool_args *g, struct error *e)
{
	if (!g->language)
		return err_set(e, ERR_USAGE, "language: it is missing (python, javascript, shell)");
	if (!box_language_find(g->language))
		return err_set(e, ERR_USAGE, "language: there is no %s (python, javascript, shell)",
			       json_show(g->language).text);
	return 0;
}

static int network_given(const struct tool_args *g, struct error *e)
{
	bool wants = g->network_enabled.set && g->network_enabled.v;

	if (wants && !g->allowed_domains.n)
		return err_set(e, ERR_USAGE,
			       "network_enabled: allowed_domains has to name the hosts "
			       "that the box may reach");
	if (!wants && g->allowed_domains.n)
		return err_set(e, ERR_USAGE, "allowed_domains: network_enabled has to be true");
	return 0;
}

static void step_create(const struct tool_args *g, struct job *j, struct arena *a)
{
	struct step *s = step_add(j);
	size_t i;

	s->creates = true;
	WORDS(s, a, "box", "create", "--json", "--id", j->box);
	if (g->memory_mb.set)
		WORDS(s, a, "--memory", arena_printf(a, "%um", g->memory_mb.v));
	if (g->cpu_percent.set)
		WORDS(s, a, "--cpus",
		      arena_printf(a, "%u.%02u", g->cpu_percent.v / 100, g->cpu_percent.v % 100));
	if (g->disk_mb.set)
		WORDS(s, a, "--disk", arena_printf(a, "%um", g->disk_mb.v));
	if (g->timeout.set)
		WORDS(s, a, "--timeout", arena_printf(a, "%u", g->timeout.v));
	for (i = 0; i < g->allowed_domains.n; i++)
		word(s, a, arena_printf(a, "--allow=%s", g->allowed_domains.v[i]));
	WORDS(s, a, "--", g->language);
}

static void step_call(const struct tool_args *g, struct step *s, const char *verb, bool redact,
		      const char *box, struct arena *a)
{
	WORDS(s, a, "box", verb, "--json");
	if (g->session)
		word(s, a, arena_printf(a, "--session=%s", g->session));
	if (redact)
		word(s, a, "--redact");
	if (g->timeout.set)
		WORDS(s, a, "--timeout", arena_printf(a, "%u", g->timeout.v));
	WORDS(s, a, "--", box);
}

int plan_execute(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		 struct arena *a, struct error *e)
{
	struct step *s;

	(void)t;
	if (!g->code)
		return err_set(e, ERR_USAGE, "code: it is missing");
	if (strlen(g->code) > CODE_MAX)
		return err_set(e, ERR_USAGE, "code: more than 4 MB; write a file first");
	if (language_given(g, e) < 0 || timeout_given(g, ret, e) < 0 || network_given(g, e) < 0)
		return -1;
	if (g->sandbox_id && g->allowed_domains.n)
		return err_set(e, ERR_USAGE,
			       "allowed_domains: what a box reaches is said when it is "
			       "made; leave sandbox_id out for a new one");
	if ((g->sandbox_id ? box_given(g, ret, e) : box_make_up(ret, a, e)) < 0)
		return -1;
	if (g->session && session_check_name(g->session, e) < 0)
		return err_wrap(e, "session");
	if (ret->new_box)
		step_create(g, ret, a);
	s = step_add(ret);
	step_call(g, s, "run", redact, ret->box, a);
	WORDS(s, a, g->language, "-");
	s->input = g->code;
	s->input_len = strlen(g->code);
	return 0;
}

int plan_command(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		 struct arena *a, struct error *e)
{
	struct step *s;
	size_t i;

	(void)t;
	if (!g->command.n || !*g->command.v[0])
		return err_set(e, ERR_USAGE, "command: a program and its arguments, as a list");
	if (box_given(g, ret, e) < 0 || timeout_given(g, ret, e) < 0)
		return -1;
	s = step_add(ret);
	step_call(g, s, "exec", redact, ret->box, a);
	for (i = 0; i < g->command.n; i++)
		word(s, a, g->command.v[i]);
	return 0;
}

int plan_create(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		struct arena *a, struct error *e)
{
	(void)t;
	(void)redact;
	if (language_given(g, e) < 0 || timeout_given(g, ret, e) < 0 || network_given(g, e) < 0 ||
	    box_make_up(ret, a, e) < 0)
		return -1;
	ret->keep = g->keep.set && g->keep.v;
	step_create(g, ret, a);
	return 0;
}

int plan_install(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		 struct arena *a, struct error *e)
{
	const char *registry = g->registry ? g->registry : "pypi";

	(void)t;
	(void)redact;
	if (!g->package)
		return err_set(e, ERR_USAGE, "package: it is missing");
	if (!str_eq(registry, "pypi") && !str_eq(registry, "npm"))
		return err_set(e, ERR_USAGE, "registry: %s is neither pypi nor npm",
			       json_show(registry).text);
	if (box_given(g, ret, e) < 0)
		return -1;
	ret->timeout_s = 600;
	WORDS(step_add(ret), a, "box", "install", "--json", "--", ret->box, registry, g->package);
	return 0;
}

int plan_hosts(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	       struct arena *a, struct error *e)
{
	struct step *s;
	size_t i;

	(void)redact;
	if (!g->hosts.n)
		return err_set(e, ERR_USAGE, "hosts: which ones, as a list of NAME or NAME:PORT");
	if (box_given(g, ret, e) < 0)
		return -1;
	s = step_add(ret);
	WORDS(s, a, "box", str_eq(t->name, "box_deny") ? "deny" : "allow", "--json");
	if (g->remove.set && g->remove.v)
		word(s, a, "--remove");
	WORDS(s, a, "--", ret->box);
	for (i = 0; i < g->hosts.n; i++)
		word(s, a, g->hosts.v[i]);
	return 0;
}

int plan_snapshot(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		  struct arena *a, struct error *e)
{
	const bool makes = str_eq(t->name, "box_snapshot");
	struct step *s;

	(void)redact;
	if (!str_eq(t->name, "box_snapshots") && !g->snapshot)
		return err_set(e, ERR_USAGE, "snapshot: it is missing; box_snapshots names them");
	if (makes && box_given(g, ret, e) < 0)
		return -1;
	s = step_add(ret);
	if (makes)
		WORDS(s, a, "box", "snapshot", "--json", "--", ret->box, g->snapshot);
	else if (g->snapshot)
		WORDS(s, a, "box", "snapshots", "--remove", "--", g->snapshot);
	else
		WORDS(s, a, "box", "snapshots", "--json");
	return 0;
}

int plan_fork(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	      struct arena *a, struct error *e)
{
	struct step *s;
	size_t i;

	(void)t;
	(void)redact;
	if (!g->sandbox_id == !g->snapshot)
		return err_set(e, ERR_USAGE, "either sandbox_id or snapshot: what is copied");
	if ((g->sandbox_id && box_given(g, ret, e) < 0) || network_given(g, e) < 0 ||
	    box_make_up(ret, a, e) < 0)
		return -1;
	ret->keep = g->keep.set && g->keep.v;
	ret->timeout_s = TIMEOUT_DEFAULT_S;
	s = step_add(ret);
	s->creates = true;
	WORDS(s, a, "box", "fork", "--json", "--id", ret->box, "--from",
	      g->snapshot ? "snapshot" : "box");
	for (i = 0; i < g->allowed_domains.n; i++)
		word(s, a, arena_printf(a, "--allow=%s", g->allowed_domains.v[i]));
	WORDS(s, a, "--", g->snapshot ? g->snapshot : g->sandbox_id);
	return 0;
}

/* The verb of `box` for each tool that is about one file. */
static const struct {
	const char *tool, *verb;
} file_verbs[] = {
	{"code_write_file", "write"}, {"code_read_file", "read"}, {"code_list_files", "ls"},
	{"file_stat", "stat"},	      {"file_delete", "rm-file"}, {"view_image", "read"},
};

int plan_file(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	      struct arena *a, struct error *e)
{
	const char *path = g->file_path;
	struct step *s;
	size_t i = 0;

	(void)redact;
	while (!str_eq(file_verbs[i].tool, t->name))
		i++;
	if (str_eq(file_verbs[i].verb, "ls"))
		path = g->path ? g->path : ".";
	if (!path)
		return err_set(e, ERR_USAGE, "file_path: it is missing");
	if (str_eq(file_verbs[i].verb, "write") && !json_span_in(g->given, "content").text)
		return err_set(e, ERR_USAGE, "content: it is missing");
	if (box_given(g, ret, e) < 0)
		return -1;
	s = step_add(ret);
	WORDS(s, a, "box", file_verbs[i].verb, "--json", "--", ret->box, path);
	s->input = g->content ? g->content : "";
	s->input_len = strlen(s->input);
	return 0;
}

/* … and for each that is about a box as a whole. */
static const struct {
	const char *tool, *verb;
	bool json;
} box_verbs[] = {
	{"code_destroy_sandbox", "destroy", false},
	{"box_list", "list", true},
	{"box_logs", "logs", false},
	{"box_rules", "rules", true},
	{"box_diff", "diff", true},
	{"box_end_session", "end-session", false},
	{"box_pause", "pause", false},
	{"box_resume", "resume", false},
};

int plan_box(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	     struct arena *a, struct error *e)
{
	struct step *s;
	size_t i = 0;

	(void)redact;
	while (!str_eq(box_verbs[i].tool, t->name))
		i++;
	if (!str_eq(box_verbs[i].verb, "list") && box_given(g, ret, e) < 0)
		return -1;
	if (str_eq(box_verbs[i].verb, "end-session") && !g->session)
		return err_set(e, ERR_USAGE, "session: it is missing");
	s = step_add(ret);
	WORDS(s, a, "box", box_verbs[i].verb);
	if (box_verbs[i].json)
		word(s, a, "--json");
	word(s, a, "--");
	if (ret->box)
		word(s, a, ret->box);
	if (g->session)
		word(s, a, g->session);
	s->destroys = str_eq(box_verbs[i].verb, "destroy");
	return 0;
}
