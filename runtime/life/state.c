#include "base/fd.h"
#include "life/life.h"

int life_state(const char *root, const char *id, struct arena *a, struct buf *b, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	enum status status;
	struct record r;

	if (life_load(root, id, STORE_LOOK, a, &s, &r, e) < 0 || life_status(&s, &r, &status, NULL, e) < 0)
		return -1;
	record_write_state(&r, status, status == STATUS_STOPPED ? 0 : r.pid, a, b, true);
	buf_char(b, '\n');
	return 0;
}
