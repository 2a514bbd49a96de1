/* What a server and its worker say to each other. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "worker/wire.h"
#include "worker/worker.h"

static int socks[2] = {-1, -1};

static void open_socks(void)
{
	struct error e;

	if (socks[0] < 0)
		CHECK(msg_pair(socks, &e) == 0);
}

TEST(a_request_arrives_as_it_was_with_its_descriptors)
{
	struct arena a = {0};
	struct wire_request r = {.ask = WIRE_CREATE,
				 .id = arena_strdup(&a, "box"),
				 .strict = true,
				 .fds = WIRE_FDS_NONE},
			    got;
	struct error e = {0};

	open_socks();
	r.fds.v[WIRE_CONFIG] = r.fds.v[WIRE_STDERR] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_INT(wire_send_request(socks[0], &r, &e), 0);
	CHECK_INT(wire_recv_request(socks[1], &a, &got, &e), 1);
	CHECK_INT(got.ask, WIRE_CREATE);
	CHECK_STR(got.id, "box");
	CHECK(got.strict && !got.survives && !got.root);
	CHECK(got.fds.v[WIRE_CONFIG] >= 0 && got.fds.v[WIRE_STDERR] >= 0 &&
	      got.fds.v[WIRE_STDIN] < 0);
	CHECK(fcntl(got.fds.v[WIRE_CONFIG], F_GETFD) & FD_CLOEXEC);
	wire_fds_close(&got.fds);
	close(r.fds.v[WIRE_CONFIG]);
	arena_free(&a);
}

TEST(an_answer_arrives_whatever_its_text_is)
{
	struct arena a = {0};
	struct wire_answer r = {.kind = WIRE_FAILED,
				.class = ERR_HOOK,
				.sys = 5,
				.text = arena_strdup(&a, "a\n\"b\" \xff"),
				.fds = WIRE_FDS_NONE},
			   got;
	struct error e = {0};

	open_socks();
	CHECK_INT(wire_send_answer(socks[1], &r, &e), 0);
	CHECK_INT(wire_recv_answer(socks[0], &a, &got, &e), 1);
	CHECK_INT(got.kind, WIRE_FAILED);
	CHECK_INT(got.class, ERR_HOOK);
	CHECK_INT(got.sys, 5);
	CHECK_STR(got.text, "a\n\"b\" \xef\xbf\xbd");
	arena_free(&a);
}

TEST(what_is_not_understood_is_refused_and_its_descriptors_closed)
{
	static const char *const wrong[] = {
		"",
		"{}",
		"{\"version\":1,\"ask\":\"dance\",\"fds\":[\"config\"]}",
		"{\"ask\":\"start\",\"fds\":[\"config\"]}",
		"{\"version\":2,\"ask\":\"start\",\"fds\":[\"config\"]}",
		"{\"version\":1,\"ask\":\"start\"}",
		"{\"version\":1,\"ask\":\"start\",\"fds\":[\"what\"]}",
		"{\"version\":1,\"ask\":\"start\",\"fds\":[\"config\",\"config\"]}",
		"{\"version\":1,\"ask\":\"start\",\"fds\":[\"config\"]} ,",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int fds[] = {open("/dev/null", O_RDONLY | O_CLOEXEC)};
		struct wire_request got;
		struct arena a = {0};
		struct error e = {0};

		if (wire_read_request(wrong[i], strlen(wrong[i]), fds, 1, &a, &got, &e) == 0)
			FAIL("understood: %s", wrong[i]);
		CHECK(e.text[0]);
		CHECK(fcntl(fds[0], F_GETFD) < 0);
		arena_free(&a);
	}
}

TEST(a_class_that_nobody_knows_is_a_failure_all_the_same)
{
	static const char text[] = "{\"kind\":\"failed\",\"class\":4711}";
	struct wire_answer got;
	struct arena a = {0};
	struct error e = {0};

	CHECK_INT(wire_read_answer(text, sizeof(text) - 1, NULL, 0, &a, &got, &e), 0);
	CHECK_INT(got.class, ERR_SYSTEM);
	arena_free(&a);
}

TEST(an_answer_that_comes_too_late_is_nobodys)
{
	struct wire_answer late = {.kind = WIRE_DONE, .fds = WIRE_FDS_NONE};
	struct worker w = WORKER_NONE;
	struct error e = {0};
	int pair[2];

	CHECK(msg_pair(pair, &e) == 0);
	w.sock = pair[0];
	CHECK_INT(worker_start(&w, loop_now() + 20 * LOOP_MS, NULL, &e), -1);
	CHECK(strstr(e.text, "in time"));
	(void)!wire_send_answer(pair[1], &late, &e);
	CHECK_INT(worker_kill(&w, 9, false, loop_now() + 20 * LOOP_MS, &e), -1);
	CHECK(strstr(e.text, "given up"));
	worker_close(&w);
	fd_close(&pair[1]);
}

TEST(a_program_that_is_no_worker_is_an_error)
{
	struct worker_options o = {
		.program = "/bin/true", .root = "/x", .id = "box", .bundle = "/"};
	struct worker_made made;
	struct worker w;
	struct error e = {0};

	CHECK(worker_create(&o, INT64_MAX, &w, &made, &e) < 0);
	CHECK_STR(
		e.text,
		"the worker of container \"box\" has ended: what is left of it is for delete --force");
	o.program = "/no/program";
	CHECK(worker_create(&o, INT64_MAX, &w, &made, &e) < 0);
	CHECK_STR(e.text, "start the worker /no/program: no such file or directory");
}

int main(void)
{
	return unit_main();
}
