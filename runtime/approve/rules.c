/*
 * How risky a call is. A pattern is a hint for a person, and never the protection: what it costs to
 * try one is bounded, and one that costs more counts as found.
 */
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "approve/approve.h"
#include "base/fd.h"
#include "base/str.h"
#include "json/rows.h"
#include "life/policy.h"

enum { RULES_MAX = 256, TOOLS_MAX = 64, CONDITIONS_MAX = 16, PATTERN_MAX = 4096, STEPS = 200000,
       TIMEOUT_MAX_S = 3600 };

const struct json_word approve_risk_words[] = {
	{"low", RISK_LOW}, {"medium", RISK_MEDIUM}, {"high", RISK_HIGH},
	{"critical", RISK_CRITICAL}, {NULL, 0},
};

const struct json_word approve_scope_words[] = {
	{"once", SCOPE_ONCE}, {"box", SCOPE_BOX}, {"always", SCOPE_ALWAYS}, {NULL, 0},
};

const char *approve_scope_word(enum approve_scope s)
{
	return approve_scope_words[s ? s - SCOPE_ONCE : 0].word;
}

const char *approve_risk_word(enum approve_risk r)
{
	return approve_risk_words[r].word;
}

struct condition {
	char *param, *matches, *equals;
};
struct rule {
	struct strings tools;
	enum approve_risk risk;
	struct opt_u32 timeout;
	char *description;
	bool deny;
	enum approve_scope grants; /* the most that an answer may be good for */
	LIST(struct condition) conditions;
};
struct rules_file {
	uint32_t version;
	enum approve_scope grants; /* of all calls */
	LIST(struct rule) rules;
};
struct approve_rules {
	const struct approve_rules *before;
	struct rules_file file;
};

/* clang-format off */
#define CLOSED(s) \
	static const struct json_table s##_table = {.name = #s, .size = sizeof(struct s), .rows = s##_rows, .count = ARRAY_SIZE(s##_rows), .closed = true}

static const struct json_row condition_rows[] = {
	F(condition, "param", STR, param, REQUIRED), F(condition, "matches", STR, matches), F(condition, "equals", STR, equals),
};
CLOSED(condition);
static const struct json_row rule_rows[] = {
	L(rule, "tools", STRINGS, tools, TOOLS_MAX, REQUIRED),
	W(rule, "risk", risk, approve_risk, approve_risk_words, REQUIRED),
	F(rule, "timeout", OPT_U32, timeout, NOT_NULL), F(rule, "description", STR, description), F(rule, "deny", BOOL, deny, NOT_NULL),
	W(rule, "grants", grants, approve_scope, approve_scope_words, NOT_NULL),
	N(rule, "conditions", LIST, conditions, condition, CONDITIONS_MAX, NOT_NULL),
};
CLOSED(rule);
static const struct json_row rules_file_rows[] = {
	F(rules_file, "version", U32, version, REQUIRED), W(rules_file, "grants", grants, approve_scope, approve_scope_words, NOT_NULL), N(rules_file, "rules", LIST, rules, rule, RULES_MAX, REQUIRED),
};
CLOSED(rules_file);

/* A box that somebody has made by hand, and named. */
#define OF_OTHERS "^(?!" APPROVE_OWN_BOX ")"

/* They hold where no rule of a file does; the first that fits. */
#define DANGEROUS \
	"(?i)\\brm\\s+-[a-z]*(?:rf|fr)|\\b(?:curl|wget)\\b[^\\n]*\\|\\s*(?:ba|da|z)?sh\\b|\\b(?:eval|exec)\\s*\\(|\\bsubprocess\\b|\\bos\\s*\\.\\s*system\\b|__import__"
