#include "worker/wire.h"

#include <errno.h>

#include "base/buf.h"
#include "base/fd.h"
#include "json/rows.h"
#include "sys/unix.h"

/* clang-format off */
static const struct json_word ask_words[] = {
	{"create", WIRE_CREATE},
	{"start", WIRE_START},
	{"wait", WIRE_WAIT},
	{"kill", WIRE_KILL},
	{"remove", WIRE_REMOVE},
	{"letGo", WIRE_LET_GO},
	{NULL, 0},
};

static const struct json_word kind_words[] = {
	{"done", WIRE_DONE},
	{"notYet", WIRE_NOT_YET},
	{"failed", WIRE_FAILED},
	{"note", WIRE_NOTE},
	{NULL, 0},
};

static const struct json_word fd_words[] = {
	{"config", WIRE_CONFIG},
	{"stdin", WIRE_STDIN},
	{"stdout", WIRE_STDOUT},
	{"stderr", WIRE_STDERR},
	{"pidfd", WIRE_PIDFD},
	{"terminal", WIRE_TERMINAL},
	{"listener", WIRE_LISTENER},
	{NULL, 0},
};

static const struct json_row wire_request_rows[] = {
	F(wire_request, "version", U32, version, REQUIRED),
	W(wire_request, "ask", ask, wire_ask, ask_words, REQUIRED),
	F(wire_request, "root", STR, root, OMIT),
	F(wire_request, "id", STR, id, OMIT),
	F(wire_request, "bundle", STR, bundle, OMIT),
	F(wire_request, "policy", STR, policy, OMIT),
	F(wire_request, "noPivot", BOOL, no_pivot, OMIT),
	F(wire_request, "noNewKeyring", BOOL, no_new_keyring, OMIT),
	F(wire_request, "noCgroups", BOOL, no_cgroups, OMIT),
	F(wire_request, "strict", BOOL, strict, OMIT),
	F(wire_request, "takeListener", BOOL, take_listener, OMIT),
	F(wire_request, "survives", BOOL, survives, OMIT),
	F(wire_request, "signal", I32, signal, OMIT),
	F(wire_request, "all", BOOL, all, OMIT),
	L(wire_request, "fds", STRINGS, names, WIRE_FDS_MAX, OMIT),
};
TABLE(wire_request);

static const struct json_row life_end_rows[] = {
	F(life_end, "status", I32, status),
	F(life_end, "signal", I32, signal, OMIT),
	F(life_end, "oom", BOOL, oom, OMIT),
	F(life_end, "cpuNs", U64, cpu_ns),
	F(life_end, "peakMemory", U64, peak_memory),
	F(life_end, "peakPids", U64, peak_pids, OMIT),
	F(life_end, "wallNs", I64, wall_ns),
};
TABLE(life_end);

static const struct json_row wire_answer_rows[] = {
	W(wire_answer, "kind", kind, wire_kind, kind_words, REQUIRED),
	F(wire_answer, "text", STR, text, OMIT),
	F(wire_answer, "class", I32, class, OMIT),
	F(wire_answer, "errno", I32, sys, OMIT),
	F(wire_answer, "pid", I32, pid, OMIT),
	O(wire_answer, "end", end, life_end, OMIT),
	L(wire_answer, "fds", STRINGS, names, WIRE_FDS_MAX, OMIT),
};
TABLE(wire_answer);
/* clang-format on */

static const struct json_limits limits = {
	.bytes = WIRE_TEXT_MAX, .depth = 4, .elements = 32, .string = WIRE_TEXT_MAX};

const char *wire_ask_word(enum wire_ask ask)
{
	return ask_words[ask].word;
}

void wire_fds_close(struct wire_fds *f)
{
	size_t i;

	for (i = 0; i < WIRE_FDS; i++)
		fd_close(&f->v[i]);
}

/* ---- out ---- */

/* The names of those that are there, and their numbers. */
static size_t wire_list(const struct wire_fds *f, struct arena *a, struct strings *ret_names,
			int numbers[WIRE_FDS])
{
	size_t i;

	*ret_names = (struct strings){.v = arena_array(a, WIRE_FDS, char *)};
	for (i = 0; i < WIRE_FDS; i++) {
		if (f->v[i] < 0)
			continue;
		numbers[ret_names->n] = f->v[i];
		ret_names->v[ret_names->n++] = arena_strdup(a, fd_words[i].word);
	}
	return ret_names->n;
}

static int wire_send(int sock, const struct json_table *table, const void *object, const int *fds,
		     size_t n, struct arena *a, struct error *e)
{
	struct buf b = buf_new(a, WIRE_TEXT_MAX);

	json_write(&b, table, object, 0);
	if (b.overflow)
		return err_set(e, ERR_USAGE, "a message of more than %d bytes", WIRE_TEXT_MAX);
	return unix_send_fds(sock, b.data, b.len, fds, n, e);
}

