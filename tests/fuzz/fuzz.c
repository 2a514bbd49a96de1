/* What all targets share: the copy of the input, checks, numbers from bytes. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_arena_reset(void);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	fuzz_one(text, size, &a);
	free(text);
	fuzz_arena_reset();
	return 0;
}

void fuzz_check_error(const struct error *e)
{
	DEMAND(e->class != ERR_NONE && e->text[0]);
	DEMAND(strnlen(e->text, sizeof(e->text)) < sizeof(e->text) && !strchr(e->text, '\n'));
}

uint32_t bytes_take(struct bytes *b, size_t n)
{
	uint32_t v = 0;

	for (; n && b->left; n--, b->left--)
		v = v << 8 | (unsigned char)*b->p++;
	return v;
}

char *bytes_string(struct bytes *b, struct arena *a)
{
	size_t len = 0;
	char *s;

	while (len < b->left && b->p[len] && b->p[len] != '\n')
		len++;
	s = arena_strndup(a, b->p, len);
	b->p += len + (len < b->left);
	b->left -= len + (len < b->left);
	return s;
}
