#include "base/fd.h"
#include "life/life.h"

int life_state(const char *root, const char *id, struct arena *a, struct buf *b, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	enum status status;
	struct record r;
	bool found;

	if (store_check_id(id, e) < 0 || store_open(root, id, false, &s, e) < 0 ||
	    store_read(&s, a, &r, &found, e) < 0)
		return -1;
	if (!found)
		return err_set(e, ERR_NOT_FOUND, "container \"%s\" does not exist", id);
	status = store_status(&s, &r, NULL);
	record_write_state(&r, status, status == STATUS_STOPPED ? 0 : r.pid, a, b, true);
	buf_char(b, '\n');
	return 0;
}