int wire_send_request(int sock, const struct wire_request *r, struct error *e)
{
	struct wire_request copy = *r;
	struct arena a = {0};
	int numbers[WIRE_FDS];
	size_t n = wire_list(&r->fds, &a, &copy.names, numbers);
	int result;

	copy.version = WIRE_VERSION;
	result = wire_send(sock, &wire_request_table, &copy, numbers, n, &a, e);
	arena_free(&a);
	return result;
}

int wire_send_answer(int sock, const struct wire_answer *r, struct error *e)
{
	struct wire_answer copy = *r;
	struct arena a = {0};
	int numbers[WIRE_FDS];
	size_t n = wire_list(&r->fds, &a, &copy.names, numbers);
	int result = wire_send(sock, &wire_answer_table, &copy, numbers, n, &a, e);

	arena_free(&a);
	return result;
}

/* ---- in ---- */

static void wire_close_numbers(const int *fds, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fd_close(&(int){fds[i]});
}

/* Each descriptor under its name, each name once. */
static int wire_sort(const struct strings *names, const int *fds, size_t n, struct wire_fds *ret,
		     struct error *e)
{
	struct wire_fds sorted = WIRE_FDS_NONE;
	size_t i, k;

	if (names->n != n)
		return err_set(e, ERR_CONFIG, "fds: %zu names of %zu descriptors", names->n, n);
	for (i = 0; i < n; i++) {
		for (k = 0; k < WIRE_FDS && !str_eq(fd_words[k].word, names->v[i]); k++)
			;
		if (k == WIRE_FDS || sorted.v[k] >= 0)
			return err_set(e, ERR_CONFIG, "fds[%zu]: unknown, or given twice: %s", i,
				       json_show(names->v[i]).text);
		sorted.v[k] = fds[i];
	}
	*ret = sorted;
	return 0;
}

int wire_read_request(const char *text, size_t len, const int *fds, size_t n, struct arena *a,
		      struct wire_request *ret, struct error *e)
{
	struct wire_request r = {0};

	if (json_read("request", text, len, &wire_request_table, &limits, &r, a, e) < 0 ||
	    wire_sort(&r.names, fds, n, &r.fds, e) < 0) {
		wire_close_numbers(fds, n);
		return -1;
	}
	if (r.version != WIRE_VERSION) {
		wire_close_numbers(fds, n);
		return err_set(e, ERR_HOST, "request: version %u, where %d is understood",
			       r.version, WIRE_VERSION);
	}
	*ret = r;
	return 0;
}

int wire_read_answer(const char *text, size_t len, const int *fds, size_t n, struct arena *a,
		     struct wire_answer *ret, struct error *e)
{
	struct wire_answer r = {0};

	if (json_read("answer", text, len, &wire_answer_table, &limits, &r, a, e) < 0 ||
	    wire_sort(&r.names, fds, n, &r.fds, e) < 0) {
		wire_close_numbers(fds, n);
		return -1;
	}
	/* A class that this program doesn't know is a failure all the same. */
	if (r.class <= ERR_NONE || r.class > ERR_BUG)
		r.class = ERR_SYSTEM;
	*ret = r;
	return 0;
}

static int wire_recv(int sock, char *text, int *fds, size_t *ret_n, size_t *ret_len,
		     struct error *e)
{
	ssize_t len = unix_recv_fds(sock, text, WIRE_TEXT_MAX, fds, WIRE_FDS_MAX, ret_n);

	if (len == 0 || (len < 0 && errno == ECONNRESET)) {
		wire_close_numbers(fds, len == 0 ? *ret_n : 0);
		return 0;
	}
	if (len < 0)
		return err_sys(e, "receive a message");
	*ret_len = (size_t)len;
	return 1;
}

int wire_recv_request(int sock, struct arena *a, struct wire_request *ret, struct error *e)
{
	char *text = arena_alloc(a, WIRE_TEXT_MAX, 1);
	int fds[WIRE_FDS_MAX], got;
	size_t n, len;

	got = wire_recv(sock, text, fds, &n, &len, e);
	if (got <= 0)
		return got;
	return wire_read_request(text, len, fds, n, a, ret, e) < 0 ? -1 : 1;
}

int wire_recv_answer(int sock, struct arena *a, struct wire_answer *ret, struct error *e)
{
	char *text = arena_alloc(a, WIRE_TEXT_MAX, 1);
	int fds[WIRE_FDS_MAX], got;
	size_t n, len;

	got = wire_recv(sock, text, fds, &n, &len, e);
	if (got <= 0)
		return got;
	return wire_read_answer(text, len, fds, n, a, ret, e) < 0 ? -1 : 1;
}
