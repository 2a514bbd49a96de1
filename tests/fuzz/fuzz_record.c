/* state.json, and the state that is made from it. */
#include "documents.h"
#include "state/record.h"

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct record *r = fuzz_read(text, len, &record_table, a);
	struct buf b = buf_new(a, 16 << 20);
	enum status status;

	if (!r)
		return;
	fuzz_write_and_read(&record_table, r, a);
	record_write_process_state(r, r->pid, a, &b);
	DEMAND(!b.overflow && strlen(b.data) == b.len);
	for (status = STATUS_CREATING; status <= STATUS_PAUSED; status++)
		DEMAND(strstr(record_state_text(r, status, r->pid, a), status_word(status)));
}
