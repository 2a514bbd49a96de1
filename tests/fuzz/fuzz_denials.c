/* What a filter asks about: numbers and addresses of the program's, against a judge that may say
 * anything. Denials stay few, clean and JSON. */
#include <unistd.h>

#include "fuzz.h"
/* What is static there. */
#include "box/denials.c"

static const struct json_row top_rows[] = {{.key = NULL}};
static const struct json_table top = {.name = "denials", .size = 1, .rows = top_rows, .count = 0};

static struct seccomp_notif question(struct bytes *b, const char *memory, size_t size)
{
	struct seccomp_notif ask = {.id = bytes_take(b, 4)};
	size_t i;

	/* It asks about memory of ours, or of nobody. */
	ask.pid = bytes_choose(b, 4) ? (uint32_t)getpid() : 0;
	ask.data.arch = bytes_choose(b, 8) ? syscall_arch_native()->token : bytes_take(b, 4);
	ask.data.nr = bytes_choose(b, 2) ? (int)bytes_take(b, 2) % 480 : (int)bytes_take(b, 4);
	for (i = 0; i < 6; i++)
		switch (bytes_choose(b, 4)) {
		case 0:
			ask.data.args[i] = (uintptr_t)memory + bytes_take(b, 2) % (size + 1);
			break;
		case 1:
			ask.data.args[i] = (uint64_t)bytes_take(b, 4) << 32 | bytes_take(b, 4);
			break;
		case 2:
			ask.data.args[i] = (uint64_t)(int64_t)AT_FDCWD;
			break;
		default:
			ask.data.args[i] = bytes_take(b, 1);
		}
	return ask;
}

static void check(struct denials *d, struct arena *a)
{
	static const struct json_limits limits = {
		.bytes = 1 << 20, .depth = 8, .elements = 10000, .string = 1 << 16};
	struct box_result r = {0};
	struct buf out = buf_new(a, 1 << 20);
	struct error e = {0};
	char ignored[1];
	const char *p;
	size_t i;

	denials_tell(d, &r);
	DEMAND(r.n_denials <= DENIALS_MAX);
	for (i = 0; i < r.n_denials; i++) {
		DEMAND(r.denials[i].name && r.denials[i].kind && r.denials[i].count);
		for (p = r.denials[i].target ? r.denials[i].target : ""; *p; p++)
			DEMAND((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
	r.denials_known = true;
	buf_str(&out, "{\"d\":");
	box_write_denials(&r, &out);
	buf_str(&out, "}");
	DEMAND(!out.overflow);
	DEMAND(json_read("denials", out.data, out.len, &top, &limits, ignored, a, &e) == 0);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	static const uint32_t actions[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM,
					   SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO | 4095,
					   SECCOMP_RET_LOG, SECCOMP_RET_TRACE};
	struct bytes b = {text, len};
	struct box_request q;
	struct sock_filter says = {.code = BPF_RET | BPF_K};
	const struct seccomp_program judge = {.filter = &says, .len = 1};
	char *memory = arena_strdup(a, text);
	struct denials d;

	box_request_default(&q);
	q.pure = bytes_choose(&b, 2);
	says.k = actions[bytes_choose(&b, ARRAY_SIZE(actions))];
	denials_open(&d, &q, &judge, -1, a);
	d.reaper = bytes_choose(&b, 2) ? getpid() : 1;
	while (b.left) {
		const struct seccomp_notif ask = question(&b, memory, strlen(memory));

		answer_one(&d, &ask);
		arena_free(&d.scratch);
	}
	check(&d, a);
}
