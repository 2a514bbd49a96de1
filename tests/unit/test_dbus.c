/*
 * D-Bus as bytes, as text, and as a conversation: with a server in a child that behaves well, badly
 * or not at all. What a message looks like was taken from the specification, and the long one was
 * written by another implementation (Python's jeepney).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "cgroup/systemd.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "unit.h"

#define ROOT "/org/freedesktop/systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"
#define JOB ROOT "/job/7"
#define BUS "org.freedesktop.DBus"
#define UNIT "a-1.scope"

static struct arena arena;
static struct error err;

/* ---- bytes ---- */

static const unsigned char hello[] = {
	'l',	    1,	 0,   1,   0,	0,   0,	  0,   1,   0,	 0,   0,   0x6d, 0,   0,   0,
	/* 16 */ 1, 1,	 'o', 0,   21,	0,   0,	  0,   '/', 'o', 'r', 'g', '/',	 'f', 'r', 'e',
	'e',	    'd', 'e', 's', 'k', 't', 'o', 'p', '/', 'D', 'B', 'u', 's',	 0,   0,   0,
	/* 48 */ 2, 1,	 's', 0,   20,	0,   0,	  0,   'o', 'r', 'g', '.', 'f',	 'r', 'e', 'e',
	'd',	    'e', 's', 'k', 't', 'o', 'p', '.', 'D', 'B', 'u', 's', 0,	 0,   0,   0,
	/* 80 */ 3, 1,	 's', 0,   5,	0,   0,	  0,   'H', 'e', 'l', 'l', 'o',	 0,   0,   0,
	/* 96 */ 6, 1,	 's', 0,   20,	0,   0,	  0,   'o', 'r', 'g', '.', 'f',	 'r', 'e', 'e',
	'd',	    'e', 's', 'k', 't', 'o', 'p', '.', 'D', 'B', 'u', 's', 0,	 0,   0,   0};

static struct buf written(const struct dbus_message *m)
{
	struct buf b = buf_new(&arena, DBUS_MESSAGE_MAX);

	dbus_message_write(&b, m);
	return b;
}

TEST(a_call_is_written_byte_by_byte)
{
	struct buf b = written(&(struct dbus_message){.type = DBUS_CALL,
						      .serial = 1,
						      .path = "/org/freedesktop/DBus",
						      .interface = BUS,
						      .member = "Hello",
						      .destination = BUS});

	CHECK(!b.overflow);
	CHECK_INT(b.len, sizeof(hello));
	CHECK(memcmp(b.data, hello, b.len) == 0);
}

/* All there is in one: fields, and a body that does not end at a multiple of 8. */
static struct buf whole_message(void)
{
	struct buf body = buf_new(&arena, DBUS_BODY_MAX);

	dbus_put_u32(&body, 77);
	dbus_put_string(&body, JOB);
	dbus_put_string(&body, "ä-1.scope");
	dbus_put_string(&body, "done");
	return written(&(struct dbus_message){.type = DBUS_SIGNAL,
					      .flags = DBUS_NO_REPLY,
					      .serial = 0x01020304,
					      .reply_serial = 9,
					      .path = ROOT,
					      .interface = MANAGER,
					      .member = "JobRemoved",
					      .error_name = "an.error",
					      .destination = ":1.5",
					      .sender = ":1.0",
					      .signature = "uoss",
					      .body = body.data,
					      .body_len = body.len});
}

/* In memory of exactly that size, so that a sanitizer sees what is read beyond it. */
static int read_exactly(const char *p, size_t len, struct dbus_message *ret, size_t *ret_len)
{
	char *copy = malloc(len ? len : 1);
	int got;

	memcpy(copy, p, len);
	got = dbus_message_read(copy, len, ret, ret_len, &err);
	free(copy);
	return got;
}

TEST(what_is_written_is_read)
{
	struct buf b = whole_message();
	const char *job, *unit, *result;
	struct dbus_message m;
	struct dbus_reader r;
	uint32_t number;
	size_t len;

	buf_str(&b, "the next message");
	CHECK_INT(dbus_message_read(b.data, b.len, &m, &len, &err), 1);
	CHECK_INT(len, b.len - strlen("the next message"));
	CHECK_INT(m.type, DBUS_SIGNAL);
	CHECK_INT(m.flags, DBUS_NO_REPLY);
	CHECK_INT(m.serial, 0x01020304);
	CHECK_INT(m.reply_serial, 9);
	CHECK_STR(m.path, ROOT);
	CHECK_STR(m.interface, MANAGER);
	CHECK_STR(m.member, "JobRemoved");
	CHECK_STR(m.error_name, "an.error");
	CHECK_STR(m.destination, ":1.5");
	CHECK_STR(m.sender, ":1.0");
	CHECK_STR(m.signature, "uoss");
	r = dbus_body(&m);
	CHECK(dbus_get_u32(&r, &number) && dbus_get_string(&r, &job) &&
	      dbus_get_string(&r, &unit) && dbus_get_string(&r, &result));
	CHECK_INT(number, 77);
	CHECK_STR(job, JOB);
	CHECK_STR(unit, "ä-1.scope");
	CHECK_STR(result, "done");
	CHECK(dbus_at_end(&r));
	CHECK(!dbus_get_string(&r, &result) && !dbus_get_u32(&r, &number));
}

TEST(a_part_of_a_message_asks_for_more)
{
	struct buf b = whole_message();
	struct dbus_message m;
	size_t i, len;

	for (i = 0; i < b.len; i++)
		CHECK_INT(read_exactly(b.data, i, &m, &len), 0);
	CHECK_INT(read_exactly(b.data, b.len, &m, &len), 1);
	CHECK_INT(len, b.len);
}

/* Whatever a byte is changed to: it is read, refused, or asks for more, within its memory. */
TEST(no_byte_of_a_message_is_believed)
{
	struct buf b = whole_message();
	struct dbus_message m;
	size_t i, len;
	int v, got;
	char old;

	for (i = 0; i < b.len; i++) {
		old = b.data[i];
		for (v = 0; v < 256; v++) {
			b.data[i] = (char)v;
			got = read_exactly(b.data, b.len, &m, &len);
			CHECK(got == -1 || got == 0 || (got == 1 && len <= b.len));
		}
		b.data[i] = old;
	}
}

static void refuses(size_t at, const void *bytes, size_t n)
{
	unsigned char copy[sizeof(hello)];
	struct dbus_message m;
	size_t len;

	memcpy(copy, hello, sizeof(hello));
	memcpy(copy + at, bytes, n);
	err.text[0] = '\0';
	if (read_exactly((char *)copy, sizeof(copy), &m, &len) != -1 || !err.text[0])
		FAIL("byte %zu may be %d", at, *(const unsigned char *)bytes);
}

TEST(wrong_headers_are_refused)
{
	refuses(0, "B", 1);		    /* the other byte order */
	refuses(0, "x", 1);		    /* none */
	refuses(1, "\0", 1);		    /* no type */
	refuses(1, "\2", 1);		    /* an answer to nothing */
	refuses(1, "\3", 1);		    /* an error without a name */
	refuses(3, "\2", 1);		    /* another version */
	refuses(4, "\1\0\x10\0", 4);	    /* a body of 1 MiB and a byte */
	refuses(4, "\xff\xff\xff\xff", 4);  /* and of all there is */
	refuses(8, "\0\0\0\0", 4);	    /* no serial */
	refuses(12, "\xf1\xff\0\0", 4);	    /* a header of 64 KiB and a byte */
	refuses(12, "\xff\xff\xff\xff", 4); /* and of all there is */
	refuses(12, "\x6c\0\0\0", 4);	    /* which ends before its last field does */
	refuses(12, "\x6e\0\0\0", 4);	    /* or behind it, in the padding */
	refuses(16, "\0", 1);		    /* a field of no kind */
	refuses(16, "\2", 1);		    /* an interface that is a path */
	refuses(16, "\x09", 1);		    /* a number that is a path */
	refuses(17, "\0", 1);		    /* a value of no type */
	refuses(17, "\2", 1);		    /* of two types */
	refuses(18, "s", 1);		    /* of another type */
	refuses(18, "!", 1);		    /* of an unheard-of type */
	refuses(19, "x", 1);		    /* the type is not terminated */
	refuses(20, "\x14", 1);		    /* the text is not */
	refuses(20, "\x16", 1);		    /* the text has a NUL in it */
	refuses(20, "\xff\xff\xff\xff", 4); /* the text is longer than everything */
	refuses(24, "\xff", 1);		    /* no UTF-8 */
	refuses(24, "\0", 1);
	refuses(46, "x", 1);	/* padding that is not empty */
	refuses(80, "\x0b", 1); /* no member */
	refuses(96, "\3", 1);	/* two of them */
	refuses(126, "x", 1);	/* padding behind the last field */
}

TEST(fields_of_the_future_are_passed_over_if_they_are_plain)
{
	static const char plain[] = "yqnbiuhxtd";
	unsigned char copy[sizeof(hello)];
	struct dbus_message m;
	size_t i, len;

	memcpy(copy, hello, sizeof(hello));
	copy[96] = 200;
	CHECK_INT(dbus_message_read((char *)copy, sizeof(copy), &m, &len, &err), 1);
	CHECK(!m.destination);
	CHECK_STR(m.signature, "");
	memset(copy + 100, 0, 28);
	for (i = 0; plain[i]; i++) {
		static const unsigned char ends[] = {5, 6, 6, 8, 8, 8, 8, 16, 16, 16};

		copy[98] = (unsigned char)plain[i];
		copy[12] = (unsigned char)(96 - 16 + ends[i]);
		CHECK_INT(dbus_message_read((char *)copy, sizeof(copy), &m, &len, &err), 1);
		copy[12]--;
		CHECK_INT(dbus_message_read((char *)copy, sizeof(copy), &m, &len, &err), -1);
	}
	copy[12] = 0x6d;
	for (i = 0; i < 4; i++) {
		copy[98] = (unsigned char)"av(z"[i];
		CHECK_INT(dbus_message_read((char *)copy, sizeof(copy), &m, &len, &err), -1);
	}
}

