/* `sbxrun policy`: which policies there are, what their rows are, and whether a file is one. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "json/json.h"
#include "life/policy.h"
#include "policy/ceiling.h"

enum { OUTPUT_MAX = 1 << 20 };

struct policies {
	struct policy_file file;
	bool found;
};

static void words_print(struct buf *b, const struct policy_words *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		buf_printf(b, "%s%s", i ? ", " : "", w->v[i]);
	if (!w->n)
		buf_str(b, "none");
}

void policy_print_row(struct buf *b, const struct policy *p, size_t i)
{
	if (i < LEVEL_COUNT)
		buf_str(b, policy_level_word((enum policy_level)i, p->level[i]));
	else
		words_print(b, &p->list[i - LEVEL_COUNT]);
}

/* A name, or a file with one. */
static int policy_get(const char *name, struct arena *a, struct policy *ret, struct error *e)
{
	static const struct pairs none;

	return life_choose_policy(name, &none, a, ret, e);
}

static int policy_list(struct cli *c, const struct policies *all, struct buf *b, struct error *e)
{
	const char *fallback = all->file.fallback ? all->file.fallback : "engine";
	size_t i;

	(void)e;
	for (i = 0; i < PRESET_COUNT; i++)
		buf_printf(b, "%-16s preset%s\n", policy_preset_names[i],
			   str_eq(policy_preset_names[i], fallback) ? ", the default" : "");
	for (i = 0; i < all->file.policies.n; i++) {
		const struct policy_text *t = &all->file.policies.v[i];

		buf_printf(b, "%-16s " POLICY_FILE ", on %s%s%s%s\n", t->name,
			   t->base ? t->base : "engine",
			   str_eq(t->name, fallback) ? ", the default" : "",
			   t->description ? ": " : "", t->description ? t->description : "");
	}
	(void)c;
	return 0;
}

/* Rows that came after the file was written take the preset's value. */
static void check_print_new(const struct policy_file *f, struct buf *b)
{
	size_t i;

	for (i = 0; i < POLICY_ROWS; i++)
		if (policy_rows[i].since > f->version)
			buf_printf(b, "  %s: newer than version %u; it is as the base has it\n",
				   policy_rows[i].id, f->version);
}

static int policy_check(struct cli *c, const struct policies *all, struct buf *b, struct error *e)
{
	struct policy_file f = all->file;
	const char *path = c->n_args > 1 ? c->args[1] : POLICY_FILE;

	if (c->n_args > 1 && life_read_policy_file(path, c->arena, &f, e) < 0)
		return -1;
	if (c->n_args < 2 && !all->found) {
		buf_printf(b, "there is no " POLICY_FILE ": the preset engine holds\n");
		return 0;
	}
	buf_printf(b, "%s: ok, version %u, %zu %s\n", path, f.version, f.policies.n,
		   f.policies.n == 1 ? "policy" : "policies");
	check_print_new(&f, b);
	return 0;
}

static int policy_show(struct cli *c, const struct policies *all, struct buf *b, struct error *e)
{
	struct policy_text text;
	struct policy p;
	size_t i;

	(void)all;
	if (policy_get(c->n_args > 1 ? c->args[1] : NULL, c->arena, &p, e) < 0)
		return -1;
	if (c->json) {
		policy_to_text(&p, c->arena, &text);
		json_write(b, &policy_text_table, &text, 2);
		buf_char(b, '\n');
		return 0;
	}
	buf_printf(b, "policy %s\n", p.name);
	for (i = 0; i < POLICY_ROWS; i++) {
		buf_printf(b, "\n%-20s ", policy_rows[i].id);
		policy_print_row(b, &p, i);
		buf_printf(b, "\n    %s\n", policy_rows[i].what);
	}
	return 0;
}

static int policy_diff(struct cli *c, const struct policies *all, struct buf *b, struct error *e)
{
	struct policy x, y;
	struct buf left, right;
	const char *row;
	size_t i;

	(void)all;
	if (c->n_args != 3)
		return err_set(e, ERR_USAGE, "usage: sbxrun policy diff NAME NAME");
	if (policy_get(c->args[1], c->arena, &x, e) < 0 ||
	    policy_get(c->args[2], c->arena, &y, e) < 0)
		return -1;
	for (i = 0; i < POLICY_ROWS; i++) {
		left = buf_new(c->arena, OUTPUT_MAX);
		right = buf_new(c->arena, OUTPUT_MAX);
		policy_print_row(&left, &x, i);
		policy_print_row(&right, &y, i);
		if (!str_eq(left.data, right.data))
			buf_printf(b, "%s\n  %s: %s\n  %s: %s\n", policy_rows[i].id, x.name,
				   left.data, y.name, right.data);
	}
	if (policy_is_within(&x, &y, &row))
		buf_printf(b, "%s is at least as strict as %s in every row\n", x.name, y.name);
	if (policy_is_within(&y, &x, &row))
		buf_printf(b, "%s is at least as strict as %s in every row\n", y.name, x.name);
	return 0;
}

/* The lists of system calls, with reasons. */
static int policy_calls(struct cli *c, const struct policies *all, struct buf *b, struct error *e)
{
	static const char *const words[] = {
		[CALL_no] = "no", [CALL_nosys] = "nosys", [CALL_kill] = "kill",
		[CALL_some] = "some", [CALL_yes] = "yes"};
	struct policy p;
	size_t i;

	(void)all;
	if (policy_get(c->n_args > 1 ? c->args[1] : NULL, c->arena, &p, e) < 0)
		return -1;
	for (i = 0; ceiling_name(i); i++)
		buf_printf(b, "%-5s %-26s %s\n", words[ceiling_verdict(&p, ceiling_name(i))],
			   ceiling_name(i), ceiling_reason(ceiling_name(i)));
	return 0;
}

static int policy_run(struct cli *c, struct error *e)
{
	static const struct {
		const char *word;
		size_t most;
		int (*run)(struct cli *c, const struct policies *all, struct buf *b,
			   struct error *e);
	} verbs[] = {{"list", 1, policy_list},
		     {"check", 2, policy_check},
		     {"show", 2, policy_show},
		     {"diff", 3, policy_diff},
		     {"calls", 2, policy_calls}};
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct policies all = {0};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (str_eq(verbs[i].word, c->args[0]))
			break;
	if (i == ARRAY_SIZE(verbs) || c->n_args > verbs[i].most)
		return err_set(e, ERR_USAGE,
			       "usage: sbxrun policy list | check [FILE] | show [--json] [NAME] | "
			       "diff NAME NAME | calls [NAME]");
	/* A file of its own is checked whatever the administrator's is. */
	if (!(str_eq(c->args[0], "check") && c->n_args > 1) &&
	    life_read_policies(c->arena, &all.file, &all.found, e) < 0)
		return -1;
	if (verbs[i].run(c, &all, &b, e) < 0)
		return -1;
	return cli_print(&b, e);
}

/* clang-format off */
static const struct cli_option policy_options[] = {
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "show: as a policy of a file would say it"),
};
/* clang-format on */
const struct cli_command cli_policy = {"policy",
				       "list | check [FILE] | show [NAME] | diff NAME NAME | calls [NAME]",
				       "show and check policies",
				       policy_options,
				       ARRAY_SIZE(policy_options),
				       1,
				       3,
				       false,
				       policy_run,
				       .stateless = true,
				       .answers = true};
