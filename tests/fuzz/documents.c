#include "documents.h"

enum { WRITTEN_MAX = 8 << 20 };

void *fuzz_read(const char *text, size_t len, const struct json_table *table, struct arena *a)
{
	void *object = arena_alloc(a, 1, table->size);
	struct error e = {0};

	if (json_read("input", text, len, table, &json_default_limits, object, a, &e) == 0)
		return object;
	fuzz_check_error(&e);
	return NULL;
}

void fuzz_write_and_read(const struct json_table *table, const void *object, struct arena *a)
{
	struct buf first = buf_new(a, WRITTEN_MAX), second = buf_new(a, WRITTEN_MAX);
	void *again;

	json_write(&first, table, object, 0);
	DEMAND(!first.overflow);
	again = fuzz_read(first.data, first.len, table, a);
	DEMAND(again);
	json_write(&second, table, again, 0);
	DEMAND(second.len == first.len && memcmp(first.data, second.data, first.len) == 0);
}