TEST(a_body_has_a_signature)
{
	char copy[sizeof(hello) + 4] = {0};
	struct dbus_message m;
	size_t len;

	memcpy(copy, hello, sizeof(hello));
	copy[4] = 4;
	CHECK_INT(dbus_message_read(copy, sizeof(copy), &m, &len, &err), -1);
}

TEST(values_of_a_body_are_not_believed)
{
	static const struct {
		const char *bytes;
		size_t len;
	} texts[] = {
		{"", 0},
		{"\1\0\0", 3},
		{"\1\0\0\0", 4},
		{"\1\0\0\0a", 5},
		{"\1\0\0\0ab", 6},
		{"\2\0\0\0a\0\0", 7},
		{"\xff\xff\xff\xff"
		 "a\0",
		 6},
		{"\1\0\0\0\xff\0", 6},
		{"\xfe\xff\xff\xff"
		 "a\0",
		 6},
	};
	struct dbus_reader r;
	const char *text;
	uint32_t number;
	size_t i;
	char *copy;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		copy = malloc(texts[i].len ? texts[i].len : 1);
		memcpy(copy, texts[i].bytes, texts[i].len);
		r = (struct dbus_reader){.p = copy, .len = texts[i].len};
		if (dbus_get_string(&r, &text))
			FAIL("text %zu was taken", i);
		free(copy);
	}
	r = (struct dbus_reader){.p = "\1s\0\0\5\0\0\0", .len = 8};
	CHECK(dbus_get_signature(&r, &text) && dbus_get_u32(&r, &number));
	CHECK_STR(text, "s");
	CHECK_INT(number, 5);
	r = (struct dbus_reader){.p = "\1s\0x\5\0\0\0", .len = 8};
	CHECK(dbus_get_signature(&r, &text) && !dbus_get_u32(&r, &number));
	r = (struct dbus_reader){.p = "\1s\0", .len = 3};
	CHECK(dbus_get_signature(&r, &text) && !dbus_get_u32(&r, &number));
	r = (struct dbus_reader){.p = "\5s\0", .len = 3};
	CHECK(!dbus_get_signature(&r, &text));
}

TEST(what_is_too_large_is_not_written)
{
	struct buf body = buf_new(&arena, DBUS_BODY_MAX), b;
	char *large = arena_alloc(&arena, DBUS_BODY_MAX + 1, 1);
	struct dbus_message m = {
		.type = DBUS_CALL, .serial = 1, .path = "/", .member = "M", .signature = "s"};

	memset(large, 'x', DBUS_BODY_MAX);
	dbus_put_string(&body, large);
	CHECK(body.overflow);
	large[DBUS_BODY_MAX - 5] = '\0';
	body = buf_new(&arena, DBUS_BODY_MAX);
	dbus_put_string(&body, large);
	CHECK(!body.overflow);
	m.body = body.data;
	m.body_len = body.len;
	b = written(&m);
	CHECK(!b.overflow);
	m.body_len++;
	b = written(&m);
	CHECK(b.overflow);
	large[DBUS_HEADER_MAX] = '\0';
	m.body_len = 0;
	m.member = large;
	b = written(&m);
	CHECK(b.overflow);
	/* Arrays that began when there was no room. */
	body = buf_new(&arena, 2);
	dbus_array_end(&body, dbus_array_begin(&body, 8));
	CHECK(body.overflow);
}

TEST(what_a_peer_says_is_shown_without_what_speaks_to_a_terminal)
{
	struct dbus_shown shown;
	char long_text[1000];
	size_t i;

	CHECK_STR(dbus_show("no such unit ä€😀").text, "no such unit ä€😀");
	CHECK_STR(dbus_show("a\nb\tc\033[31m\177").text, "a?b?c?[31m?");
	CHECK_STR(dbus_show("\xc2\x9b"
			    "31m\xff\xc3")
			  .text,
		  "??31m??");
	CHECK_STR(dbus_show("\xc2\xa0").text, "\xc2\xa0");
	CHECK(dbus_can_be_shown("a ä") && !dbus_can_be_shown("a\n") &&
	      !dbus_can_be_shown("\xc2\x85"));
	for (i = 0; i < 4; i++) {
		static const char *const what[] = {"a", "ä", "\n", "😀"};
		size_t at = i, n = strlen(what[i]);

		memset(long_text, 'b', at);
		for (; at + n < sizeof(long_text); at += n)
			memcpy(long_text + at, what[i], n);
		long_text[at] = '\0';
		shown = dbus_show(long_text);
		CHECK(strnlen(shown.text, sizeof(shown.text)) < sizeof(shown.text));
		CHECK(str_is_utf8(shown.text) && str_ends(shown.text, "…"));
	}
}

/* ---- text ---- */

TEST(addresses_are_read)
{
	static const struct {
		const char *list;
		const char *want; /* each with its kind, p or a; !: refused */
	} cases[] = {
		{"", ""},
		{"unix:path=/run/bus", "p/run/bus "},
		{"unix:abstract=/tmp/x,guid=0123", "a/tmp/x "},
		{"unix:guid=0123,path=/b", "p/b "},
		{"unix:path=/a;unix:path=/b", "p/a p/b "},
		{";;unix:path=/a;", "p/a "},
		{"tcp:host=localhost,port=1;unix:path=/a", "p/a "},
		{"unixexec:path=/bin/sh;autolaunch:;unix:runtime=yes;unix:", ""},
		{"unix", ""},
		{"unix:path=/a%2fb%3B%2C%25%c3%a4", "p/a/b;,%ä "},
		{"unix:path=/a;unix:path=b", "p/a !"},
		{"unix:path=a", "!"},
		{"unix:path=", "!"},
		{"unix:path", "!"},
		{"unix:=/a", "!"},
		{"unix:,", "!"},
		{"unix:path=/a,", "p/a "},
		{"unix:path=/a,,guid=1", "!"},
		{"unix:path=/a,path=/b", "!"},
		{"unix:path=/a,abstract=b", "!"},
		{"unix:path=/a%", "!"},
		{"unix:path=/a%2", "!"},
		{"unix:path=/a%2;f", "!"},
		{"unix:path=/a%gg", "!"},
		{"unix:path=/a%00b", "!"},
		{"unix:path=/a%0ab", "!"},
		{"unix:path=/a\033[31m", "!"},
		{"unix:path=/a%c2%9b", "!"},
		{"unix:path=/a%ff", "!"},
	};
	struct dbus_address at;
	const char *list;
	size_t i;
	int got;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf b = buf_new(&arena, 1000);

		buf_str(&b, "");
		list = cases[i].list;
		err.text[0] = '\0';
		while ((got = dbus_address_next(&list, &arena, &at, &err)) > 0)
			buf_printf(&b, "%c%s ", at.is_abstract ? 'a' : 'p', at.name);
		if (got < 0) {
			buf_char(&b, '!');
			CHECK(err.text[0]);
		}
		if (!str_eq(b.data, cases[i].want))
			FAIL("%s: %s, want %s", cases[i].list, b.data, cases[i].want);
	}
}

TEST(a_server_takes_us_or_not)
{
	static const char ok[] = "DATA\r\nOK 0123456789abcdef0123456789abcdef\r\n";
	static const struct {
		const char *text;
		enum dbus_auth want;
	} cases[] = {
		{"OK 12\r\nl", DBUS_AUTH_OK},
		{"OK\r\n", DBUS_AUTH_OK},
		{"DATA \r\nOK 12\r\n", DBUS_AUTH_OK},
		{"REJECTED EXTERNAL\r\n", DBUS_AUTH_REFUSED},
		{"DATA\r\nREJECTED\r\n", DBUS_AUTH_REFUSED},
		{"ERROR \"what?\"\r\n", DBUS_AUTH_REFUSED},
		{"OKAY\r\n", DBUS_AUTH_WRONG},
		{"\r\n", DBUS_AUTH_WRONG},
		{"HTTP/1.1 400 Bad Request\r\n", DBUS_AUTH_WRONG},
		{"DATA\r\nDATA\r\nOK 12\r\n", DBUS_AUTH_WRONG},
		{"AGREE_UNIX_FD\r\n", DBUS_AUTH_WRONG},
		{"OK 12\n", DBUS_AUTH_MORE},
		{"", DBUS_AUTH_MORE},
	};
	char *large = arena_alloc(&arena, 6000, 1), *copy;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (dbus_auth_read(cases[i].text, strlen(cases[i].text), &len) != cases[i].want)
			FAIL("%s is not %d", cases[i].text, cases[i].want);
	for (i = 0; i < strlen(ok); i++) {
		copy = malloc(i ? i : 1);
		memcpy(copy, ok, i);
		CHECK_INT(dbus_auth_read(copy, i, &len), DBUS_AUTH_MORE);
		free(copy);
	}
	CHECK_INT(dbus_auth_read(ok, strlen(ok), &len), DBUS_AUTH_OK);
	CHECK_INT(len, strlen(ok));
	memset(large, 'x', 5000);
	CHECK_INT(dbus_auth_read(large, 4096, &len), DBUS_AUTH_MORE);
	CHECK_INT(dbus_auth_read(large, 4097, &len), DBUS_AUTH_WRONG);
	large[0] = 'O';
	large[1] = 'K';
	large[2] = ' ';
	large[5000] = '\r';
	large[5001] = '\n';
	CHECK_INT(dbus_auth_read(large, 5002, &len), DBUS_AUTH_WRONG);
}

