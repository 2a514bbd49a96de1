/* What a box says first, and packets of names: the parsers of sbxrun-net. */
#include "base/str.h"
#include "net/dns.h"
#include "net/speech.h"
#include "unit.h"

/* ---- HTTP ---- */

static struct http_request request;
static char out[SPEECH_HEAD_MAX + 1024];

static enum speech http(const char *text)
{
	return http_read(text, strlen(text), &request);
}

static const char *written(const char *text)
{
	size_t len;

	CHECK(http(text) == SPEECH_DONE);
	len = http_write(&request, text, out, sizeof(out) - 1);
	CHECK(len);
	out[len] = '\0';
	return out;
}

TEST(a_proxy_is_asked_in_two_ways)
{
	CHECK(http("CONNECT a.org:443 HTTP/1.1\r\n\r\n") == SPEECH_DONE);
	CHECK(request.form == HTTP_CONNECT && request.port == 443);
	CHECK_STR(request.host.name, "a.org");
	CHECK(http("CONNECT [2600::1]:443 HTTP/1.1\r\nHost: whatever\r\n\r\n") == SPEECH_DONE);
	CHECK(request.host.is_address);
	CHECK(http("GET http://A.org/x?y HTTP/1.1\r\nHost: a.org\r\n\r\n") == SPEECH_DONE);
	CHECK(request.form == HTTP_ABSOLUTE && request.port == 80);
	CHECK_STR(request.host.name, "a.org");
	CHECK(http("GET /x HTTP/1.1\r\nHost: a.org\r\n\r\n") == SPEECH_DONE);
	CHECK(request.form == HTTP_ORIGIN);
}

TEST(every_beginning_of_a_request_waits_for_more)
{
	static const char text[] =
		"POST http://a.org:8080/x HTTP/1.1\r\nHost: a.org:8080\r\nContent-Length: 3\r\n\r\n";
	size_t len;

	for (len = 0; len < sizeof(text) - 1; len++)
		if (http_read(text, len, &request) != SPEECH_MORE)
			FAIL("after %zu bytes", len);
	CHECK(http(text) == SPEECH_DONE);
	CHECK_INT(request.length, 3);
	CHECK_INT(request.port, 8080);
}

TEST(requests_that_two_would_read_differently_are_none)
{
	static const char *const bad[] = {
		"GET http://a.org/ HTTP/1.1\r\nHost: b.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost: a.org:81\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\nHost: b.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\nhost: a.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost : b.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\n Host: b.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nX: y\r\n z: w\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\nHost: a.org\n\n",
		"GET http://a.org/ HTTP/1.1\r\nX: a\nHost: b.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nX: a\rHost: b.org\r\n\r\n",
		"GET http://user@a.org/ HTTP/1.1\r\n\r\n",
		"GET http://a.org@b.org/ HTTP/1.1\r\n\r\n",
		"GET http://a.org\\@b.org/ HTTP/1.1\r\n\r\n",
		"GET https://a.org/ HTTP/1.1\r\n\r\n",
		"GET ftp://a.org/ HTTP/1.1\r\n\r\n",
		"GET http:///x HTTP/1.1\r\n\r\n",
		"GET http://127.1/ HTTP/1.1\r\n\r\n",
		"GET  http://a.org/ HTTP/1.1\r\n\r\n",
		"GET http://a.org/ HTTP/1.1 \r\n\r\n",
		"GET http://a.org/ x HTTP/1.1\r\n\r\n",
		"GET\thttp://a.org/\tHTTP/1.1\r\n\r\n",
		"GET http://a.org/ HTTP/2.0\r\n\r\n",
		"GET http://a.org/ http/1.1\r\n\r\n",
		"GET http://a.org/ HTTP/1.1x\r\n\r\n",
		"\r\nGET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
		" GET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET /\x01 HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n",
		"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
		"POST http://a.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
		"CONNECT a.org HTTP/1.1\r\n\r\n",
		"CONNECT http://a.org:443 HTTP/1.1\r\n\r\n",
		"CONNECT a.org:443/x HTTP/1.1\r\n\r\n",
		"CONNECT a.org:0 HTTP/1.1\r\n\r\n",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (http(bad[i]) != SPEECH_BAD)
			FAIL("%zu: %s", i, bad[i]);
	CHECK(http_read("GET http://a.org\0.b.org/ HTTP/1.1\r\n\r\n", 37, &request) != SPEECH_DONE);
}

TEST(what_is_no_http_is_none)
{
	static const char *const other[] = {"SSH-2.0-x\r\n",  "\x16\x03\x01",
					    "HELO there\r\n", "*1\r\n$4\r\nPING\r\n",
					    "{}\n",	      "\x80\x2e\x01"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other); i++)
		if (http(other[i]) != SPEECH_OTHER)
			FAIL("%s", other[i]);
	CHECK(http_read("AMQP\0\0\x09\x01", 8, &request) == SPEECH_OTHER);
	/* Those that wait for an answer before they end a line are not kept waiting. */
	CHECK(http_read("SSH-2", 5, &request) == SPEECH_OTHER);
	CHECK(http_read("0033git-upload-pack /x\0host=y\0", 31, &request) == SPEECH_OTHER);
	CHECK(http_read("git /x\0host=y\0", 15, &request) == SPEECH_OTHER);
	CHECK(http_read("\0\0\0\x08\x04\xd2", 6, &request) == SPEECH_OTHER);
}

