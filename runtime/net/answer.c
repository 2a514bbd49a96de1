/* A host's answers to the one request of a connection. */
#include "net/speech.h"

enum { LINE, HEAD, OVER };

static const char version[] = "HTTP/1.";

/* A line is over. Answers that only say that one is to come (1xx) have a head, and no body. */
static void answer_end_line(struct http_answer *a)
{
	if (a->step == HEAD)
		a->step = a->at ? HEAD : LINE;
	else
		a->step = a->informs ? HEAD : OVER;
	a->at = 0;
}

bool http_answer_find(struct http_answer *a, const char *p, size_t len, size_t *ret_at)
{
	size_t i;

	for (i = 0; i < len && a->step != OVER; i++) {
		if (p[i] == '\n' && (a->step == HEAD || a->at >= sizeof(version) - 1)) {
			answer_end_line(a);
			continue;
		}
		/* The end of a shorter line is none of these either. */
		if (a->step == LINE && a->at < sizeof(version) - 1 && p[i] != version[a->at])
			a->step = OVER;
		else if (a->step == LINE && a->at == sizeof(version) + 1)
			a->informs = p[i] == '1';
		a->at += p[i] != '\r';
		if (a->step == OVER)
			return false;
	}
	*ret_at = i;
	return a->step == OVER && i && p[i - 1] == '\n';
}
