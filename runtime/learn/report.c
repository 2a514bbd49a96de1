#include "learn/report.h"

#include <inttypes.h>
#include <linux/sched.h>
#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "learn/needs.h"
#include "policy/remedy.h"
#include "policy/words.h"

enum { COLUMNS = 96 };

static const char *const format_words[] = {
	[LEARN_TEXT] = "text", [LEARN_JSON] = "json", [LEARN_OCI] = "oci"};

static const char *const not_seen[] = {
	"paths that this run did not take: run it with other input, too",
	"clocks that the C library reads without the kernel; they are assumed to be needed",
	"processes that sbxrun exec or docker exec brought in",
	"what a server outside the container did on its behalf",
};

int learn_format_find(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(format_words); i++)
		if (str_eq(format_words[i], word))
			return (int)i;
	return -1;
}

/* ---- words ---- */

static const char *refusal_word(uint32_t verdict)
{
	const char *name;

	if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO)
		return "SIGSYS";
	name = strerrorname_np((int)(verdict & SECCOMP_RET_DATA));
	return name ? name : "an error";
}

static const char *family_word(uint64_t family)
{
	unsigned int i;

	for (i = 0; i < policy_socket_count; i++)
		if (policy_sockets[i].family == family && policy_sockets[i].protocol < 0)
			return policy_sockets[i].word;
	return NULL;
}

static void value_text(struct buf *b, const struct tally_call *c, uint64_t value)
{
	const char *word = str_after(c->row->name, "socket") ? family_word(value) : NULL;

	if (word)
		buf_str(b, word);
	else if (value < 10)
		buf_printf(b, "%" PRIu64, value);
	else
		buf_printf(b, "0x%" PRIx64, value);
}

static const char *values_text(const struct tally_call *c, bool refused, struct arena *a)
{
	struct buf b = buf_new(a, 4096);
	uint32_t i;

	for (i = 0; i < c->n_values; i++) {
		if (c->values[i].refused != refused)
			continue;
		buf_str(&b, b.len ? " " : "");
		value_text(&b, c, c->values[i].value);
	}
	if (c->more)
		buf_str(&b, " …");
	return b.len ? b.data : "";
}

static const char *giver_text(const struct learn_view *v, const struct tally_call *c,
			      struct arena *a)
{
	const struct learning *l = v->learning;

	switch (needs_giver_of(l, c)) {
	case GIVER_CALLS:
		return arena_printf(a, "policy %s, row system-calls", l->policy.name);
	case GIVER_SOCKETS:
		return arena_printf(a, "policy %s, row sockets", l->policy.name);
	case GIVER_ABI:
		return arena_printf(a, "policy %s, row foreign-abi", l->policy.name);
	case GIVER_NOBODY:
		return "nobody: C libraries have another way";
	default:
		return v->profile ? arena_printf(a, "profile %s (--profile-add)", v->profile) :
				    "linux.seccomp of the config";
	}
}

static const char *other_name(const struct tally_call *c, struct arena *a)
{
	const char *arch = c->arch ? c->arch->name : "an unknown architecture";

	return c->row ? arena_printf(a, "%s of %s", c->row->name, arch) :
			arena_printf(a, "call %u of %s", c->nr, arch);
}

/* ---- for people ---- */

static void text_names(struct buf *b, const struct strings *names)
{
	size_t i, at = 0;

	for (i = 0; i < names->n; i++) {
		const size_t len = strlen(names->v[i]) + 1;

		if (!at || at + len > COLUMNS)
			buf_str(b, at ? "\n " : " ");
		at = !at || at + len > COLUMNS ? 1 : at;
		buf_printf(b, " %s", names->v[i]);
		at += len;
	}
	buf_char(b, '\n');
}

static void text_made(struct buf *b, const struct needs *n, struct arena *a)
{
	size_t i;

	buf_printf(b, "\nMade by the program\n  %-24s %10s %10s  %s\n", "call", "count", "failed",
		   "values");
	for (i = 0; i < n->n; i++) {
		const struct tally_call *c = n->v[i];
		const char *values = values_text(c, false, a);

		if (c->made[TALLY_PROGRAM])
			buf_printf(b, "  %-24s %10" PRIu64 " %10" PRIu64 "%s%s\n", c->row->name,
				   c->made[TALLY_PROGRAM], c->failed, *values ? "  " : "", values);
	}
}

static void text_refused(struct buf *b, const struct learn_view *v, const struct needs *n,
			 struct arena *a)
{
	size_t i, told = 0;