/* ---- a server ---- */

/* It runs in a child: what it finds wrong is its exit status. */
#define SERVER_CHECK(what)                                                                         \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "# %s:%d: the server: %s\n", __FILE__, __LINE__, #what);   \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

typedef void serve_call(int listen_fd);

static struct {
	pid_t pid;
	char dir[64];
	char path[96];
} server;
static struct systemd conn = {.bus = {.fd = -1}};

/* Whatever a server does, it ends when we hang up, or it is killed after a while. Its status; -1:
 * killed. */
static int server_end(void)
{
	int status = 0;

	systemd_close(&conn);
	if (server.pid > 0 && waitpid(server.pid, &status, 0) < 0)
		status = -1;
	server.pid = 0;
	if (server.dir[0]) {
		unlink(server.path);
		rmdir(server.dir);
	}
	server.dir[0] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int server_listen(const struct sockaddr_un *at, size_t size, int backlog)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)at, (socklen_t)size) < 0 ||
	    listen(fd, backlog) < 0)
		FAIL("listen: %m");
	return fd;
}

static void server_fork(int fd, serve_call *serve)
{
	const pid_t parent = getpid();

	server.pid = fork();
	if (server.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		alarm(60);
		signal(SIGPIPE, SIG_IGN);
		serve(fd);
		_exit(0);
	}
	close(fd);
	CHECK(server.pid > 0);
}

static void server_start(serve_call *serve)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	server_end();
	snprintf(server.dir, sizeof(server.dir), "/tmp/sbxt-dbus.XXXXXX");
	if (!mkdtemp(server.dir)) {
		server.dir[0] = '\0';
		FAIL("mkdtemp: %m");
	}
	snprintf(server.path, sizeof(server.path), "%s/socket", server.dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", server.path);
	server_fork(server_listen(&at, sizeof(at), 8), serve);
}

/* ---- what a server does ---- */

static struct {
	int fd;
	char in[DBUS_MESSAGE_MAX + 4096];
	size_t len, at;
	uint32_t serial;
	const char *sender; /* of what it says; NULL: no bus */
} peer;

static bool peer_fill(void)
{
	ssize_t n;

	memmove(peer.in, peer.in + peer.at, peer.len -= peer.at);
	peer.at = 0;
	n = read(peer.fd, peer.in + peer.len, sizeof(peer.in) - peer.len);
	peer.len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static void say_bytes(const void *p, size_t len)
{
	(void)!write(peer.fd, p, len);
}

/* The next client, who says who he is with the lines that he should. */
static void take_client(int listen_fd)
{
	static const char lines[] = DBUS_AUTH_LINES;

	peer.fd = accept(listen_fd, NULL, NULL);
	peer.len = peer.at = 0;
	SERVER_CHECK(peer.fd >= 0);
	while (peer.len < sizeof(lines) - 1)
		SERVER_CHECK(peer_fill());
	SERVER_CHECK(memcmp(peer.in, lines, sizeof(lines) - 1) == 0);
	peer.at = sizeof(lines) - 1;
}

static void take_us(void)
{
	say_bytes("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\n", 43);
}

static void accept_client(int listen_fd)
{
	take_client(listen_fd);
	take_us();
}

static bool hear(struct dbus_message *ret)
{
	size_t len;
	int got;

	while (!(got = dbus_message_read(peer.in + peer.at, peer.len - peer.at, ret, &len, &err)))
		if (!peer_fill())
			return false;
	SERVER_CHECK(got == 1 && ret->type == DBUS_CALL && (ret->flags & DBUS_NO_AUTOSTART));
	peer.at += len;
	return true;
}

static struct dbus_message expect(const char *member)
{
	struct dbus_message m;

	SERVER_CHECK(hear(&m));
	if (!str_eq(m.member, member))
		fprintf(stderr, "# %s, not %s\n", m.member, member);
	SERVER_CHECK(str_eq(m.member, member));
	return m;
}

/* The client has nothing more to say, and hangs up. */
static void expect_end(void)
{
	struct dbus_message m;

	SERVER_CHECK(!hear(&m) && peer.len == peer.at);
}

static void ignore_everything(void)
{
	while (peer_fill())
		peer.at = peer.len;
}

static void say(struct dbus_message m)
{
	struct buf b;

	m.serial = ++peer.serial;
	m.sender = peer.sender;
	b = written(&m);
	SERVER_CHECK(!b.overflow);
	say_bytes(b.data, b.len);
}

static struct buf text_body(const char *text)
{
	struct buf body = buf_new(&arena, DBUS_BODY_MAX);

	dbus_put_string(&body, text);
	return body;
}

static void answer_text_as(const struct dbus_message *call, const char *signature, const char *text)
{
	struct buf body = text_body(text);

	say((struct dbus_message){.type = DBUS_RETURN,
				  .reply_serial = call->serial,
				  .signature = signature,
				  .body = body.data,
				  .body_len = body.len});
}

static void answer(const struct dbus_message *call)
{
	say((struct dbus_message){.type = DBUS_RETURN, .reply_serial = call->serial});
}

static void answer_error(const struct dbus_message *call, const char *name, const char *text)
{
	struct buf body = text_body(text);

	say((struct dbus_message){.type = DBUS_ERROR,
				  .reply_serial = call->serial,
				  .error_name = name,
				  .signature = "s",
				  .body = body.data,
				  .body_len = body.len});
}

static void say_job_ended(const char *unit, const char *job, const char *result)
{
	struct buf body = buf_new(&arena, DBUS_BODY_MAX);

	dbus_put_u32(&body, 7);
	dbus_put_string(&body, job);
	dbus_put_string(&body, unit);
	dbus_put_string(&body, result);
	say((struct dbus_message){.type = DBUS_SIGNAL,
				  .path = ROOT,
				  .interface = MANAGER,
				  .member = "JobRemoved",
				  .signature = "uoss",
				  .body = body.data,
				  .body_len = body.len});
}

/* ---- what we do ---- */

/* For what never comes; for what comes before that; for what comes. */
enum { SHORT_MS = 300, AMPLE_MS = 3000, LONG_MS = 30000 };

static int open_path(bool is_bus, int ms)
{
	const struct systemd_places places = {
		.n = 1, .v = {{.at = {.name = server.path}, .is_bus = is_bus}}};

	return systemd_open_at(SYSTEMD_OF_USER, &places, loop_now() + ms * LOOP_MS, NULL, &conn,
			       &err);
}

/* A deadline that only what follows has to meet: the machine may be busy. */
static int open_for(int ms)
{
	const int result = open_path(false, LONG_MS);

	conn.bus.since = loop_now();
	conn.bus.until = conn.bus.since + ms * LOOP_MS;
	return result;
}

static struct unit_property description[] = {
	{.name = "Description", .type = UNIT_TEXT, .text = "of a unit"}};
static const struct unit_properties one_property = {1, description};

static int start_unit(void)
{
	return systemd_start_unit(&conn, UNIT, &one_property, getpid(), &err);
}

#define CHECK_ERROR(part)                                                                          \
	do {                                                                                       \
		if (!strstr(err.text, part))                                                       \
			FAIL("the error is \"%s\"", err.text);                                     \
	} while (0)

/* ---- starting ---- */

/* The body of StartTransientUnit, by another implementation. */
static const char start_bytes[] =
	"09000000612d312e73636f7065000000040000006661696c00000000a00100000b0000004465736372697074"
	"696f6e0001730000040000006120c3a4000000000800000044656c6567617465000162000100000000000000"
	"090000004d656d6f72794d617800017400000000000000000000400600000000080000005461736b734d6178"
	"00017400ffffffffffffffff0b000000416c6c6f776564435055730002617900030000000501800000000000"
	"0500000057616e7473000261730000001900000007000000612e736c696365000800000062632e736c696365"
	"000000000b000000446576696365416c6c6f7700056128737329000000000000000000000b00000044657669"
	"6365416c6c6f7700056128737329000032000000000000000d0000002f6465762f636861722f313a33000000"
	"0300000072776d000000000006000000636861722d2a0000010000006d000000000000000e000000494f4465"
	"766963655765696768740005612873742900000018000000080000002f6465762f73646100000000c8000000"
	"0000000005000000416674657200026173000000000000000000000004000000504944730002617500000000"
	"04000000921000000000000000000000";

static void serve_start(int listen_fd)
{
	struct dbus_message m;
	size_t i;
	char hex[3];

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	SERVER_CHECK(str_eq(m.path, ROOT) && str_eq(m.interface, MANAGER));
	SERVER_CHECK(str_eq(m.destination, "org.freedesktop.systemd1"));
	SERVER_CHECK(str_eq(m.signature, "ssa(sv)a(sa(sv))"));
	SERVER_CHECK(m.body_len == strlen(start_bytes) / 2);
	for (i = 0; i < m.body_len; i++) {
		snprintf(hex, sizeof(hex), "%02x", (unsigned char)m.body[i]);
		SERVER_CHECK(memcmp(hex, start_bytes + 2 * i, 2) == 0);
	}
	say_job_ended("other.scope", ROOT "/job/6", "failed");
	answer_text_as(&m, "o", JOB);
	say_job_ended("other.scope", JOB "7", "failed");
	say_job_ended(UNIT, JOB "8", "failed");
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(a_unit_is_started_with_properties_of_all_types)
{
	static const uint8_t cpus[] = {5, 1, 0x80};
	static const struct unit_pair devices[] = {{.name = "/dev/char/1:3", .text = "rwm"},
						   {.name = "char-*", .text = "m"}};
	static const struct unit_pair weights[] = {{.name = "/dev/sda", .number = 200}};
	char a[] = "a.slice", b[] = "bc.slice";
	char *wants[] = {a, b, NULL};
	struct unit_property v[] = {
		{.name = "Description", .type = UNIT_TEXT, .text = "a ä"},
		{.name = "Delegate", .type = UNIT_BOOL, .yes = true},
		{.name = "MemoryMax", .type = UNIT_NUMBER, .number = 100 << 20},
		{.name = "TasksMax", .type = UNIT_NUMBER, .number = UINT64_MAX},
		{.name = "AllowedCPUs", .type = UNIT_BYTES, .bytes = {cpus, sizeof(cpus)}},
		{.name = "Wants", .type = UNIT_TEXTS, .texts = {2, wants}},
		{.name = "DeviceAllow", .type = UNIT_PAIRS},
		{.name = "DeviceAllow", .type = UNIT_PAIRS, .pairs = {devices, 2}},
		{.name = "IODeviceWeight", .type = UNIT_WEIGHTS, .pairs = {weights, 1}},
		{.name = "After", .type = UNIT_TEXTS},
	};
	const struct unit_properties p = {ARRAY_SIZE(v), v};

	server_start(serve_start);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(systemd_start_unit(&conn, UNIT, &p, 4242, &err), 0);
	CHECK_INT(server_end(), 0);
}

/* The rule is kept up to the last detail: it is what keeps others' jobs away. */
static void enter_bus(int listen_fd, const char *owner)
{
	struct dbus_message m;

	accept_client(listen_fd);
	peer.sender = BUS;
	m = expect("Hello");
	SERVER_CHECK(str_eq(m.path, "/org/freedesktop/DBus") && str_eq(m.interface, BUS) &&
		     str_eq(m.destination, BUS) && str_eq(m.signature, ""));
	answer_text_as(&m, "s", ":1.9");
	m = expect("GetNameOwner");
	if (owner)
		answer_text_as(&m, "s", owner);
	else
		answer_error(&m, BUS ".Error.NameHasNoOwner", "nobody\nhas it");
}

static void serve_bus(int listen_fd)
{
	static const char rule[] =
		"type='signal',sender='org.freedesktop.systemd1',interface='" MANAGER
		"',path='" ROOT "',member='JobRemoved',arg2='" UNIT "'";
	struct dbus_message m;
	struct dbus_reader r;
	const char *text;

	enter_bus(listen_fd, ":1.0");
	m = expect("AddMatch");
	r = dbus_body(&m);
	SERVER_CHECK(str_eq(m.signature, "s") && dbus_get_string(&r, &text));
	SERVER_CHECK(str_eq(text, rule));
	answer(&m);
	m = expect("StartTransientUnit");
	/* Others on the bus, who answer and know the job's end. */
	peer.sender = ":1.66";
	answer_error(&m, "a.b", "not from systemd");
	say_job_ended(UNIT, JOB, "failed");
	peer.sender = NULL;
	say_job_ended(UNIT, JOB, "failed");
	peer.sender = ":1.0";
	answer_text_as(&m, "o", JOB);
	peer.sender = ":1.66";
	say_job_ended(UNIT, JOB, "failed");
	peer.sender = ":1.0";
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(on_a_bus_only_systemd_is_heard)
{
	server_start(serve_bus);
	CHECK_INT(open_path(true, LONG_MS), 0);
	CHECK_INT(start_unit(), 0);
	CHECK_INT(server_end(), 0);
}

static void serve_without_systemd(int listen_fd)
{
	enter_bus(listen_fd, NULL);
	expect_end();
}

TEST(a_bus_without_systemd_is_none)
{
	server_start(serve_without_systemd);
	CHECK_INT(open_path(true, LONG_MS), -1);
	CHECK_INT(err.class, ERR_HOST);
	CHECK_ERROR("no connection to systemd: connect to ");
	CHECK_ERROR("GetNameOwner: org.freedesktop.DBus.Error.NameHasNoOwner");
	CHECK_ERROR("is XDG_RUNTIME_DIR set?");
	CHECK_INT(server_end(), 0);
}

static void serve_early_job(int listen_fd)
{
	struct dbus_message m;
	int i;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	for (i = 0; i < 3; i++)
		say_job_ended(UNIT, ROOT "/job/6", "canceled");
	say_job_ended(UNIT, JOB, "done");
	say_job_ended(UNIT, ROOT "/job/8", "canceled");
	for (i = 0; i < 100; i++)
		say_job_ended("other.scope", ROOT "/job/9", "canceled");
	answer_text_as(&m, "o", JOB);
	expect_end();
}

TEST(a_job_may_end_before_the_call_is_answered)
{
	server_start(serve_early_job);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), 0);
	CHECK_INT(server_end(), 0);
}

static void expect_stop_unseen(void)
{
	struct dbus_message m = expect("StopUnit");
	struct dbus_reader r = dbus_body(&m);
	const char *unit, *mode;

	SERVER_CHECK((m.flags & DBUS_NO_REPLY) && str_eq(m.signature, "ss"));
	SERVER_CHECK(dbus_get_string(&r, &unit) && str_eq(unit, UNIT));
	SERVER_CHECK(dbus_get_string(&r, &mode) && str_eq(mode, "replace") && dbus_at_end(&r));
	expect_end();
}

static void serve_failed_job(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "timeout\033[0m");
	expect_stop_unseen();
}