static bool watched(const char *text, size_t len, size_t piece)
{
	struct http_watch w = {0};
	size_t at, n;

	for (at = 0; at < len; at += n) {
		n = piece < len - at ? piece : len - at;
		if (!http_watch(&w, text + at, n))
			return false;
	}
	return true;
}

#define TEXT(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
TEST(requests_that_begin_like_none_are_seen)
{
	static const struct {
		const char *text;
		size_t len;
	} requests[] =
		{
			TEXT("G3T / HTTP/1.1\r\n"),
			TEXT("GET! / HTTP/1.1\r\n"),
			TEXT("\x0cGET / HTTP/1.1\r\n"),
			TEXT("GET\x0c/ HTTP/1.1\r\n"),
			TEXT("GET /\0 HTTP/1.1\r\n"),
			TEXT("GET\xa0/\0 http/1.1\r\n"),
			TEXT("\r\n\x0b\n\x85GET / HTTP/1"),
			TEXT("G3T /HTHHTTP/1.1\r\n"),
			TEXT("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n"),
		},
	  others[] = {
		  TEXT("SSH-2.0-x\r\nGET / HTTP/1.1\r\n"),
		  TEXT("GET /HTTP\n/"),
		  TEXT("AMQP\0\0\x09\x01HTTP/"),
		  TEXT("\0\0\0\x08HTTP/1.1"),
		  TEXT("\xb5\0\0\1 HTTP/1.1"),
		  TEXT("git /x\0host=y\0"),
	  };
	size_t i, piece;

	for (piece = 1; piece < 60; piece++) {
		for (i = 0; i < ARRAY_SIZE(requests); i++)
			if (watched(requests[i].text, requests[i].len, piece))
				FAIL("%zu in pieces of %zu", i, piece);
		for (i = 0; i < ARRAY_SIZE(others); i++)
			if (!watched(others[i].text, others[i].len, piece))
				FAIL("%zu in pieces of %zu", i, piece);
	}
}