	for (i = 0; i < n->n + n->n_other; i++) {
		const struct tally_call *c = i < n->n ? n->v[i] : n->other[i - n->n];
		const char *values = i < n->n ? values_text(c, true, a) : "";

		if (!c->refused)
			continue;
		if (!told++)
			buf_printf(b, "\nRefused by the filter\n  %-24s %10s %10s  %s\n", "call",
				   "count", "answer", "who would have to give it");
		buf_printf(b, "  %-24s %10" PRIu64 " %10s  %s%s%s\n",
			   i < n->n ? c->row->name : other_name(c, a), c->refused,
			   refusal_word(c->verdict), giver_text(v, c, a), *values ? ": " : "",
			   values);
	}
	if (!told)
		buf_str(b, "\nThe filter refused nothing.\n");
}

static void text_rows(struct buf *b, const struct policy *p, const char *what, const char *rows)
{
	if (*rows)
		buf_printf(b,
			   "\nA policy that gives it (sbxrun-policy(5)); each %s\n  "
			   "{\"version\": 1, \"policies\": {\"NAME\": {\"base\": \"%s\", %s}}}\n",
			   what, p->name, rows);
}

static void text_write(const struct learn_view *v, const struct needs *n, struct arena *a,
		       struct buf *b)
{
	const struct learning *l = v->learning;
	const struct tally *t = l->tally;
	const struct needs_assumed *s;
	struct strings assumed = {.v = arena_array(a, 32, char *)}, ours = assumed;
	size_t i, kinds = 0;

	ours.v = arena_array(a, n->n + 1, char *);
	for (s = needs_assumed; s->name && assumed.n < 32; s++)
		assumed.v[assumed.n++] = arena_strdup(a, s->name);
	for (i = 0; i < n->n; i++) {
		kinds += n->v[i]->made[TALLY_PROGRAM] || n->v[i]->refused;
		if (n->v[i]->made[TALLY_OURS] && !n->v[i]->made[TALLY_PROGRAM])
			ours.v[ours.n++] = arena_strdup(a, n->v[i]->row->name);
	}
	buf_printf(b, "learned: %zu system calls, of %" PRIu64 " processes and threads; policy %s",
		   kinds, t->tasks, l->policy.name);
	if (v->profile)
		buf_printf(b, ", profile %s", v->profile);
	buf_str(b, l->judge.len ? "\n" : ", no filter\n");
	text_made(b, n, a);
	text_refused(b, v, n, a);
	if (n->exec_gain)
		buf_str(b, "\nMemory that is writable and executable was refused (row "
			   "write-execute, or the language's own).\n");
	text_rows(b, &l->policy, "call is the kernel's surface", needs_rows(l, n, a));
	if (ours.n) {
		buf_printf(b, "\nNeeded by sbxrun's own first process (%zu)\n", ours.n);
		text_names(b, &ours);
	}
	buf_printf(b, "\nAssumed to be needed (%zu)\n", assumed.n);
	text_names(b, &assumed);
	if (l->judge.len) {
		buf_printf(b, "\nGiven and never used (%zu)\n", n->unused.n);
		text_names(b, &n->unused);
	}
	buf_str(b, "\nNot seen\n");
	for (i = 0; i < ARRAY_SIZE(not_seen); i++)
		buf_printf(b, "  %s\n", not_seen[i]);
	if (t->lost)
		buf_printf(b, "  %" PRIu64 " calls, for want of room\n", t->lost);
}

/* ---- JSON ---- */

static void json_values(struct buf *b, const struct tally_call *c, bool refused)
{
	uint64_t mask;
	const int at = tally_argument(c->row->name, &mask);
	bool first = true;
	uint32_t i;

	if (at < 0)
		return;
	buf_printf(b, ",\"argument\":%d,\"values\":[", at);
	for (i = 0; i < c->n_values; i++) {
		if (c->values[i].refused != refused)
			continue;
		buf_printf(b, "%s{\"value\":%" PRIu64 ",\"count\":%" PRIu64 "}", first ? "" : ",",
			   c->values[i].value, c->values[i].count);
		first = false;
	}
	buf_printf(b, "]%s", c->more ? ",\"moreValues\":true" : "");
}

static void json_calls(struct buf *b, const struct needs *n)
{
	bool first = true;
	size_t i;

	buf_str(b, ",\"calls\":[");
	for (i = 0; i < n->n; i++) {
		const struct tally_call *c = n->v[i];

		if (!needs_made(c))
			continue;
		buf_printf(b,
			   "%s{\"name\":\"%s\",\"count\":%" PRIu64 ",\"failed\":%" PRIu64
			   ",\"ours\":%" PRIu64,
			   first ? "" : ",", c->row->name, c->made[TALLY_PROGRAM], c->failed,
			   c->made[TALLY_OURS]);
		if (c->made[TALLY_PROGRAM])
			json_values(b, c, false);
		buf_char(b, '}');
		first = false;
	}
	buf_char(b, ']');
}

