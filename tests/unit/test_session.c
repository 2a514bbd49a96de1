/* box/session_frame.h: what is a frame, and what ends a session. */
#include "box/session_frame.h"
#include "unit.h"

static struct arena memory;
static struct session_frames frames;

static int feed(uint32_t id, const char *text)
{
	struct error e = {0};
	int result;

	session_frames_begin(&frames, id, &memory);
	result = session_frames_feed(&frames, text, strlen(text), &e);
	session_frames_end(&frames);
	return result;
}

TEST(a_call_brings_its_value_figures_and_end)
{
	struct buf b = buf_new(&memory, 4096);

	CHECK(feed(3, "{\"t\":\"display\",\"id\":3,\"data\":{\"image/png\":\"AAA=\"}}\n"
		      "{\"t\":\"result\",\"id\":3,\"data\":{\"text/plain\":\"4\\\"2\"}}\n"
		      "{\"t\":\"done\",\"id\":3,\"ok\":false,\"exit\":259,\"name\":\"E\"}\n") == 0);
	CHECK(frames.is_done && !frames.ok && frames.exit_code == 3);
	session_frames_write(&frames, &b);
	CHECK_STR(b.data, "\"result\":{\"text/plain\":\"4\\\"2\"},"
			  "\"displays\":[{\"image/png\":\"AAA=\"}],"
			  "\"exception\":{\"name\":\"E\",\"value\":\"\",\"traceback\":\"\"}");
}

TEST(what_is_no_frame_of_the_call_is_refused)
{
	static const char *const bad[] = {
		"\n",
		"{}\n",
		"{\"t\":\"done\",\"id\":2,\"ok\":true}\n",
		"{\"t\":\"done\",\"id\":1}\n",
		"{\"t\":\"done\",\"ok\":true}\n",
		"{\"t\":\"what\",\"id\":1}\n",
		"{\"t\":\"done\",\"id\":1,\"ok\":true,\"more\":1}\n",
		"{\"t\":\"done\",\"id\":1,\"ok\":true}\n{",
		"{\"t\":\"done\",\"id\":1,\"ok\":true}\n{\"t\":\"done\",\"id\":1,\"ok\":true}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{}}\n{\"t\":\"result\",\"id\":1,\"data\":{}}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{\"image/png\":\"AA=A\"}}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{\"image/png\":\"A===\"}}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{\"image/png\":\"AAAAA\"}}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{\"plain\":\"\"}}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{\"Text/plain\":\"\"}}\n",
		"{\"t\":\"result\",\"id\":1,\"data\":{\"a/b\":{}}}\n",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(feed(1, bad[i]) < 0);
	/* Not whole yet. */
	CHECK(feed(1, "{\"t\":\"done\",\"id\":1,\"ok\":true}") == 0);
	CHECK(!frames.is_done);
}

TEST(a_value_may_have_no_kinds)
{
	CHECK(feed(1, "{\"t\":\"display\",\"id\":1}\n"
		      "{\"t\":\"done\",\"id\":1,\"ok\":true}\n") == 0);
	CHECK(frames.n_displays == 1 && frames.displays[0].n == 0);
}

TEST(there_are_bounds)
{
	static const char display[] = "{\"t\":\"display\",\"id\":1,\"data\":{}}\n";
	struct error e = {0};
	char *text = arena_alloc(&memory, 1, 1 << 20);
	int i;

	memset(text, 'x', 1 << 20);
	session_frames_begin(&frames, 1, &memory);
	for (i = 0; i < 100 && session_frames_feed(&frames, text, 1 << 20, &e) == 0; i++)
		;
	session_frames_end(&frames);
	CHECK(i <= SESSION_FRAME_MAX >> 20);
	session_frames_begin(&frames, 1, &memory);
	for (i = 0; i < 100; i++)
		if (session_frames_feed(&frames, display, strlen(display), &e) < 0)
			break;
	session_frames_end(&frames);
	CHECK(i < SESSION_DISPLAYS_MAX + 1);
}

int main(void)
{
	return unit_main();
}