TEST(a_head_for_the_host_has_nothing_of_ours)
{
	CHECK_STR(
		written("GET http://A.org/x?y=1 HTTP/1.1\r\nProxy-Connection: keep-alive\r\nHost: a.ORG\r\nconnection: X, Upgrade\r\n"
			"Proxy-Authorization: secret\r\nUpgrade: h2c\r\nX: y\r\n\r\n"),
		"GET /x?y=1 HTTP/1.1\r\nHost: a.org\r\nConnection: close\r\nX: y\r\n\r\n");
	CHECK_STR(written("GET http://a.org:8080?x HTTP/1.0\r\n\r\n"),
		  "GET /?x HTTP/1.0\r\nHost: a.org:8080\r\nConnection: close\r\n\r\n");
	CHECK_STR(written("GET http://[2600::1]:81 HTTP/1.1\r\n\r\n"),
		  "GET / HTTP/1.1\r\nHost: [2600::1]:81\r\nConnection: close\r\n\r\n");
	/* Of the last head, which the request points into; it has no room. */
	CHECK(http_write(&request, "GET http://[2600::1]:81 HTTP/1.1\r\n\r\n", out, 10) == 0);
}

TEST(a_head_has_its_most)
{
	static char text[2 * SPEECH_HEAD_MAX];

	memset(text, 'a', sizeof(text));
	memcpy(text, "GET http://a.org/", 17);
	CHECK(http_read(text, SPEECH_HEAD_MAX - 1, &request) == SPEECH_MORE);
	CHECK(http_read(text, SPEECH_HEAD_MAX, &request) == SPEECH_BAD);
	memcpy(text, "GET http://a.org/ HTTP/1.1\r\nX: ", 31);
	CHECK(http_read(text, SPEECH_HEAD_MAX, &request) == SPEECH_BAD);
	memcpy(text + sizeof(text) - 4, "\r\n\r\n", 4);
	CHECK(http_read(text, sizeof(text), &request) == SPEECH_BAD);
}

static size_t body(const char *head, const char *text, size_t piece, struct http_body *b)
{
	size_t at = 0, len = strlen(text), n, taken = 0;

	CHECK(http(head) == SPEECH_DONE);
	http_body_begin(b, &request);
	for (; at < len && !b->bad && !http_body_is_over(b); at += n) {
		n = piece < len - at ? piece : len - at;
		taken += http_body_take(b, text + at, n);
	}
	return taken;
}

TEST(what_follows_a_body_is_not_part_of_it)
{
	static const char sized[] = "POST http://a.org/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n";
	static const char chunked[] =
		"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
	static const char plain[] = "GET http://a.org/ HTTP/1.1\r\n\r\n";
	static const char next[] =
		"5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: b.org\r\n\r\n";
	struct http_body b;
	size_t piece;

	for (piece = 1; piece < 60; piece++) {
		CHECK_INT(body(sized, "helloGET / HTTP/1.1\r\n", piece, &b), 5);
		CHECK(http_body_is_over(&b));
		CHECK_INT(body(chunked, next, piece, &b), 10 + 10 + 5);
		CHECK(http_body_is_over(&b));
		CHECK_INT(body(plain, "GET /", piece, &b), 0);
		CHECK(http_body_is_over(&b));
	}
}

TEST(chunks_that_are_none_end_it)
{
	static const char chunked[] =
		"POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
	static const char *const bad[] = {"\r\n",	  "g\r\n",
					  "5\nhello",	  " 5\r\nhello",
					  "-1\r\n",	  "1\r\nxy",
					  "1\r\nx\n",	  "0\r\nTrailer: x\r\n\r\n",
					  "0\r\n\n",	  "10000000000000000\r\n",
					  "0x1\r\nx\r\n", "1\rx"};
	struct http_body b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		body(chunked, bad[i], 100, &b);
		if (!b.bad)
			FAIL("%zu: %s", i, bad[i]);
	}
}

/* ---- answers ---- */

