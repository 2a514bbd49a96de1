/* The rules: ours in a table, the user's from a file. */
#include "box/redact_rules.h"

#include <string.h>

#include "base/str.h"
#include "json/rows.h"

/*
 * The order is a part of it: a connection string has `user:pw@host` in it, which would be an e-mail
 * address. Counts are bounded everywhere, so that no match is longer than `longest`, and repeats
 * are possessive where nothing is gained by giving back.
 */
/* clang-format off */
#define OCTET "(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})"
#define PEM_KIND "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
const struct redact_builtin redact_builtins[] = {
	{"connection_string",
	 "(?i)(?:jdbc:)?(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse)"
	 "(?:\\+[a-z0-9_]{1,20}+)?://[^\\s\"'<>`]{1,2000}+",
	 "[REDACTED_CONNECTION_STRING]", 2048, "://", 40, "jpmrasocJPMRASOC"},
	/* Up to its end, or as far as it can be one: keys are printed in parts, too. As text in
	 * JSON it has \n for its lines. */
	{"private_key",
	 "-----BEGIN " PEM_KIND "(?:[A-Za-z0-9+/=\\s:,.\\\\()@]++|-(?!----))*+(?:-----END " PEM_KIND ")?+",
	 "[REDACTED_PRIVATE_KEY]", 16384, "-----BEGIN ", 0, NULL},
	{"api_key",
	 "(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin|or-v1|ant-[a-z0-9]{2,12})-[A-Za-z0-9_-]{8,400}+|[A-Za-z0-9]{20,400}+)",
	 "[REDACTED_API_KEY]", 448, "sk-", 0, NULL},
	{"aws_key",
	 "A[KS]IA[0-9A-Z]{16}",
	 "[REDACTED_AWS_KEY]", 20, "IA", 2, "A"},
	{"email",
	 "[A-Za-z0-9._%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}+\\.){1,8}[A-Za-z]{2,24}+",
	 "[REDACTED_EMAIL]", 640, "@", 64, NULL},
	{"internal_ip",
	 "(?<![0-9])(?<![0-9]\\.)(?:10\\." OCTET "|192\\.168|172\\.(?:1[6-9]|2[0-9]|3[01]))\\." OCTET "\\." OCTET "(?![0-9]|\\.[0-9])",
	 "[REDACTED_INTERNAL_IP]", 20, ".", 3, "1"},
	{"system_path",
	 "(?<![A-Za-z0-9_-])/(?:(?:etc|root)(?![A-Za-z0-9_-])|home/[A-Za-z0-9._-]{1,64}+)(?:/[^\\s\"'<>`|;:,()]{0,1000}+)?+",
	 "[REDACTED_SYSTEM_PATH]", 1088, "/", 0, NULL},
};
/* clang-format on */
const size_t redact_n_builtins = ARRAY_SIZE(redact_builtins);

struct rule_file {
	uint32_t version;
	struct redact_rules rules;
};

/* clang-format off */
static const struct json_row redact_rule_rows[] = {
	F(redact_rule, "name", STR, name, REQUIRED),
	F(redact_rule, "pattern", STR, pattern, REQUIRED),
	F(redact_rule, "replacement", STR, replacement),
	F(redact_rule, "longest", U32, longest, NOT_NULL),
};
static const struct json_table redact_rule_table = {
	.name = "redact_rule", .size = sizeof(struct redact_rule), .rows = redact_rule_rows,
	.count = ARRAY_SIZE(redact_rule_rows), .closed = true};
static const struct json_row rule_file_rows[] = {
	F(rule_file, "version", U32, version, REQUIRED),
	N(rule_file, "rules", LIST, rules, redact_rule, REDACT_USER_MAX, REQUIRED NOT_NULL),
};
static const struct json_table rule_file_table = {
	.name = "rule_file", .size = sizeof(struct rule_file), .rows = rule_file_rows,
	.count = ARRAY_SIZE(rule_file_rows), .closed = true};