static void json_refused(struct buf *b, const struct learn_view *v, const struct needs *n,
			 struct arena *a)
{
	static const char *const givers[] = {[GIVER_CONFIG] = "config",
					     [GIVER_CALLS] = "system-calls",
					     [GIVER_SOCKETS] = "sockets",
					     [GIVER_ABI] = "foreign-abi",
					     [GIVER_NOBODY] = "nobody"};
	bool first = true;
	size_t i;

	buf_str(b, ",\"refused\":[");
	for (i = 0; i < n->n + n->n_other; i++) {
		const struct tally_call *c = i < n->n ? n->v[i] : n->other[i - n->n];
		const enum needs_giver giver = needs_giver_of(v->learning, c);

		if (!c->refused)
			continue;
		buf_str(b, first ? "{\"name\":" : ",{\"name\":");
		json_write_string(b, i < n->n ? c->row->name : other_name(c, a));
		buf_printf(b, ",\"count\":%" PRIu64 ",\"answer\":\"%s\",\"by\":\"%s\"", c->refused,
			   refusal_word(c->verdict),
			   giver == GIVER_CONFIG && v->profile ? "profile" : givers[giver]);
		if (i < n->n)
			json_values(b, c, true);
		buf_char(b, '}');
		first = false;
	}
	buf_char(b, ']');
}

static void json_write_names(struct buf *b, const char *key, const struct strings *names)
{
	size_t i;

	buf_printf(b, ",\"%s\":[", key);
	for (i = 0; i < names->n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, names->v[i]);
	}
	buf_char(b, ']');
}

static void json_report(const struct learn_view *v, const struct needs *n, struct arena *a,
			struct buf *b)
{
	const struct learning *l = v->learning;
	const struct needs_assumed *s;
	size_t i;

	buf_str(b, "{\"policy\":");
	json_write_string(b, l->policy.name);
	if (v->profile) {
		buf_str(b, ",\"profile\":");
		json_write_string(b, v->profile);
	}
	buf_printf(b, ",\"filter\":%s,\"tasks\":%" PRIu64 ",\"lost\":%" PRIu64,
		   l->judge.len ? "true" : "false", l->tally->tasks, l->tally->lost);
	json_calls(b, n);
	json_refused(b, v, n, a);
	buf_printf(b, ",\"writeExecuteRefused\":%s,\"rows\":{%s}", n->exec_gain ? "true" : "false",
		   needs_rows(l, n, a));
	buf_str(b, ",\"assumed\":[");
	for (s = needs_assumed; s->name; s++) {
		buf_str(b, s == needs_assumed ? "" : ",");
		buf_printf(b, "{\"name\":\"%s\",\"why\":", s->name);
		json_write_string(b, s->why);
		buf_char(b, '}');
	}
	buf_char(b, ']');
	json_write_names(b, "unused", &n->unused);
	buf_str(b, ",\"notSeen\":[");
	for (i = 0; i < ARRAY_SIZE(not_seen); i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, not_seen[i]);
	}
	buf_str(b, "]}\n");
}

/* ---- what was refused whole ---- */

/* Without the policy, and without how to allow it, which the rows say. */
static const char *refusal_text(const char *text, struct arena *a)
{
	const char *from = strstr(text, " refuses "), *to = strstr(text, "; to allow it,");

	from = from ? from + strlen(" refuses ") : text;
	return arena_strndup(a, from, to && to > from ? (size_t)(to - from) : strlen(from));
}

static void refusal_print(const struct learn_refusal *r, struct arena *a, struct buf *b)
{
	size_t i;

	buf_printf(b, "learned: policy %s refuses this, and nothing ran\n\nRefused by the policy\n",
		   r->policy->name);
	for (i = 0; i < r->refusals->n; i++)
		buf_printf(b, "  %s\n", refusal_text(r->refusals->v[i].text, a));
	text_rows(b, r->policy, "row is a protection that it then does without",
		  policy_remedy_rows(r->needed, a));
	buf_str(b, "\nNot seen\n  what the program does: run it under a policy that lets it\n");
}