/* Where a further header goes, however the answer is cut; -1: nowhere. */
static long place(const char *text)
{
	const size_t len = strlen(text);
	size_t piece, at, from, found = len + 1;

	for (piece = len + 1; piece > 0; piece--) {
		struct http_answer a = {0};
		size_t here = len + 1;

		for (from = 0; from < len; from += piece)
			if (http_answer_find(&a, text + from,
					     len - from < piece ? len - from : piece, &at)) {
				CHECK(here == len + 1);
				here = from + at;
			}
		CHECK(piece == len + 1 || here == found);
		found = here;
	}
	return found > len ? -1 : (long)found;
}

TEST(the_last_answer_has_a_place_for_a_header)
{
	CHECK_INT(place("HTTP/1.1 200 OK\r\nA: b\r\n\r\nHTTP/1.1 200\r\n"), 17);
	CHECK_INT(place("HTTP/1.0 404\n\n"), 13);
	CHECK_INT(place("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), 25 + 17);
	CHECK_INT(place("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 C\n\nHTTP/1.1 500 \r\n"),
		  31 + 16 + 15);
	CHECK_INT(place(""), -1);
	CHECK_INT(place("HTTP/1.1 200 OK"), -1);
	CHECK_INT(place("HTTP/1.1 100 Continue\r\n\r\n"), -1);
	CHECK_INT(place("HTTP/2 200 OK\r\n\r\n"), -1);
	CHECK_INT(place("hello\nHTTP/1.1 200 OK\r\n\r\n"), -1);
	CHECK_INT(place("\r\nHTTP/1.1 200 OK\r\n\r\n"), -1);
	CHECK_INT(place("HT\nA: b\n\n"), -1);
	CHECK_INT(place("HTTP/1\nA: b\n\n"), -1);
}

/* ---- SOCKS ---- */

#define SOCKS(text, greeted) socks_read(text, sizeof(text) - 1, greeted, &socks)
static struct socks_request socks;

TEST(socks_in_its_versions)
{
	CHECK(SOCKS("\5\2\2\0", false) == SPEECH_DONE && socks.greets && socks.knows_none);
	CHECK(SOCKS("\5\1\2", false) == SPEECH_DONE && socks.greets && !socks.knows_none);
	CHECK(SOCKS("\5\1\0\3\5a.org\1\xbb", true) == SPEECH_DONE && socks.has_host &&
	      socks.connects);
	CHECK_STR(socks.host.name, "a.org");
	CHECK_INT(socks.port, 443);
	CHECK(SOCKS("\5\1\0\1\13\0\0\1\0\120", true) == SPEECH_DONE);
	CHECK_STR(socks.host.name, "11.0.0.1");
	CHECK(SOCKS("\4\1\0\120\13\0\0\1me\0", false) == SPEECH_DONE);
	CHECK_STR(socks.host.name, "11.0.0.1");
	CHECK(SOCKS("\4\1\0\120\0\0\0\1me\0a.org\0", false) == SPEECH_DONE);
	CHECK_STR(socks.host.name, "a.org");
	CHECK(SOCKS("\5\3\0\1\13\0\0\1\0\120", true) == SPEECH_DONE && !socks.connects);
	CHECK(SOCKS("\6\1\0", false) == SPEECH_BAD);
	CHECK(SOCKS("\5\1\1\1", true) == SPEECH_MORE);
	CHECK(SOCKS("\5\1\0\2\1", true) == SPEECH_BAD);
}

TEST(a_zero_in_a_name_of_socks_ends_it_for_nobody)
{
	CHECK(SOCKS("\5\1\0\3\x14"
		    "evil.com\0.google.com\1\xbb",
		    true) == SPEECH_DONE &&
	      !socks.has_host);
	CHECK(SOCKS("\5\1\0\3\0\1\xbb", true) == SPEECH_DONE && !socks.has_host);
	CHECK(SOCKS("\5\1\0\3\5"
		    "127.1\1\xbb",
		    true) == SPEECH_DONE &&
	      !socks.has_host);
	/* In version 4a the zero is the end, for all who read it. */
	CHECK(SOCKS("\4\1\0\120\0\0\0\1\0evil.com\0.google.com\0", false) == SPEECH_DONE);
	CHECK_STR(socks.host.name, "evil.com");
}

TEST(every_beginning_of_socks_waits_for_more)
{
	static const char five[] = "\5\1\0\3\5a.org\1\xbb", four[] = "\4\1\0\120\0\0\0\1me\0a.org";
	size_t len;

	for (len = 0; len < sizeof(five) - 1; len++)
		CHECK(socks_read(five, len, true, &socks) == SPEECH_MORE);
	for (len = 0; len < sizeof(four) - 1; len++)
		CHECK(socks_read(four, len, false, &socks) == SPEECH_MORE);
}

/* ---- TLS ---- */

static char hello[1024];
static struct tls_hello told;

static size_t put(size_t at, const char *p, size_t len)
{
	memcpy(hello + at, p, len);
	return at + len;
}

/* A first message with that many extensions of the name; its length. */
static size_t make_hello(const char *name, size_t len, int times)
{
	static const char before[] = "\x16\x03\x01\0\0\x01\0\0\0\x03\x03";
	size_t at = put(0, before, sizeof(before) - 1), extensions;
	int i;

	memset(hello + at, 7, 32);
	at = put(at + 32, "\0\0\2\x13\x01\1\0\0\0", 9);
	extensions = at;
	at = put(at, "\0\x17\0\0", 4);
	for (i = 0; i < times; i++) {
		const char head[] = {0, 0, 0, (char)(len + 5), 0, (char)(len + 3), 0, 0, (char)len};

		at = put(at, head, sizeof(head));
		at = put(at, name, len);
	}
	hello[extensions - 2] = (char)((at - extensions) >> 8);
	hello[extensions - 1] = (char)(at - extensions);
	hello[7] = (char)((at - 9) >> 8);
	hello[8] = (char)(at - 9);
	hello[3] = (char)((at - 5) >> 8);
	hello[4] = (char)(at - 5);
	return at;
}

TEST(a_hello_names_its_host)
{
	size_t len = make_hello("A.org", 5, 1), i;

	for (i = 0; i < len; i++)
		CHECK(tls_read(hello, i, &told) == SPEECH_MORE);
	CHECK(tls_read(hello, len, &told) == SPEECH_DONE && told.names && told.is_host);
	CHECK_STR(told.host.name, "a.org");
	len = make_hello("", 0, 0);
	CHECK(tls_read(hello, len, &told) == SPEECH_DONE && !told.names);
	len = make_hello("a\0b", 3, 1);
	CHECK(tls_read(hello, len, &told) == SPEECH_DONE && told.names && !told.is_host);
	CHECK(tls_read("GET / HTTP/1.1\r\n", 16, &told) == SPEECH_OTHER);
}

TEST(a_hello_that_hides_its_host_is_none)
{
	size_t len = make_hello("a.org", 5, 2), i;

	CHECK(tls_read(hello, len, &told) == SPEECH_BAD);
	len = make_hello("a.org", 5, 1);
	hello[4] = (char)(hello[4] - 1); /* a message in two pieces */
	CHECK(tls_read(hello, len, &told) == SPEECH_BAD);
	len = make_hello("a.org", 5, 1);
	hello[5] = 2;
	CHECK(tls_read(hello, len, &told) == SPEECH_BAD);
	for (i = 9; i < len; i++) { /* whatever is changed, nothing is read past its end */
		make_hello("a.org", 5, 1);
		hello[i] = (char)0xff;
		tls_read(hello, len, &told);
	}
}

TEST(what_begins_as_records_do_is_tls)
{
	static const char *const bad[] = {"\x16\x02\x01", "\x16\x04", "\x15\x03\x01",
					  "\x14\x03\x03", "\x17\x03\x03"};
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(tls_read(bad[i], strlen(bad[i]), &told) == SPEECH_BAD);
	CHECK(tls_read("\x16\0\0", 3, &told) == SPEECH_BAD);
	len = make_hello("a.org", 5, 1);
	hello[4] = (char)(hello[4] + 1); /* and the beginning of another */
	hello[len] = 1;
	CHECK(tls_read(hello, len + 1, &told) == SPEECH_BAD);
}

/* What comes of a stream in pieces: the last that was said, and how much of it went on. */
static enum speech follow(const char *text, size_t len, size_t piece, size_t *ret_went)
{
	struct tls_records r = {0};
	enum speech speech = SPEECH_MORE;
	size_t end = 0, at = 0, taken;

	while (end < len && speech == SPEECH_MORE) {
		end = piece < len - end ? end + piece : len;
		speech = tls_follow(&r, text + at, end - at, &taken, &told);
		CHECK(taken <= end - at);
		at += taken;
	}
	*ret_went = at;
	return speech;
}

TEST(a_second_hello_is_read_wherever_it_comes)
{
	static const struct {
		const char *text;
		size_t len;
	} before[] = {
		TEXT(""),
		TEXT("\x14\3\3\0\1\1"),
		TEXT("\x17\3\3\0\5early\x17\3\3\0\0"),
		TEXT("\x15\3\1\0\2\1\x5a\x14\3\3\0\1\1"),
	};
	char text[sizeof(hello) + 64];
	size_t len = make_hello("B.org", 5, 1), i, piece, went;

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		memcpy(text, before[i].text, before[i].len);
		memcpy(text + before[i].len, hello, len);
		for (piece = 1; piece < 200; piece++) {
			told = (struct tls_hello){0};
			CHECK(follow(text, before[i].len + len, piece, &went) == SPEECH_DONE);
			CHECK_INT(went, before[i].len + len);
			CHECK_STR(told.host.name, "b.org");
			CHECK(follow(text, before[i].len + len - 1, piece, &went) == SPEECH_MORE);
			CHECK_INT(went, before[i].len);
		}
	}
}

TEST(records_behind_a_hello_hide_none)
{
	static const struct {
		const char *text;
		size_t len;
	} bad[] =
		{
			TEXT("\x16\3\3\0\1\1"),
			TEXT("\x16\3\3\0\0"),
			TEXT("\x16\3\3\0\4\1\0\0\x40"),
			TEXT("\x16\3\3\0\4\0\0\0\0"), /* to be greeted, of the wrong side */
			TEXT("\x14\3\3\0\1\1\x16\3\3\0\x10"
			     "0123456789abcdef"),
			TEXT("\x14\3\3\0\1\2"),
			TEXT("\x14\3\3\0\2\1\1"),
			TEXT("\x16\2\3\0\4\1\0\0\0"),
			TEXT("\x17\3\3\xff\xff"),
			TEXT("GET / HTTP/1.1\r\n"),
		},
	  over[] = {
		  TEXT("\x16\3\3\0\5\x10\0\0\1x\x14\3\3\0\1\1secret"),
		  TEXT("\x14\3\3\0\1\1\x16\3\3\0\x1c\0\0\0\0\0\0\0\0"
		       "01234567890123456789"),
	  };
	size_t i, piece, went;

	for (piece = 1; piece < 60; piece++) {
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			if (follow(bad[i].text, bad[i].len, piece, &went) != SPEECH_BAD)
				FAIL("%zu in pieces of %zu", i, piece);
		for (i = 0; i < ARRAY_SIZE(over); i++)
			if (follow(over[i].text, over[i].len, piece, &went) != SPEECH_OTHER)
				FAIL("%zu in pieces of %zu", i, piece);
	}
}

/* ---- names ---- */

static unsigned char packet[DNS_PACKET_MAX];

static struct egress_host host(const char *name)
{
	struct egress_host h;

	CHECK(egress_host_read(name, strlen(name), &h));
	return h;
}

TEST(questions_are_read_and_answered)
{
	const struct egress_host h = host("www.a.org");
	const struct egress_address a = {.b = {198, 18, 1, 0}};
	struct dns_question q;
	struct dns_reply r;
	size_t len = dns_write_query(packet, sizeof(packet), 0x1234, &h, DNS_A), i;

	for (i = 0; i < len; i++)
		CHECK(!dns_read_question(packet, i, &q));
	CHECK(dns_read_question(packet, len, &q) && q.is_host && q.type == DNS_A);
	CHECK_STR(q.host.name, "www.a.org");
	len = dns_write_answer(packet, sizeof(packet), &q, DNS_FINE, &a, 60);
	CHECK(!dns_read_question(packet, len, &q));
	CHECK(dns_read_reply(packet, len, 0x1234, &h, DNS_A, &r));
	CHECK(r.n == 1 && r.ttl == 60 && !memcmp(r.v[0].b, a.b, 4));
	CHECK(!dns_read_reply(packet, len, 0x1235, &h, DNS_A, &r));
	CHECK(!dns_read_reply(packet, len, 0x1234, &h, DNS_AAAA, &r));
	CHECK(dns_write_query(packet, 20, 1, &h, DNS_A) == 0);
}

TEST(a_label_with_a_dot_is_no_name)
{
	unsigned char p[] = "\1\2\1\0\0\1\0\0\0\0\0\0\5a.org\0\0\1\0\1";
	struct dns_question q;

	CHECK(!dns_read_question(p, sizeof(p) - 1, &q));
	p[14] = 'x'; /* axorg */
	CHECK(dns_read_question(p, sizeof(p) - 1, &q) && q.is_host);
	p[14] = 0;
	CHECK(dns_read_question(p, sizeof(p) - 1, &q) && !q.is_host);
}

TEST(replies_about_others_count_for_nothing)
{
	/* A question for a.org, answered for b.org alone, and then for an alias in a circle. */
	static const unsigned char other[] = "\1\2\x81\x80\0\1\0\1\0\0\0\0\1a\3org\0\0\1\0\1"
					     "\1b\3org\0\0\1\0\1\0\0\0\1\0\4\1\2\3\4";
	static const unsigned char circle[] = "\1\2\x81\x80\0\1\0\1\0\0\0\0\1a\3org\0\0\1\0\1"
					      "\xc0\x0c\0\5\0\1\0\0\0\1\0\2\xc0\x0c";
	static const unsigned char self[] = "\1\2\x81\x80\0\1\0\1\0\0\0\0\1a\3org\0\0\1\0\1"
					    "\xc0\x17\0\1\0\1\0\0\0\1\0\4\1\2\3\4";
	const struct egress_host h = host("a.org");
	struct dns_reply r;

	CHECK(dns_read_reply(other, sizeof(other) - 1, 0x102, &h, DNS_A, &r) && r.n == 0);
	CHECK(dns_read_reply(circle, sizeof(circle) - 1, 0x102, &h, DNS_A, &r) && r.n == 0);
	CHECK(dns_read_reply(self, sizeof(self) - 1, 0x102, &h, DNS_A, &r) && r.n == 0);
}

TEST(an_alias_is_followed_in_any_order)
{
	static const unsigned char p[] = "\1\2\x81\x80\0\1\0\2\0\0\0\0\1a\3org\0\0\1\0\1"
					 "\1b\3org\0\0\1\0\1\0\0\0\1\0\4\1\2\3\4"
					 "\xc0\x0c\0\5\0\1\0\0\0\1\0\4\1b\xc0\x0e";
	const struct egress_host h = host("a.org");
	struct dns_reply r;

	CHECK(dns_read_reply(p, sizeof(p) - 1, 0x102, &h, DNS_A, &r));
	CHECK_INT(r.n, 1);
	CHECK_INT(r.v[0].b[3], 4);
}

int main(void)
{
	return unit_main();
}
