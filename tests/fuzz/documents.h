/* For targets that read a document by rows. */
#pragma once

#include "fuzz.h"
#include "json/json.h"

/* Reads text by table into a fresh struct, which is what read holds; NULL if it was refused. */
void *fuzz_read(const char *text, size_t len, const struct json_table *table, struct arena *a);

/* What was read and written can be read again, and is then written the same. */
void fuzz_write_and_read(const struct json_table *table, const void *object, struct arena *a);
