#include "base/fd.h"
#include "life/internal.h"

int life_state(const char *root, const char *id, struct arena *a, struct life_view *ret,
	       struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct life_view v;

	if (life_load(root, id, STORE_LOOK, a, &s, &v.record, e) < 0 ||
	    life_status(&s, &v.record, &v.status, NULL, e) < 0)
		return -1;
	v.pid = v.status == STATUS_STOPPED ? 0 : v.record.pid;
	*ret = v;
	return 0;
}

/* Shown all the same: `delete --force` is waiting for its id. */
static struct life_view list_unreadable(const char *id, struct arena *a)
{
	return (struct life_view){
		.status = STATUS_STOPPED,
		.record = {.id = arena_strdup(a, id),
			   .bundle = arena_strdup(a, "(record is damaged)"),
			   .rootfs = arena_strdup(a, ""),
			   .created = arena_strdup(a, "-")},
	};
}

static int list_look_at(int root_dfd, const char *id, life_each *each, void *context,
			const struct noter *noter, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct life_view v = {0};
	struct arena a = {0};
	struct error why;
	int result = 0;
	bool found = true;

	if (store_open_below(root_dfd, id, &s, &why) < 0)
		return 0; /* deleted meanwhile */
	if (store_read(&s, &a, &v.record, &found, &why) < 0) {
		note(noter, "%s", why.text);
		v = list_unreadable(id, &a);
		found = true;
	} else if (found) {
		result = life_status(&s, &v.record, &v.status, NULL, e);
		v.pid = v.status == STATUS_STOPPED ? 0 : v.record.pid;
	}
	if (result == 0 && found)
		each(context, &v, &a);
	arena_free(&a);
	return result;
}

int life_ids(const char *root, struct arena *a, struct strings *ret, struct error *e)
{
	return store_list(root, a, ret, e);
}

/* Records are large, and there may be thousands: each is let go when it has been looked at. */
int life_list(const char *root, life_each *each, void *context, const struct noter *noter,
	      struct arena *a, struct error *e)
{
	autoclose int root_dfd = -1;
	struct strings ids;
	int result = 0;
	size_t i;

	if (life_ids(root, a, &ids, e) < 0)
		return -1;
	if (ids.n && (root_dfd = store_open_root(root, false, e)) < 0)
		return -1;
	for (i = 0; i < ids.n; i++)
		if (list_look_at(root_dfd, ids.v[i], each, context, noter, e) < 0)
			result = -1;
	return result;
}