void learn_write_refusal(const struct learn_refusal *r, enum learn_format format, struct arena *a,
			 struct buf *b)
{
	if (format == LEARN_TEXT) {
		refusal_print(r, a, b);
		return;
	}
	buf_str(b, "{\"policy\":");
	json_write_string(b, r->policy->name);
	buf_str(b, ",\"ran\":false,\"refusals\":");
	policy_clamps_write(r->refusals, b);
	buf_printf(b, ",\"rows\":{%s}}\n", policy_remedy_rows(r->needed, a));
}

/* ---- an OCI object ---- */

/* A new thread or process, and no namespace. */
#define CLONE_NEW_ANY                                                                              \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

static bool oci_makes_namespaces(const struct tally_call *c)
{
	uint32_t i;

	for (i = 0; i < c->n_values; i++)
		if (!c->values[i].refused && (c->values[i].value & CLONE_NEW_ANY))
			return true;
	return c->more;
}

/* Calls that a profile holds to what was seen of their first argument: whose other values are the
 * kernel's largest surface, and of which programs use few. */
static bool oci_holds_values(const struct tally_call *c)
{
	static const char *const names[] = {"socket", "socketpair", "personality"};
	size_t i;

	if (str_eq(c->row->name, "clone"))
		return !oci_makes_namespaces(c);
	for (i = 0; i < ARRAY_SIZE(names) && !c->more; i++)
		if (str_eq(names[i], c->row->name))
			return c->made[TALLY_PROGRAM] && !c->made[TALLY_OURS];
	return false;
}

static bool oci_has(const struct learn_view *v, const struct tally_call *c)
{
	return needs_made(c) || (v->with_refused && c->refused);
}

static void oci_names(const struct learn_view *v, const struct needs *n, struct buf *b)
{
	const struct needs_assumed *s = needs_assumed;
	const char *separator = "";
	size_t i = 0;

	while (i < n->n || s->name) {
		const int order = i == n->n   ? 1 :
				  !s->name    ? -1 :
						strcmp(n->v[i]->row->name, s->name);
		const char *name = order <= 0 ? n->v[i]->row->name : s->name;

		if (order > 0 ? syscall_number(syscall_find(name), syscall_arch_native()) >= 0 :
				order == 0 || (oci_has(v, n->v[i]) && !oci_holds_values(n->v[i]))) {
			buf_printf(b, "%s\"%s\"", separator, name);
			separator = ", ";
		}
		i += order <= 0;
		s += order >= 0;
	}
}

static void oci_values(const struct learn_view *v, const struct tally_call *c, struct buf *b)
{
	uint32_t i;

	if (str_eq(c->row->name, "clone"))
		buf_printf(b,
			   ",\n\t\t{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": "
			   "[{\"index\": %d, \"value\": %u, \"valueTwo\": 0, \"op\": "
			   "\"SCMP_CMP_MASKED_EQ\"}]}",
			   syscall_arch_native()->column == COLUMN_S390X,
			   (unsigned int)CLONE_NEW_ANY);
	for (i = 0; i < c->n_values && !str_eq(c->row->name, "clone"); i++)
		if (!c->values[i].refused || v->with_refused)
			buf_printf(b,
				   ",\n\t\t{\"names\": [\"%s\"], \"action\": \"SCMP_ACT_ALLOW\", "
				   "\"args\": [{\"index\": 0, \"value\": %" PRIu64
				   ", \"op\": \"SCMP_CMP_EQ\"}]}",
				   c->row->name, c->values[i].value);
}

static void oci_write(const struct learn_view *v, const struct needs *n, struct buf *b)
{
	size_t i;

	buf_printf(b,
		   "{\n\t\"defaultAction\": \"SCMP_ACT_ERRNO\",\n\t\"defaultErrnoRet\": 1,\n"
		   "\t\"architectures\": [\"SCMP_ARCH_%s\"],\n"
		   "\t\"syscalls\": [\n\t\t{\"names\": [",
		   syscall_arch_native()->name);
	oci_names(v, n, b);
	buf_str(b, "], \"action\": \"SCMP_ACT_ALLOW\"}");
	for (i = 0; i < n->n; i++)
		if (oci_has(v, n->v[i]) && oci_holds_values(n->v[i]))
			oci_values(v, n->v[i], b);
	buf_str(b, "\n\t]\n}\n");
}

void learn_write(const struct learn_view *v, enum learn_format format, struct arena *a,
		 struct buf *b)
{
	struct needs n;

	needs_find(v->learning, a, &n);
	if (format == LEARN_TEXT)
		text_write(v, &n, a, b);
	else if (format == LEARN_JSON)
		json_report(v, &n, a, b);
	else
		oci_write(v, &n, b);
}