TEST(a_job_that_fails_is_an_error_and_nothing_of_it_stays)
{
	server_start(serve_failed_job);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), -1);
	CHECK_STR(err.text, "systemd: StartTransientUnit of " UNIT ": the job ended as "
			    "\"timeout?[0m\": see systemctl --user status " UNIT);
	CHECK_INT(server_end(), 0);
}

/* ---- peers that take their time ---- */

static void serve_slow_job(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	answer_text_as(&m, "o", JOB);
	expect_stop_unseen();
}

TEST(a_job_that_never_ends_is_given_up)
{
	server_start(serve_slow_job);
	CHECK_INT(open_for(AMPLE_MS), 0);
	CHECK_INT(start_unit(), -1);
	CHECK_STR(err.text, "systemd: StartTransientUnit of " UNIT ": no answer within 3 s: it is "
			    "busy or stuck, see systemctl --user list-jobs");
	CHECK_INT(server_end(), 0);
}

/* A unit of that name may be another's: without an answer, it is not ours to stop. */
static void serve_no_answer(int listen_fd)
{
	accept_client(listen_fd);
	expect("StartTransientUnit");
	expect_end();
}

TEST(a_call_without_an_answer_is_given_up)
{
	server_start(serve_no_answer);
	CHECK_INT(open_for(SHORT_MS), 0);
	CHECK_INT(start_unit(), -1);
	CHECK_INT(err.sys, ETIMEDOUT);
	CHECK_ERROR("no answer within 1 s");
	CHECK_INT(server_end(), 0);
}

/* In time with each of them, and too late with all. */
static void serve_slowly(int listen_fd)
{
	struct dbus_message m;

	usleep(SHORT_MS * 1000);
	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	usleep(SHORT_MS * 1000);
	answer_text_as(&m, "o", JOB);
	usleep(SHORT_MS * 1000);
	say_job_ended(UNIT, JOB, "done");
}

TEST(one_deadline_counts_for_connection_call_and_job)
{
	server_start(serve_slowly);
	CHECK(open_path(false, 2 * SHORT_MS) < 0 || start_unit() < 0);
	CHECK_INT(err.sys, ETIMEDOUT);
	CHECK_ERROR("no answer within 1 s");
	(void)server_end(); /* it may have been about to say something */
}

static void serve_silence(int listen_fd)
{
	take_client(listen_fd);
	ignore_everything();
}

TEST(a_peer_that_says_nothing_is_given_up)
{
	server_start(serve_silence);
	CHECK_INT(open_path(false, SHORT_MS), -1);
	CHECK_ERROR("systemd: connect to /tmp/sbxt-dbus.");
	CHECK_ERROR("/socket: no answer within 1 s");
	CHECK_INT(server_end(), 0);
}

static void serve_signals_for_ever(int listen_fd)
{
	accept_client(listen_fd);
	for (;;) {
		struct buf b = whole_message();

		if (write(peer.fd, b.data, b.len) < 0)
			return;
		arena_free(&arena);
	}
}

TEST(a_peer_that_never_stops_talking_is_given_up)
{
	server_start(serve_signals_for_ever);
	CHECK_INT(open_for(SHORT_MS), 0);
	CHECK_INT(start_unit(), -1);
	CHECK_ERROR("no answer within 1 s");
	/* Its messages are forgotten as they come. */
	CHECK(conn.bus.in_cap <= 16384);
	CHECK_INT(server_end(), 0);
}

static void serve_signals_and_term(int listen_fd)
{
	accept_client(listen_fd);
	expect("StartTransientUnit");
	kill(getppid(), SIGTERM);
	for (;;) {
		struct buf b = whole_message();

		if (write(peer.fd, b.data, b.len) < 0)
			return;
		arena_free(&arena);
	}
}

