/*
 * All that a policy refuses of a request, for whoever got its first refusal: volumes would come one
 * at a time otherwise, each after another try. It is looked for after the failure, so a box that is
 * made pays nothing for it.
 */
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "box/explain.h"

enum { ERROR_ROOM = 900 }; /* of an error's text, with what comes behind */

/* A refusal and its row: without the policy, which all have in common, and without how to allow it,
 * which is the longest part. */
static const char *refusal_short(const char *text, struct arena *a)
{
	const char *from = strstr(text, " refuses "), *to = strstr(text, "; to allow it,");

	from = from ? from + strlen(" refuses ") : text;
	return to && to > from ? arena_strndup(a, from, (size_t)(to - from)) : from;
}

int box_refuse_all(const struct box_request *q, struct arena *a, struct error *e)
{
	const struct policy_clamps *all;
	char *program[] = {(char[]){"box"}, NULL};
	struct box_request own = *q;
	struct box_explanation x;
	struct error ignored;
	struct buf b = buf_new(a, 1 << 20);
	const char *one;
	size_t i;

	if (!own.language && !own.args.n) /* of a box that stays */
		own.args = (struct strings){.n = 1, .v = program};
	if (e->class != ERR_CONFIG || q->n_volumes < 2 || !strstr(e->text, " refuses ") ||
	    box_explain(&own, a, &x, &ignored) < 0 || x.held.refusals.n < 2)
		return -1;
	all = &x.held.refusals;
	buf_printf(&b, "policy %s refuses ", x.held.policy.name);
	for (i = 0; i < all->n; i++) {
		one = refusal_short(all->v[i].text, a);
		if (i && b.len + strlen(one) > ERROR_ROOM)
			break;
		buf_printf(&b, "%s%s", i ? "; and " : "", one);
	}
	if (i < all->n)
		buf_printf(&b, "; and %zu more", all->n - i);
	buf_str(&b, ". --explain says of each how an administrator allows it");
	return err_set(e, ERR_CONFIG, "%s", b.data);
}
