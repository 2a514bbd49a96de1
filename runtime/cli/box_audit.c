/*
 * The record of a verb of box: a line each in the files of the audit (box/audit.h), in this
 * order:
 *
 *	1. the files are tried: what can't be recorded is not done
 *	2. the deed
 *	3. its line, for that says what became of it, and a line for each box that was swept
 *	   meanwhile
 *	4. the answer: nobody is given what has no line, and a box without one is removed again
 *
 * SIGKILL between 2 and 3 leaves a deed without a line; but of what was read, nobody has heard.
 * Calls (exec, run, install, allow, deny) know more of themselves and write their own line; where
 * they did not come so far, it is one of these.
 *
 * Trust: words are the caller's, perhaps a model's. They are shortened here, and escaped by who
 * writes the line. What may be a secret is left out: values of --env, and code.
 */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sha256.h"
#include "base/str.h"
#include "box/audit.h"
#include "box/files.h"
#include "box/sandbox.h"
#include "cli/box.h"
#include "cli/do.h"
#include "json/json.h"

enum { WORDS_MAX = 64, WORD_MAX = 256, LIMITS_MAX = 4096, SWEPT_MAX = 256 };

/* ---- what was asked ---- */

static const char *word_cap(const char *word, struct arena *a)
{
	return strlen(word) <= WORD_MAX ? word : arena_printf(a, "%.*s…", WORD_MAX, word);
}

static void word_add(struct box_deed *d, const char *option, const char *word, struct arena *a)
{
	struct strings *all = &d->words;

	if (all->n >= WORDS_MAX)
		return;
	word = word_cap(word ? word : "", a);
	all->v[all->n++] = !option  ? arena_strdup(a, word) :
			   !*word   ? arena_printf(a, "--%s", option) :
				      arena_printf(a, "--%s=%s", option, word);
}

static void words_of_list(struct box_deed *d, const struct cli_option *o,
			  const struct strings *list, struct arena *a)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		word_add(d, o->name,
			 str_eq(o->name, "env") ?
				 arena_strndup(a, list->v[i], strcspn(list->v[i], "=")) :
				 list->v[i],
			 a);
}

static void words_of_option(struct box_deed *d, const struct cli *c, const struct cli_option *o)
{
	const void *field = (const char *)c + o->offset;
	const char *text;

	if (str_eq(o->name, "audit") || str_eq(o->name, "json") || str_eq(o->name, "id"))
		return;
	switch (o->kind) {
	case CLI_FLAG:
		if (*(const bool *)field)
			word_add(d, o->name, NULL, c->arena);
		break;
	case CLI_TEXT:
	case CLI_MAYBE:
		text = *(char *const *)field;
		if (text)
			word_add(d, o->name, text, c->arena);
		break;
	case CLI_NUMBER:
		if (*(const unsigned int *)field)
			word_add(d, o->name,
				 arena_printf(c->arena, "%u", *(const unsigned int *)field),
				 c->arena);
		break;
	case CLI_LIST:
		words_of_list(d, o, field, c->arena);
		break;
	}
}

/* ---- boxes that were swept ---- */

/* There is one deed a process. */
static struct box_deed *sweeping;
static struct arena *sweeping_arena;

static void swept_take(const char *id, const char *why)
{
	struct box_deed *d = sweeping;

	if (d->n_swept >= SWEPT_MAX)
		return; /* there are no more boxes than that, unless the operator wants them */
	d->swept[d->n_swept++] = (struct box_swept){arena_strdup(sweeping_arena, id),
						    arena_strdup(sweeping_arena, why)};
}

/* ---- the begin ---- */

int box_deed_begin(struct cli *c, const char *verb, bool has_box, const struct cli_option *options,
		   size_t n_options, struct error *e)
{
	const struct box_request q = {.policy = c->policy_by_name ? NULL : c->policy};
	struct box_deed *d = arena_new(c->arena, struct box_deed);
	size_t i, first = has_box ? 2 : 1, most = str_eq(verb, "run") ? 3 : c->n_args;

	c->deed = d;
	d->verb = verb;
	d->id = has_box ? c->args[1] : NULL;
	if (do_audit_files(c, &q, &d->files, e) < 0 || do_audit_try(c, &d->files, e) < 0)
		return -1;
	if (!d->files.n)
		return 0;
	d->words.v = arena_array(c->arena, WORDS_MAX + 1, char *);
	d->swept = arena_array(c->arena, SWEPT_MAX, struct box_swept);
	for (i = 0; i < n_options; i++)
		words_of_option(d, c, &options[i]);
	for (i = first; i < c->n_args && i < most; i++)
		word_add(d, NULL, c->args[i], c->arena);
	sweeping = d;
	sweeping_arena = c->arena;
	sandbox_on_swept = swept_take;
	return 0;
}

void box_answer(struct cli *c, const struct buf *b)
{
	c->deed->answer = *b;
	c->deed->has_answer = true;
}