static void serve_silence_and_term(int listen_fd)
{
	accept_client(listen_fd);
	expect("StartTransientUnit");
	kill(getppid(), SIGTERM);
	ignore_everything();
}

static void start_until_term(serve_call *serve)
{
	patience_catch_signals();
	server_start(serve);
	/* Longer than the server lives. */
	if (open_for(100 * LONG_MS) < 0 || start_unit() == 0) {
		patience_let_signals();
		FAIL("it did not begin, or did not end: %s", err.text);
	}
	patience_let_signals();
	CHECK_ERROR("interrupted by a signal");
	CHECK_INT(server_end(), 0);
}

TEST(a_signal_ends_the_wait_for_a_silent_peer_and_for_one_that_never_stops)
{
	start_until_term(serve_silence_and_term);
	start_until_term(serve_signals_and_term);
}

static void serve_nobody(int listen_fd)
{
	struct pollfd p = {.fd = 0};

	(void)listen_fd;
	(void)!poll(&p, 0, -1);
}

TEST(a_peer_that_never_accepts_is_given_up)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fds[16], n = 0;

	server_start(serve_nobody);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", server.path);
	/* Its queue is full when another one would have to wait. */
	for (n = 0; n < 16; n++) {
		fds[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connect(fds[n], (struct sockaddr *)&at, sizeof(at)) < 0)
			break;
	}
	CHECK(n < 16 && errno == EAGAIN);
	CHECK_INT(open_path(false, SHORT_MS), -1);
	CHECK_ERROR("no answer within 1 s");
	for (; n >= 0; n--)
		close(fds[n]);
	kill(server.pid, SIGKILL);
	CHECK_INT(server_end(), -1);
}

static void serve_later(int listen_fd)
{
	int fd;

	/* Late, so that we find the queue full; then those that are in the way. */
	(void)!poll(NULL, 0, 50);
	while ((fd = accept(listen_fd, NULL, NULL)) >= 0) {
		char c;

		if (recv(fd, &c, 1, MSG_PEEK) == 1)
			break;
		close(fd);
	}
	peer.fd = fd;
	while (peer_fill() && !memmem(peer.in, peer.len, "BEGIN\r\n", 7))
		;
	say_bytes("DATA\r\nOK 01\r\n", 13);
	peer.at = peer.len;
	expect_end();
}

/* The queue is full when we come, and is served later. */
TEST(a_full_queue_is_waited_for)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fds[16], n, i;

	server_start(serve_nobody);
	kill(server.pid, SIGKILL);
	waitpid(server.pid, NULL, 0);
	server.pid = 0;
	unlink(server.path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", server.path);
	i = server_listen(&at, sizeof(at), 1);
	for (n = 0; n < 16; n++) {
		fds[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connect(fds[n], (struct sockaddr *)&at, sizeof(at)) < 0)
			break;
	}
	CHECK(n > 0 && n < 16 && errno == EAGAIN);
	/* Who has hung up stays in the queue. */
	for (; n >= 0; n--)
		close(fds[n]);
	server_fork(i, serve_later);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(server_end(), 0);
}

/* ---- peers that lie ---- */

static void serve_other_serials(int listen_fd)
{
	struct dbus_message m, other;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	other = m;
	for (other.serial = m.serial + 3; other.serial; other.serial--)
		if (other.serial != m.serial)
			answer_error(&other, "a.b", "to something else");
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(answers_to_other_calls_are_none)
{
	server_start(serve_other_serials);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), 0);
	CHECK_INT(server_end(), 0);
}

static const char *lie;
static size_t lie_len;

static void serve_lie(int listen_fd)
{
	accept_client(listen_fd);
	expect("StartTransientUnit");
	say_bytes(lie, lie_len);
	ignore_everything();
}

TEST(what_is_no_message_ends_the_conversation)
{
	static const struct {
		const char *bytes;
		const char *why;
	} lies[] = {
		{"HTTP/1.1 400 Bad Request\r\n", "is not D-Bus"},
		{"l\2\0\1\1\0\x10\0\1\0\0\0\0\0\0\0", "larger than"},
		{"l\2\0\1\xff\xff\xff\xff\1\0\0\0\0\0\0\0", "larger than"},
		{"l\2\0\1\0\0\0\0\1\0\0\0\xff\xff\xff\xff", "larger than"},
		{"l\2\0\1\0\0\0\0\1\0\0\0\0\0\0\0", "wrong header"},
		{"B\2\0\1\0\0\0\0\1\0\0\0\0\0\0\0", "is not D-Bus"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		lie = lies[i].bytes;
		lie_len = 16;
		server_start(serve_lie);
		CHECK_INT(open_path(false, LONG_MS), 0);
		CHECK_INT(start_unit(), -1);
		CHECK_ERROR(lies[i].why);
		CHECK_INT(server_end(), 0);
	}
}

static const char *odd_signature, *odd_text;

static void serve_odd_answer(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	if (odd_text)
		answer_text_as(&m, odd_signature, odd_text);
	else
		answer(&m);
	expect_stop_unseen();
}

TEST(answers_of_another_type_are_refused)
{
	static const struct {
		const char *signature, *text;
	} odd[] = {{"s", JOB}, {"u", JOB}, {"oo", JOB}, {"o", ""}, {NULL, NULL}};
	char *large = arena_alloc(&arena, 1000, 1);
	size_t i;

	memset(large, 'x', 999);
	for (i = 0; i <= ARRAY_SIZE(odd); i++) {
		odd_signature = i < ARRAY_SIZE(odd) ? odd[i].signature : "o";
		odd_text = i < ARRAY_SIZE(odd) ? odd[i].text : large;
		server_start(serve_odd_answer);
		CHECK_INT(open_path(false, LONG_MS), 0);
		CHECK_INT(start_unit(), -1);
		CHECK_ERROR("its answer is not what this call is answered with");
		CHECK_INT(server_end(), 0);
	}
}

/* Signals that look like a job's end, and are none. */
static void serve_odd_signals(int listen_fd)
{
	struct buf body = buf_new(&arena, DBUS_BODY_MAX);
	struct dbus_message s = {.type = DBUS_SIGNAL,
				 .path = ROOT,
				 .interface = MANAGER,
				 .member = "JobRemoved",
				 .signature = "uoss"};
	struct dbus_message m;
	char *large = arena_alloc(&arena, DBUS_BODY_MAX, 1);

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	answer_text_as(&m, "o", JOB);
	say(s); /* without a body */
	dbus_put_u32(&body, 7);
	dbus_put_string(&body, JOB);
	dbus_put_string(&body, UNIT);
	s.body = body.data;
	s.body_len = body.len;
	say(s); /* one text too few */
	dbus_put_string(&body, "failed");
	s.body = body.data;
	s.body_len = body.len;
	s.signature = "uosss";
	say(s);
	s.signature = "uoss";
	s.interface = "a.b";
	say(s);
	s.interface = MANAGER;
	s.path = "/";
	say(s);
	s.path = ROOT;
	s.member = "JobNew";
	say(s);
	s.member = "JobRemoved";
	dbus_put_byte(&body, 0);
	s.body_len = body.len;
	say(s); /* more than the signature says */
	memset(large, 'x', DBUS_BODY_MAX - 100);
	say_job_ended(UNIT, JOB, large);
	say_job_ended(large, JOB, "done");
	say_job_ended(UNIT, large, "done");
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(signals_of_another_shape_are_passed_over)
{
	server_start(serve_odd_signals);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), 0);
	CHECK(conn.bus.in_cap / 2 <= DBUS_MESSAGE_MAX);
	CHECK_INT(server_end(), 0);
}

static void serve_descriptors(int listen_fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec io = {.iov_base = (char *)(uintptr_t)hello, .iov_len = 1};
	struct msghdr h = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	struct dbus_message m;
	int fd = 2;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	SERVER_CHECK(sendmsg(peer.fd, &h, 0) == 1);
	say_bytes(hello + 1, sizeof(hello) - 1);
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(descriptors_that_a_peer_sends_are_not_kept)
{
	int before, after;

	server_start(serve_descriptors);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(fcntl(conn.bus.fd, F_GETFD), FD_CLOEXEC);
	before = dup(0);
	close(before);
	CHECK_INT(start_unit(), 0);
	after = dup(0);
	close(after);
	CHECK_INT(after, before);
	CHECK_INT(server_end(), 0);
}

/* ---- peers that leave ---- */

static size_t leave_after;

static void serve_and_leave(int listen_fd)
{
	struct dbus_message m;
	struct buf b, body = text_body(JOB);

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	b = written(&(struct dbus_message){.type = DBUS_RETURN,
					   .serial = 1,
					   .reply_serial = m.serial,
					   .signature = "o",
					   .body = body.data,
					   .body_len = body.len});
	say_bytes(b.data, leave_after < b.len ? leave_after : b.len);
}

TEST(a_peer_that_leaves_is_an_error)
{
	static const size_t after[] = {0, 1, 15, 16, 40, 1000};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(after); i++) {
		leave_after = after[i];
		server_start(serve_and_leave);
		CHECK_INT(open_path(false, LONG_MS), 0);
		CHECK_INT(start_unit(), -1);
		CHECK_STR(err.text,
			  "systemd: StartTransientUnit of " UNIT ": it closed the connection");
		CHECK_INT(server_end(), 0);
	}
}

static void serve_hang_up(int listen_fd)
{
	take_client(listen_fd);
}

