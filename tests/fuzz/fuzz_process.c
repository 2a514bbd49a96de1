/* exec's process document. */
#include "documents.h"
#include "oci/oci.h"

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct oci_process *p = fuzz_read(text, len, &oci_process_table, a);
	struct error e = {0};

	if (!p)
		return;
	fuzz_write_and_read(&oci_process_table, p, a);
	if (oci_process_validate(p, "process.", &e) < 0)
		fuzz_check_error(&e);
}