void box_deed_made(struct cli *c, const struct sandbox *s)
{
	struct box_deed *d = c->deed;
	struct buf limits = buf_new(c->arena, LIMITS_MAX);

	d->made = d->id = arena_strdup(c->arena, s->id);
	d->language = s->facts.language;
	d->rootfs = s->facts.rootfs;
	box_write_limits(&s->facts.limits, &limits);
	d->limits = limits.data;
}

void box_deed_content(struct cli *c, const char *data, size_t len)
{
	struct box_deed *d = c->deed;

	if (!d->files.n)
		return;
	sha256_hex(data, len, d->content_sha256);
	d->content_bytes = len;
}

/* ---- the line ---- */

static int line_append(const struct cli *c, const struct audit_entry *line, struct error *e)
{
	const struct strings *files = &c->deed->files;
	const char *found;
	size_t i;

	for (i = 0; i < files->n; i++) {
		found = NULL;
		if (audit_append(&(struct audit_place){.path = files->v[i]}, line, c->arena, &found,
				 e) < 0)
			return err_wrap(e, "%s has no line about it",
					do_whose_audit(c, files->v[i]));
		if (found)
			log_warn("%s: %s: %s", do_whose_audit(c, files->v[i]), files->v[i], found);
	}
	return 0;
}

static int deed_record(struct cli *c, int result, const struct error *failure, struct error *e)
{
	const struct box_deed *d = c->deed;
	const int code = result < 0 ? (c->failure ? c->failure : 1) : 0;
	const struct audit_entry line = {
		.uid = getuid(),
		.verb = arena_printf(c->arena, "box %s", d->verb),
		.id = d->id ? word_cap(d->id, c->arena) : NULL,
		.language = d->language,
		.rootfs = d->rootfs,
		.limits = d->limits,
		.status = box_status_words[!code		? BOX_OK :
					   code == DO_FAILURE ? BOX_SANDBOX_ERROR :
								BOX_ERROR],
		.exit_code = code,
		.args = d->words,
		.content_sha256 = *d->content_sha256 ? d->content_sha256 : NULL,
		.content_bytes = d->content_bytes,
		.error = result < 0 ? word_cap(failure->text, c->arena) : NULL,
	};

	return line_append(c, &line, e);
}

static int swept_record(struct cli *c, struct error *e)
{
	const struct box_deed *d = c->deed;
	size_t i;

	for (i = 0; i < d->n_swept; i++) {
		char *why[] = {d->swept[i].why, NULL};
		const struct audit_entry line = {
			.uid = getuid(),
			.verb = "box reaped",
			.id = d->swept[i].id,
			.status = box_status_words[BOX_OK],
			.args = {.n = 1, .v = why},
		};

		if (line_append(c, &line, e) < 0)
			return -1;
	}
	return 0;
}

/* Nobody has its id yet. */
static void made_remove(struct cli *c, struct error *e)
{
	const char *why = arena_strdup(c->arena, e->text);
	struct error ignored;
	int result = sandbox_destroy(c->root, c->deed->made, c->arena, &ignored);

	err_set(e, ERR_HOST, "%s; the box \"%s\" is %s", why, c->deed->made,
		result == 0 ? "removed again" : "there all the same");
}

int box_deed_end(struct cli *c, int result, struct error *e)
{
	const struct box_deed *d = c->deed;
	const struct error failure = *e;

	sandbox_on_swept = NULL;
	if (!d->files.n)
		return result;
	if (!d->is_recorded && deed_record(c, result, &failure, e) < 0) {
		if (d->made)
			made_remove(c, e);
		c->failure = DO_FAILURE;
		return -1;
	}
	if (swept_record(c, e) < 0) {
		c->failure = DO_FAILURE;
		return -1;
	}
	*e = failure;
	return result;
}

/* ---- a failure, for programs ---- */

static const char *failure_type(const struct box_deed *d, const struct error *e)
{
	if (d && d->path)
		return files_error_type(e);
	switch (e->class) {
	case ERR_NOT_FOUND:
		return "SandboxNotFound";
	case ERR_EXPIRED:
		return "SandboxExpired";
	case ERR_WRONG_STATE:
		return "SandboxBusy";
	case ERR_EXISTS:
		return d && str_eq(d->verb, "snapshot") ? "SnapshotExists" : "SandboxExists";
	case ERR_USAGE:
		return "UsageError";
	default:
		return "SandboxError";
	}
}

void box_failure_write(const struct cli *c, const struct error *e, struct buf *b)
{
	const struct box_deed *d = c->deed;
	const char *id = d && d->id ? d->id : c->box_id;

	buf_str(b, "{\"success\":false,\"sandbox_id\":");
	if (id)
		json_write_string(b, id);
	else
		buf_str(b, "null");
	if (d && d->path) {
		buf_char(b, ',');
		box_write_name("file_path", d->path, b);
	}
	buf_printf(b, ",\"error\":{\"type\":\"%s\",\"message\":", failure_type(d, e));
	json_write_string(b, e->text);
	buf_str(b, "}}\n");
}