TEST(a_peer_that_leaves_at_once_is_an_error)
{
	server_start(serve_hang_up);
	CHECK_INT(open_path(false, LONG_MS), -1);
	CHECK_ERROR("/socket: it closed the connection");
	CHECK_INT(server_end(), 0);
}

static void serve_gone(int listen_fd)
{
	accept_client(listen_fd);
}

/* A call into a closed connection is no SIGPIPE. */
TEST(a_peer_that_has_left_is_an_error)
{
	server_start(serve_gone);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK(waitpid(server.pid, NULL, 0) == server.pid);
	server.pid = 0;
	CHECK_INT(start_unit(), -1);
	CHECK_ERROR("it closed the connection");
	CHECK_INT(server_end(), 0);
}

/* ---- places ---- */

static void serve_second_client(int listen_fd)
{
	take_client(listen_fd);
	say_bytes("REJECTED EXTERNAL\r\n", 19);
	expect_end();
	close(peer.fd);
	accept_client(listen_fd);
	expect_end();
}

TEST(who_is_rejected_tries_the_next_place)
{
	struct systemd_places places = {.n = 1};

	server_start(serve_second_client);
	places.v[0].at.name = server.path;
	CHECK_INT(systemd_open_at(SYSTEMD_OF_MACHINE, &places, loop_now() + LONG_MS * LOOP_MS, NULL,
				  &conn, &err),
		  -1);
	CHECK_ERROR("/socket: it does not take us for who we are: is systemd the init of");
	places = (struct systemd_places){.n = 2, .v = {{.at = {.name = "/none/such"}}}};
	places.v[1].at.name = server.path;
	CHECK_INT(systemd_open_at(SYSTEMD_OF_MACHINE, &places, loop_now() + LONG_MS * LOOP_MS, NULL,
				  &conn, &err),
		  0);
	CHECK_INT(server_end(), 0);
}

/* ---- the first call, along with who we are ---- */

enum { LINES_LEN = sizeof(DBUS_AUTH_LINES) - 1 };

static const struct systemd_places *twice_the_server(bool is_bus)
{
	static struct systemd_places places;
	size_t i;

	places = (struct systemd_places){.n = 2};
	for (i = 0; i < places.n; i++)
		places.v[i] = (struct systemd_place){.at = {.name = server.path}, .is_bus = is_bus};
	return &places;
}

/* A call that is as large as this. */
static int open_and_start(const struct systemd_places *places, size_t size, int ms)
{
	char *text = arena_alloc(&arena, size + 1, 1);
	struct unit_property v = {.name = "Description", .type = UNIT_TEXT, .text = text};
	const struct unit_properties p = {1, &v};

	memset(text, 'x', size);
	return systemd_open_and_start_at(SYSTEMD_OF_USER, places, loop_now() + ms * LOOP_MS, UNIT,
					 &p, getpid(), &err);
}

static void answer_start(const struct dbus_message *m)
{
	answer_text_as(m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

static void serve_along(int listen_fd)
{
	struct dbus_message m;

	take_client(listen_fd);
	m = expect("StartTransientUnit");
	SERVER_CHECK(m.serial == 1 && m.body_len > 1000);
	take_us();
	answer_start(&m);
}

TEST(the_first_call_goes_along_with_who_we_are)
{
	server_start(serve_along);
	CHECK_INT(open_and_start(twice_the_server(false), 1000, LONG_MS), 0);
	CHECK_INT(server_end(), 0);
}

/* What is sent at once comes at once. */
static void serve_not_along(int listen_fd)
{
	struct dbus_message m;

	take_client(listen_fd);
	SERVER_CHECK(peer.len == LINES_LEN);
	take_us();
	m = expect("StartTransientUnit");
	SERVER_CHECK(m.serial == 1);
	answer_start(&m);
}

TEST(a_small_call_waits_until_we_are_taken)
{
	server_start(serve_not_along);
	CHECK_INT(open_and_start(twice_the_server(false), 10, LONG_MS), 0);
	CHECK_INT(server_end(), 0);
}

static void serve_bus_not_along(int listen_fd)
{
	enter_bus(listen_fd, ":1.0");
	peer.sender = ":1.0";
	answer_error(&(struct dbus_message){.serial = expect("AddMatch").serial}, "a.b", "no");
	expect_end();
}

TEST(a_bus_gets_no_call_before_it_has_taken_us)
{
	server_start(serve_bus_not_along);
	CHECK_INT(open_and_start(twice_the_server(true), 1000, LONG_MS), -1);
	CHECK_ERROR("AddMatch");
	CHECK_INT(server_end(), 0);
}

/* One says why, the other does not; whatever came along has not been done. */
static void serve_refused_call(int listen_fd)
{
	take_client(listen_fd);
	say_bytes("REJECTED EXTERNAL\r\n", 19);
	close(peer.fd);
	serve_along(listen_fd);
}

static void serve_hanging_up(int listen_fd)
{
	take_client(listen_fd);
	close(peer.fd);
	serve_along(listen_fd);
}

static void serve_wrong_call(int listen_fd)
{
	take_client(listen_fd);
	say_bytes("HTTP/1.1 400 Bad Request\r\n", 26);
	close(peer.fd);
	serve_along(listen_fd);
}

TEST(a_call_that_was_refused_goes_to_the_next_place)
{
	serve_call *const servers[] = {serve_refused_call, serve_hanging_up, serve_wrong_call};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(servers); i++) {
		server_start(servers[i]);
		if (open_and_start(twice_the_server(false), 1000, LONG_MS) < 0)
			FAIL("%zu: %s", i, err.text);
		CHECK_INT(server_end(), 0);
	}
}

/* It refuses before it has read all of what came along. */
static void serve_refused_in_between(int listen_fd)
{
	take_client(listen_fd);
	say_bytes("REJECTED EXTERNAL\r\n", 19);
	close(peer.fd);
}

TEST(a_refusal_is_heard_although_the_call_could_not_be_sent)
{
	struct systemd_places places = {.n = 1};

	server_start(serve_refused_in_between);
	places.v[0].at.name = server.path;
	CHECK_INT(open_and_start(&places, 1000000, LONG_MS), -1);
	CHECK_INT(err.class, ERR_HOST);
	CHECK_ERROR("it does not take us for who we are");
	CHECK_INT(server_end(), 0);
}

/* It has read the call before it took us, and looks again when more comes. */
static void serve_forgetful(int listen_fd)
{
	struct dbus_message m, ping;

	take_client(listen_fd);
	m = expect("StartTransientUnit");
	take_us();
	ping = expect("Ping");
	SERVER_CHECK((ping.flags & DBUS_NO_REPLY) && str_eq(ping.interface, BUS ".Peer") &&
		     ping.serial == 2);
	answer_start(&m);
}

TEST(a_service_that_has_forgotten_the_call_is_nudged)
{
	server_start(serve_forgetful);
	CHECK_INT(open_and_start(twice_the_server(false), 1000, LONG_MS), 0);
	CHECK_INT(server_end(), 0);
}

/* It reads no message that came before it took us: once more it is not sent, for it may be late. */
static void serve_dropped(int listen_fd)
{
	take_client(listen_fd);
	expect("StartTransientUnit");
	take_us();
	expect("Ping");
	expect_end();
}

TEST(a_service_that_drops_the_call_is_given_up)
{
	server_start(serve_dropped);
	CHECK_INT(open_and_start(twice_the_server(false), 1000, AMPLE_MS), -1);
	CHECK_INT(err.sys, ETIMEDOUT);
	CHECK_ERROR("StartTransientUnit of " UNIT ": no answer within 3 s");
	CHECK_INT(server_end(), 0);
}

/* Whoever is not heard may have done it: no other place is asked. */
static void serve_unheard(int listen_fd)
{
	take_client(listen_fd);
	expect("StartTransientUnit");
	expect_end();
	SERVER_CHECK(fcntl(listen_fd, F_SETFL, O_NONBLOCK) == 0);
	SERVER_CHECK(accept(listen_fd, NULL, NULL) < 0 && errno == EAGAIN);
}

TEST(a_service_that_gives_no_verdict_may_have_done_it)
{
	server_start(serve_unheard);
	CHECK_INT(open_and_start(twice_the_server(false), 1000, SHORT_MS), -1);
	CHECK_ERROR("systemd: connect to /tmp/sbxt-dbus.");
	CHECK_ERROR("/socket: no answer within 1 s");
	CHECK_INT(server_end(), 0);
}

static void serve_greeting(int listen_fd)
{
	accept_client(listen_fd);
	expect_end();
}

TEST(nothing_is_sent_of_what_can_not_be)
{
	struct unit_property v = {.name = "a", .field = "f", .type = UNIT_TEXT, .text = "\xff"};
	const struct unit_properties p = {1, &v};

	CHECK_INT(systemd_open_and_start_at(SYSTEMD_OF_USER, twice_the_server(false), 0, UNIT, &p,
					    0, &err),
		  -1);
	CHECK_STR(err.text, "f: not UTF-8");
	CHECK_INT(systemd_open_and_start_at(SYSTEMD_OF_USER, twice_the_server(false), 0, "a b", &p,
					    0, &err),
		  -1);
	CHECK_ERROR("not the name of a unit");
	server_start(serve_greeting);
	CHECK_INT(open_and_start(twice_the_server(false), DBUS_BODY_MAX, LONG_MS), -1);
	CHECK_ERROR("the call is larger than");
	CHECK_INT(server_end(), 0);
}

TEST(a_name_in_no_file_system_is_connected_to)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct systemd_places places = {.n = 1, .v = {{.at = {.is_abstract = true}}}};
	char name[200];
	int len;

	server_end();
	len = snprintf(name, sizeof(name), "sbxrun-test-%d", getpid());
	memcpy(at.sun_path + 1, name, (size_t)len);
	server_fork(server_listen(&at, offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len, 8),
		    serve_greeting);
	places.v[0].at.name = name;
	CHECK_INT(systemd_open_at(SYSTEMD_OF_USER, &places, loop_now() + LONG_MS * LOOP_MS, NULL,
				  &conn, &err),
		  0);
	CHECK_INT(server_end(), 0);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK_INT(systemd_open_at(SYSTEMD_OF_USER, &places, loop_now() + LONG_MS * LOOP_MS, NULL,
				  &conn, &err),
		  -1);
	CHECK_ERROR("too long");
}