static const struct {
	const char *tool, *param, *matches;
	enum approve_risk risk;
	const char *why;
} builtin[] = {
	{"code_execute", "network_enabled", "^true$", RISK_CRITICAL, "code that reaches the network"},
	{"code_execute", "code", DANGEROUS, RISK_CRITICAL, "code with a dangerous pattern"},
	{"code_execute", NULL, NULL, RISK_HIGH, "code"},
	{"box_exec", "command", DANGEROUS, RISK_CRITICAL, "a command with a dangerous pattern"},
	{"box_exec", NULL, NULL, RISK_HIGH, "a command"},
	{"box_create", "network_enabled", "^true$", RISK_CRITICAL, "a box that reaches the network"},
	{"box_create", NULL, NULL, RISK_LOW, "a box without network"},
	{"code_install_package", "registry", "^(?:pypi|npm)$", RISK_HIGH, "a package of a registry"},
	{"code_install_package", NULL, NULL, RISK_CRITICAL, "a package of another registry"},
	{"code_write_file", "file_path", "(?i)\\.(?:sh|py|js|exe|bin)$", RISK_HIGH, "a file that can be run"},
	{"code_write_file", NULL, NULL, RISK_MEDIUM, "writing a file"},
	{"code_read_file", NULL, NULL, RISK_MEDIUM, "reading a file"},
	{"view_image", NULL, NULL, RISK_MEDIUM, "reading a file"},
	{"code_list_files", NULL, NULL, RISK_MEDIUM, "listing files"},
	{"file_stat", NULL, NULL, RISK_MEDIUM, "looking at a file"},
	{"file_delete", NULL, NULL, RISK_MEDIUM, "deleting a file"},
	{"code_destroy_sandbox", "sandbox_id", OF_OTHERS, RISK_HIGH, "ending a box that no assistant has made"},
	{"code_destroy_sandbox", NULL, NULL, RISK_LOW, "cleaning up"},
	{"box_allow", "remove", "^false$", RISK_CRITICAL, "a box that reaches more of the network"},
	{"box_allow", "sandbox_id", OF_OTHERS, RISK_MEDIUM, "what a box reaches that no assistant has made"},
	{"box_allow", NULL, NULL, RISK_LOW, "a box that reaches less of the network"},
	{"box_deny", "remove", "^true$", RISK_CRITICAL, "a box that reaches more of the network"},
	{"box_deny", "sandbox_id", OF_OTHERS, RISK_MEDIUM, "what a box reaches that no assistant has made"},
	{"box_deny", NULL, NULL, RISK_LOW, "a box that reaches less of the network"},
	{"box_rules", NULL, NULL, RISK_LOW, "looking at a box"},
	{"box_snapshot", "sandbox_id", OF_OTHERS, RISK_HIGH, "keeping files of a box that no assistant has made"},
	{"box_snapshot", NULL, NULL, RISK_MEDIUM, "keeping files"},
	{"box_snapshots", NULL, NULL, RISK_LOW, "looking at snapshots"},
	{"box_remove_snapshot", NULL, NULL, RISK_HIGH, "removing a snapshot, whoever made it"},
	{"box_fork", "network_enabled", "^true$", RISK_CRITICAL, "a box that reaches the network"},
	{"box_fork", "snapshot", "", RISK_HIGH, "a box with the files and volumes of a snapshot, whoever made it"},
	{"box_fork", "sandbox_id", OF_OTHERS, RISK_HIGH, "a box with the files and volumes of one that no assistant has made"},
	{"box_fork", NULL, NULL, RISK_LOW, "a copy of a box without network"},
	{"box_diff", NULL, NULL, RISK_MEDIUM, "listing files"},
	{"box_end_session", "sandbox_id", OF_OTHERS, RISK_HIGH, "ending a session of a box that no assistant has made"},
	{"box_end_session", NULL, NULL, RISK_LOW, "cleaning up"},
	{"box_list", NULL, NULL, RISK_LOW, "looking at boxes"},
	{"box_logs", NULL, NULL, RISK_LOW, "looking at a box"},
	{"box_pause", "sandbox_id", OF_OTHERS, RISK_MEDIUM, "pausing a box that no assistant has made"},
	{"box_pause", NULL, NULL, RISK_LOW, "pausing a box"},
	{"box_resume", NULL, NULL, RISK_LOW, "resuming a box"},
};
/* clang-format on */

static const uint32_t timeouts[] = {[RISK_LOW] = 120, [RISK_MEDIUM] = 120, [RISK_HIGH] = 60,
				    [RISK_CRITICAL] = 30};

/* ---- patterns ---- */

static pcre2_code *pattern_compile(const char *text)
{
	PCRE2_SIZE at;
	int why;

	return strlen(text) > PATTERN_MAX ? NULL :
					    pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
							  PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &why,
							  &at, NULL);
}

static bool pattern_finds(const char *pattern, const char *text)
{
	pcre2_code *code = pattern_compile(pattern);
	pcre2_match_data *data = code ? pcre2_match_data_create(1, NULL) : NULL;
	pcre2_match_context *limits = data ? pcre2_match_context_create(NULL) : NULL;
	int found = 1;

	if (limits) {
		pcre2_set_match_limit(limits, STEPS);
		pcre2_set_heap_limit(limits, 1024);
		found = pcre2_match(code, (PCRE2_SPTR)text, strlen(text), 0, 0, data, limits);
	}
	pcre2_match_context_free(limits);
	pcre2_match_data_free(data);
	pcre2_code_free(code);
	return found != PCRE2_ERROR_NOMATCH;
}

static const char *parameter(const struct pairs *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (str_eq(p->v[i].key, name))
			return p->v[i].value;
	return NULL;
}

/* ---- files ---- */

static int rule_check(const char *name, const struct rule *r, size_t at, struct error *e)
{
	pcre2_code *code;
	size_t i;

	if (r->timeout.set && (!r->timeout.v || r->timeout.v > TIMEOUT_MAX_S))
		return err_set(e, ERR_CONFIG, "%s: rules[%zu].timeout: %u is not from 1 to %d",
			       name, at, r->timeout.v, TIMEOUT_MAX_S);
	for (i = 0; i < r->conditions.n; i++) {
		const struct condition *c = &r->conditions.v[i];

		if (!c->matches == !c->equals)
			return err_set(e, ERR_CONFIG,
				       "%s: rules[%zu].conditions[%zu]: either matches or equals",
				       name, at, i);
		if (!c->matches)
			continue;
		code = pattern_compile(c->matches);
		if (!code)
			return err_set(e, ERR_CONFIG,
				       "%s: rules[%zu].conditions[%zu].matches: no pattern that can "
				       "be used",
				       name, at, i);
		pcre2_code_free(code);
	}
	return 0;
}