/* clang-format on */

/* The line that the n-th rule begins in. The text has been read as JSON and fits the rows, so the
 * objects of a list are rules. */
static size_t rule_line(const char *text, size_t len, size_t n)
{
	size_t i, line = 1, depth = 0;
	bool quoted = false;

	for (i = 0; i < len; i++) {
		line += text[i] == '\n';
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '[') && depth++ == 2 && n-- == 0)
			return line;
		else if (!quoted && (text[i] == '}' || text[i] == ']'))
			depth--;
	}
	return line;
}

/* A name stands in results and audit files. */
static bool name_is_plain(const char *name)
{
	size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	return n > 0 && n < 64 && !name[n];
}

static bool name_is_ours(const char *name)
{
	size_t i;

	for (i = 0; i < redact_n_builtins; i++)
		if (str_eq(redact_builtins[i].name, name))
			return true;
	return false;
}

static int rule_check_fields(const struct redact_rule *r, struct error *e)
{
	if (!name_is_plain(r->name))
		return err_set(e, ERR_CONFIG,
			       "a name is of letters, digits, -, _ and ., and short");
	if (name_is_ours(r->name))
		return err_set(e, ERR_CONFIG, "there is a built-in rule of that name");
	if (strlen(r->pattern) > REDACT_TEXT_MAX)
		return err_set(e, ERR_CONFIG, "the pattern has more than %d bytes",
			       REDACT_TEXT_MAX);
	if (r->replacement && strlen(r->replacement) > REDACT_TEXT_MAX)
		return err_set(e, ERR_CONFIG, "the replacement has more than %d bytes",
			       REDACT_TEXT_MAX);
	if (r->longest < 1 || r->longest > REDACT_LONGEST_MAX)
		return err_set(e, ERR_CONFIG, "\"longest\" is from 1 to %d", REDACT_LONGEST_MAX);
	return 0;
}

int redact_check_rule(const struct redact_rule *rule, struct error *e)
{
	struct redact_code code = {.pattern = rule->pattern, .longest = rule->longest};
	struct arena a = {0};
	struct redact_matcher *m;
	int rc;

	if (rule_check_fields(rule, e) < 0)
		return -1;
	m = redact_matcher_new(&a);
	rc = redact_code_check(m, &code, e);
	redact_code_free(&code);
	redact_matcher_free(m);
	arena_free(&a);
	return rc;
}

static int rules_check(const struct redact_rules *rules, const char *text, size_t len,
		       struct error *e)
{
	size_t i, k;

	for (i = 0; i < rules->n; i++) {
		struct redact_rule *r = &rules->v[i];

		if (!r->longest)
			r->longest = REDACT_LONGEST;
		if (redact_check_rule(r, e) < 0)
			return err_wrap(e, "line %zu: rule %s", rule_line(text, len, i),
					json_show(r->name).text);
		for (k = 0; k < i; k++)
			if (str_eq(rules->v[k].name, r->name))
				return err_set(e, ERR_CONFIG, "line %zu: rule %s is there twice",
					       rule_line(text, len, i), json_show(r->name).text);
	}
	return 0;
}

int redact_read_rules(const char *text, size_t len, struct arena *a, struct redact_rules *ret,
		      struct error *e)
{
	static const struct json_limits limits = {.bytes = REDACT_FILE_MAX,
						  .depth = 4,
						  .elements = REDACT_USER_MAX,
						  .string = 4096,
						  .lines = true};
	struct rule_file f = {0};

	if (json_read("rules", text, len, &rule_file_table, &limits, &f, a, e) < 0)
		return -1;
	if (f.version != 1)
		return err_set(e, ERR_CONFIG, "rules: version: this sbxrun knows 1, and not %u",
			       f.version);
	if (rules_check(&f.rules, text, len, e) < 0)
		return err_wrap(e, "rules");
	*ret = f.rules;
	return 0;
}