static const char *list_places(enum systemd_manager m)
{
	struct buf b = buf_new(&arena, 4000);
	struct systemd_places p;
	size_t i;

	systemd_list_places(m, &arena, &p);
	for (i = 0; i < p.n; i++)
		buf_printf(&b, "%s%s%s ", p.v[i].is_bus ? "" : "!",
			   p.v[i].at.is_abstract ? "@" : "", p.v[i].at.name);
	buf_str(&b, p.wrong);
	return b.data;
}

static const char *with_own(const char *places, const char *wrong)
{
	return arena_printf(&arena, "%s!/run/user/%u/systemd/private /run/user/%u/bus %s", places,
			    geteuid(), geteuid(), wrong);
}

TEST(places_come_from_the_environment)
{
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	CHECK_STR(list_places(SYSTEMD_OF_MACHINE),
		  "!/run/systemd/private /run/dbus/system_bus_socket ");
	CHECK_STR(list_places(SYSTEMD_OF_USER), with_own("", ""));
	setenv("XDG_RUNTIME_DIR", "/x", 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x/bus;unix:abstract=b", 1);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/y", 1);
	CHECK_STR(list_places(SYSTEMD_OF_MACHINE),
		  "!/run/systemd/private /y /run/dbus/system_bus_socket ");
	CHECK_STR(list_places(SYSTEMD_OF_USER), with_own("!/x/systemd/private /x/bus @b ", ""));
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "tcp:host=a", 1);
	CHECK_STR(list_places(SYSTEMD_OF_USER),
		  with_own("", "$DBUS_SESSION_BUS_ADDRESS: no unix:path= or unix:abstract="));
	setenv("XDG_RUNTIME_DIR", "/a\nb", 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path", 1);
	CHECK_STR(list_places(SYSTEMD_OF_USER),
		  with_own("", "$DBUS_SESSION_BUS_ADDRESS: no key=value where one should be"));
	setenv("XDG_RUNTIME_DIR", "", 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "", 1);
	CHECK_STR(list_places(SYSTEMD_OF_USER), with_own("", ""));
}

/* ---- what systemd refuses ---- */

static void serve_exists_once(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	answer_error(&m, "org.freedesktop.systemd1.UnitExists", "Unit was already loaded");
	m = expect("ResetFailedUnit");
	SERVER_CHECK(str_eq(m.signature, "s"));
	answer(&m);
	m = expect("StartTransientUnit");
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(a_failed_unit_of_that_name_is_forgotten)
{
	server_start(serve_exists_once);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), 0);
	CHECK_INT(server_end(), 0);
}

static void answer_variant(const struct dbus_message *m, const char *type, const char *text)
{
	struct buf body = buf_new(&arena, DBUS_BODY_MAX);

	dbus_put_signature(&body, type);
	dbus_put_string(&body, text);
	say((struct dbus_message){.type = DBUS_RETURN,
				  .reply_serial = m->serial,
				  .signature = "v",
				  .body = body.data,
				  .body_len = body.len});
}

static void serve_exists(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	answer_error(&m, "org.freedesktop.systemd1.UnitExists", "");
	m = expect("ResetFailedUnit");
	answer_error(&m, "org.freedesktop.systemd1.NoSuchUnit", "");
	m = expect("StartTransientUnit");
	answer_error(&m, "org.freedesktop.systemd1.UnitExists", "");
	m = expect("Get");
	answer_variant(&m, "s", "sbxrun container 12 /dev");
	m = expect("Get");
	answer_variant(&m, "s", "sbxrun container 12 /dev");
	expect_end();
}

TEST(a_unit_that_runs_is_said_to_exist)
{
	server_start(serve_exists);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), -1);
	CHECK_INT(err.class, ERR_EXISTS);
	CHECK_STR(err.text,
		  "linux.cgroupsPath: systemd has a unit " UNIT
		  " already, which is sbxrun container 12 /dev: choose another name, or delete "
		  "that container first");
	CHECK_INT(server_end(), 0);
}

/* First of a container whose record is gone, then of nobody: it went between two questions. */
static void serve_ending(int listen_fd)
{
	struct dbus_message m;
	int i;

	accept_client(listen_fd);
	for (i = 0; i < 4; i++) {
		m = expect("StartTransientUnit");
		if (i == 3)
			break;
		answer_error(&m, "org.freedesktop.systemd1.UnitExists", "");
		m = expect(i == 0 ? "ResetFailedUnit" : "Get");
		if (i == 0)
			answer_error(&m, "org.freedesktop.systemd1.NoSuchUnit", "");
		else
			answer_variant(&m, "s", i == 1 ? "sbxrun container 12 /no/record" : UNIT);
	}
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	expect_end();
}

TEST(a_unit_whose_container_is_gone_is_waited_for)
{
	server_start(serve_ending);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), 0);
	CHECK_INT(server_end(), 0);
}

static struct unit_property three[] = {
	{.name = "AllowedCPUs", .type = UNIT_BOOL},
	{.name = "Allowed", .type = UNIT_BOOL},
	{.name = "AllowedCPUs", .type = UNIT_BOOL},
};
static const struct unit_properties three_properties = {3, three};

static void answer_unknown(const struct dbus_message *m, const char *name)
{
	char text[200];

	snprintf(text, sizeof(text), "Cannot set property %s, or unknown property.", name);
	answer_error(m, BUS ".Error.PropertyReadOnly", text);
}

static bool has_text(const struct dbus_message *m, const char *text)
{
	return memmem(m->body, m->body_len, text, strlen(text) + 1) != NULL;
}

static void serve_unknown(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	SERVER_CHECK(has_text(&m, "AllowedCPUs") && has_text(&m, "Allowed"));
	answer_unknown(&m, "AllowedCPUs");
	m = expect("StartTransientUnit");
	SERVER_CHECK(!has_text(&m, "AllowedCPUs") && has_text(&m, "Allowed"));
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	m = expect("SetUnitProperties");
	SERVER_CHECK(str_eq(m.signature, "sba(sv)") && has_text(&m, UNIT));
	SERVER_CHECK(memcmp(m.body + 16, "\1\0\0\0", 4) == 0);
	answer_unknown(&m, "Allowed");
	m = expect("SetUnitProperties");
	SERVER_CHECK(has_text(&m, "AllowedCPUs"));
	answer_unknown(&m, "AllowedCPUs");
	expect_end();
}

TEST(properties_that_systemd_does_not_know_are_left_out)
{
	char log[] = "/tmp/sbxt-dbus-log.XXXXXX", text[4096] = "";
	int fd = mkstemp(log);

	CHECK(fd >= 0);
	CHECK_INT(log_open(&(struct log_options){.file = log, .level = LOG_INFO}, &err), 0);
	server_start(serve_unknown);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(systemd_start_unit(&conn, UNIT, &three_properties, 0, &err), 0);
	/* All of them: there is nothing to set any more. */
	CHECK_INT(systemd_set_properties(&conn, UNIT, &three_properties, &err), 0);
	/* Those who own the list have all of it. */
	CHECK_STR(three[0].name, "AllowedCPUs");
	CHECK_STR(three[1].name, "Allowed");
	CHECK_INT(server_end(), 0);
	log_close();
	unlink(log);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	CHECK(strstr(text, UNIT " is without AllowedCPUs, which this systemd doesn't know"));
}

static void serve_unknown_choice(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	SERVER_CHECK(has_text(&m, "i") && memmem(m.body, m.body_len, "\1i\0", 3));
	answer_unknown(&m, "KillSignal");
	expect_end();
}

/* Nothing would stand in for what a config chose. */
TEST(a_chosen_property_that_systemd_does_not_know_is_an_error)
{
	static struct unit_property two[] = {
		{.name = "AllowedCPUs", .type = UNIT_BOOL},
		{.name = "KillSignal", .type = UNIT_SIGNED, .number = 37, .chosen = true},
	};
	static const struct unit_properties two_properties = {2, two};

	server_start(serve_unknown_choice);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(systemd_start_unit(&conn, UNIT, &two_properties, 0, &err), -1);
	CHECK_ERROR("property KillSignal, or");
	CHECK_INT(server_end(), 0);
}

static void serve_unknown_all(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	answer_unknown(&m, "Description");
	m = expect("StartTransientUnit");
	answer_unknown(&m, "Something");
	m = expect("SetUnitProperties");
	answer_unknown(&m, "Something\nelse");
	expect_end();
}

TEST(a_unit_with_nothing_left_or_nothing_to_leave_out_is_refused)
{
	server_start(serve_unknown_all);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(start_unit(), -1);
	CHECK_STR(err.text,
		  "systemd: StartTransientUnit of " UNIT ": it refused: Cannot set property "
		  "Description, or unknown property. "
		  "(org.freedesktop.DBus.Error.PropertyReadOnly)");
	CHECK_INT(start_unit(), -1);
	CHECK_ERROR("property Something, or");
	CHECK_INT(systemd_set_properties(&conn, UNIT, &three_properties, &err), -1);
	CHECK_ERROR("SetUnitProperties of " UNIT
		    ": it refused: Cannot set property Something?else,");
	CHECK_INT(server_end(), 0);
}