int approve_rules_parse(const char *name, const char *text, size_t len,
			const struct approve_rules *before, struct arena *a,
			const struct approve_rules **ret, struct error *e)
{
	struct approve_rules *r = arena_new(a, struct approve_rules);
	struct json_limits limits = json_default_limits;
	size_t i;

	limits.lines = true;
	r->before = before;
	if (json_read(name, text, len, &rules_file_table, &limits, &r->file, a, e) < 0)
		return -1;
	if (r->file.version != 1)
		return err_set(e, ERR_CONFIG, "%s: version %u is not 1", name, r->file.version);
	for (i = 0; i < r->file.rules.n; i++)
		if (rule_check(name, &r->file.rules.v[i], i, e) < 0)
			return -1;
	*ret = r;
	return 0;
}

int approve_rules_read(const char *file, struct arena *a, const struct approve_rules **ret,
		       struct error *e)
{
	const char *const files[] = {APPROVE_FILE, file};
	const struct approve_rules *all = NULL;
	size_t i, len;
	char *text;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (!files[i])
			continue;
		if (life_read_admin_file(files[i], a, &text, &len, e) < 0)
			return -1;
		if (!text && i)
			return err_set(e, ERR_USAGE, "--rules: there is no file %s", file);
		if (text && approve_rules_parse(files[i], text, len, all, a, &all, e) < 0)
			return -1;
	}
	*ret = all;
	return 0;
}

/* ---- judging ---- */

/* p: NULL: none */
static bool condition_holds(const struct condition *c, const struct pairs *p)
{
	size_t i;

	for (i = 0; p && i < p->n; i++)
		if (str_eq(p->v[i].key, c->param) &&
		    (c->equals ? str_eq(p->v[i].value, c->equals) :
				 pattern_finds(c->matches, p->v[i].value)))
			return true;
	return false;
}

static bool rule_fits(const struct rule *r, const char *tool, const struct pairs *p,
		      const struct pairs *equal)
{
	bool named = false;
	size_t i;

	for (i = 0; i < r->tools.n; i++)
		named |= str_eq(r->tools.v[i], tool) || str_eq(r->tools.v[i], "*");
	for (i = 0; named && i < r->conditions.n; i++) {
		const struct condition *c = &r->conditions.v[i];

		named = condition_holds(c, p) || (c->equals && condition_holds(c, equal));
	}
	return named;
}

/* The least of what files and rules say. */
static void judge_grants(enum approve_scope said, struct approve_judgement *ret)
{
	if (said && said < ret->most)
		ret->most = said;
}

static void judge_by_file(const struct rules_file *f, const char *tool, const struct pairs *p,
			  const struct pairs *equal, struct approve_judgement *ret)
{
	size_t i;

	judge_grants(f->grants, ret);
	for (i = 0; i < f->rules.n; i++) {
		const struct rule *r = &f->rules.v[i];

		if (!rule_fits(r, tool, p, equal))
			continue;
		judge_grants(r->grants, ret);
		if (ret->why && r->risk < ret->risk && !r->deny)
			continue;
		ret->denied |= r->deny;
		ret->risk = ret->why && ret->risk > r->risk ? ret->risk : r->risk;
		ret->timeout_s = r->timeout.set ? r->timeout.v : timeouts[r->risk];
		ret->why = r->description ? r->description : "by a rule of the operator's";
	}
}

static void judge_spellings(const struct approve_judgement *s, struct approve_judgement *ret)
{
	const enum approve_scope most = s->most < ret->most ? s->most : ret->most;

	if (s->why && !ret->denied && (s->denied || s->risk > ret->risk))
		*ret = *s;
	ret->most = most;
}

struct approve_judgement approve_judge(const struct approve_rules *r, const char *tool,
				       const struct approve_call *c)
{
	struct approve_judgement j = {.risk = RISK_LOW, .most = SCOPE_ALWAYS}, s = j;
	const char *value;
	size_t i;

	for (; r; r = r->before) {
		judge_by_file(&r->file, tool, &c->used, NULL, &j);
		judge_by_file(&r->file, tool, &c->written, &c->equal, &s);
	}
	for (i = 0; !j.why && i < ARRAY_SIZE(builtin); i++) {
		if (!str_eq(builtin[i].tool, tool))
			continue;
		value = builtin[i].param ? parameter(&c->used, builtin[i].param) : NULL;
		if (builtin[i].param && (!value || !pattern_finds(builtin[i].matches, value)))
			continue;
		j.risk = builtin[i].risk;
		j.why = builtin[i].why;
		j.timeout_s = timeouts[j.risk];
	}
	if (!j.why) {
		j.risk = RISK_CRITICAL;
		j.timeout_s = timeouts[RISK_CRITICAL];
		j.why = "nothing is known of it";
	}
	judge_spellings(&s, &j);
	if (j.risk == RISK_CRITICAL)
		j.most = SCOPE_ONCE;
	return j;
}