/* However many there are that it doesn't know. */
static void serve_unknown_one_by_one(int listen_fd)
{
	struct dbus_message m;
	char name[] = "PropertyA";
	int n = 0;

	accept_client(listen_fd);
	for (; hear(&m); n++) {
		answer_unknown(&m, name);
		name[8]++;
		if (name[8] == 'Z' + 1)
			name[8] = 'a';
	}
	SERVER_CHECK(n == 32);
}

TEST(there_is_an_end_to_leaving_out)
{
	static char names[52][12];
	static struct unit_property v[ARRAY_SIZE(names)];
	const struct unit_properties p = {ARRAY_SIZE(v), v};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(names[i], sizeof(names[i]), "Property%c",
			 (char)(i < 26 ? 'A' + i : 'a' + i - 26));
		v[i].name = names[i];
	}
	server_start(serve_unknown_one_by_one);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(systemd_start_unit(&conn, UNIT, &p, 0, &err), -1);
	CHECK_ERROR("it refused");
	CHECK_INT(server_end(), 0);
}

static void serve_nothing(int listen_fd)
{
	accept_client(listen_fd);
	expect_end();
}

TEST(what_d_bus_can_not_carry_is_not_sent)
{
	char bad[] = "\xff", *texts[] = {bad, NULL};
	const struct unit_pair pairs[] = {{.name = "a", .text = bad}}, names[] = {{.name = bad}};
	struct unit_property v[] = {
		{.name = "A", .field = "the.field", .type = UNIT_TEXT, .text = bad},
		{.name = "the.field", .type = UNIT_TEXTS, .texts = {1, texts}},
		{.name = "the.field", .type = UNIT_PAIRS, .pairs = {pairs, 1}},
		{.name = "the.field", .type = UNIT_WEIGHTS, .pairs = {names, 1}},
	};
	static const char *const units[] = {"", "a b.scope", "a'.scope", "../a.scope", "a\n.scope"};
	char *large = arena_alloc(&arena, DBUS_BODY_MAX, 1);
	struct unit_properties p = {.n = 1};
	size_t i;

	server_start(serve_nothing);
	CHECK_INT(open_path(false, LONG_MS), 0);
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		p.v = &v[i];
		CHECK_INT(systemd_start_unit(&conn, UNIT, &p, 0, &err), -1);
		CHECK_STR(err.text, "the.field: not UTF-8");
		CHECK_INT(systemd_set_properties(&conn, UNIT, &p, &err), -1);
	}
	memset(large, 'x', 256);
	for (i = 0; i <= ARRAY_SIZE(units); i++) {
		const char *unit = i < ARRAY_SIZE(units) ? units[i] : large;
		char *text;

		CHECK_INT(systemd_start_unit(&conn, unit, &one_property, 0, &err), -1);
		CHECK_ERROR("not the name of a unit of systemd");
		CHECK_INT(systemd_stop_unit(&conn, unit, &err), -1);
		CHECK_INT(systemd_set_properties(&conn, unit, &one_property, &err), -1);
		CHECK_INT(systemd_describe_unit(&conn, unit, &arena, &text, &err), -1);
		CHECK(!strchr(err.text, '\n'));
	}
	memset(large, 'x', DBUS_BODY_MAX - 1);
	v[0].text = large;
	p.v = v;
	CHECK_INT(systemd_start_unit(&conn, UNIT, &p, 0, &err), -1);
	CHECK_ERROR("the call is larger than 1048576 bytes");
	CHECK_INT(server_end(), 0);
}

/* Larger than what the kernel takes at once. */
static void serve_large_call(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StartTransientUnit");
	SERVER_CHECK(m.body_len > 1000000);
	answer_error(&m, "a.b", "as it were");
	expect_end();
}

TEST(a_large_call_is_sent_whole)
{
	char *large = arena_alloc(&arena, 1000001, 1);
	struct unit_property v = {.name = "A", .type = UNIT_TEXT, .text = large};
	const struct unit_properties p = {1, &v};

	memset(large, 'x', 1000000);
	server_start(serve_large_call);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(systemd_start_unit(&conn, UNIT, &p, 0, &err), -1);
	CHECK_ERROR("it refused: as it were (a.b)");
	CHECK_INT(server_end(), 0);
}

static void serve_deaf(int listen_fd)
{
	struct pollfd p;

	accept_client(listen_fd);
	p = (struct pollfd){.fd = peer.fd, .events = POLLRDHUP};
	SERVER_CHECK(poll(&p, 1, -1) == 1);
}

TEST(a_peer_that_does_not_read_is_given_up)
{
	char *large = arena_alloc(&arena, 1000001, 1);
	struct unit_property v = {.name = "A", .type = UNIT_TEXT, .text = large};
	const struct unit_properties p = {1, &v};

	memset(large, 'x', 1000000);
	server_start(serve_deaf);
	CHECK_INT(open_for(SHORT_MS), 0);
	CHECK_INT(systemd_start_unit(&conn, UNIT, &p, 0, &err), -1);
	CHECK_ERROR("no answer within 1 s");
	CHECK_INT(server_end(), 0);
}

/* ---- the other calls ---- */

static void serve_stop(int listen_fd)
{
	struct dbus_message m;

	accept_client(listen_fd);
	m = expect("StopUnit");
	SERVER_CHECK(!(m.flags & DBUS_NO_REPLY) && str_eq(m.signature, "ss"));
	answer_text_as(&m, "o", JOB);
	say_job_ended(UNIT, JOB, "done");
	m = expect("ResetFailedUnit");
	answer_error(&m, "org.freedesktop.systemd1.NoSuchUnit", "Unit " UNIT " not loaded.");
	m = expect("StopUnit");
	answer_error(&m, "org.freedesktop.systemd1.NoSuchUnit", "Unit " UNIT " not loaded.");
	m = expect("StopUnit");
	answer_error(&m, BUS ".Error.AccessDenied", "Permission denied");
	m = expect("StopUnit");
	answer_text_as(&m, "o", JOB "1");
	say_job_ended(UNIT, JOB "1", "failed");
	expect_end();
}

TEST(a_unit_is_stopped_and_none_is_as_good)
{
	server_start(serve_stop);
	CHECK_INT(open_path(false, LONG_MS), 0);
	CHECK_INT(systemd_stop_unit(&conn, UNIT, &err), 0);
	CHECK_INT(systemd_stop_unit(&conn, UNIT, &err), 0);
	CHECK_INT(systemd_stop_unit(&conn, UNIT, &err), -1);
	CHECK_STR(err.text, "systemd: StopUnit of " UNIT ": it refused: Permission denied "
			    "(org.freedesktop.DBus.Error.AccessDenied)");
	CHECK_INT(systemd_stop_unit(&conn, UNIT, &err), -1);
	CHECK_ERROR("the job ended as \"failed\"");
	CHECK_INT(server_end(), 0);
}

static const struct {
	const char *said;
	const char *want; /* NULL: refused */
} groups[] = {
	{"", ""},
	{"/", ""},
	{"/user.slice/user@1000.service", "/user.slice/user@1000.service"},
	{"/a..b/.c/...", "/a..b/.c/..."},
	{"user.slice", NULL},
	{"/a/../b", NULL},
	{"/..", NULL},
	{"/a/.", NULL},
	{"/./a", NULL},
	{"//a", NULL},
	{"/a/", NULL},
	{"/a\nb", NULL},
};


static void serve_groups(int listen_fd)
{
	struct dbus_message m;
	size_t i;

	accept_client(listen_fd);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		m = expect("Get");
		SERVER_CHECK(str_eq(m.interface, BUS ".Properties") && str_eq(m.signature, "ss") &&
			     str_eq(m.path, ROOT) && has_text(&m, MANAGER) &&
			     has_text(&m, "ControlGroup"));
		answer_variant(&m, "s", groups[i].said);
	}
	m = expect("Get");
	answer_variant(&m, "o", "/a");
	m = expect("Get");
	answer_text_as(&m, "s", "/a");
	m = expect("Get");
	answer(&m);
	m = expect("Get");
	SERVER_CHECK(str_eq(m.path, ROOT "/unit/a_2d1_2escope") && has_text(&m, "Description"));
	answer_variant(&m, "s", "a\nb");
	expect_end();
}

TEST(the_managers_group_is_a_path_or_refused)
{
	char *got;
	size_t i;

	server_start(serve_groups);
	CHECK_INT(open_path(false, LONG_MS), 0);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (groups[i].want) {
			CHECK_INT(systemd_control_group(&conn, &arena, &got, &err), 0);
			CHECK_STR(got, groups[i].want);
			continue;
		}
		CHECK_INT(systemd_control_group(&conn, &arena, &got, &err), -1);
		CHECK_STR(err.text,
			  "systemd: Get: its answer is not what this call is answered with");
	}
	for (i = 0; i < 3; i++)
		CHECK_INT(systemd_control_group(&conn, &arena, &got, &err), -1);
	CHECK_INT(systemd_describe_unit(&conn, UNIT, &arena, &got, &err), 0);
	CHECK_STR(got, "a\nb");
	CHECK_INT(server_end(), 0);
}

int main(void)
{
	int status = unit_main();

	server_end();
	arena_free(&arena);
	return status;
}
