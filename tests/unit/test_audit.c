/* The audit file: what is appended verifies, whatever is done to the file afterwards is found, and
 * what a crash leaves is told from what somebody did. */
#include "box/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/audit_file.h"
#include "unit.h"

static char dir[64];
static char file[96], head[96], next[96];

static void fresh(void)
{
	strcpy(dir, "/tmp/sbxu-audit-XXXXXX");
	CHECK(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/log", dir);
	snprintf(head, sizeof(head), "%s/log.head", dir);
	snprintf(next, sizeof(next), "%s/log.head.next", dir);
}

static void gone(void)
{
	unlink(file);
	unlink(head);
	unlink(next);
	CHECK(rmdir(dir) == 0);
}

static struct audit_entry example(void)
{
	return (struct audit_entry){.time = "2026-11-18T00:00:00Z",
				    .uid = 1000,
				    .verb = "do",
				    .id = "box-1",
				    .language = "python",
				    .code_sha256 = "abc",
				    .limits = "{\"memory\":1}",
				    .status = "ok",
				    .denials = "[]"};
}

static const char *note; /* of the last append */
static struct arena memory;

static int append_with(const struct audit_entry *entry, struct error *e)
{
	const struct audit_place place = {.path = file};

	note = NULL;
	return audit_append(&place, entry, &memory, &note, e);
}

static void append(const char *id)
{
	struct audit_entry entry = example();
	struct error e = {0};

	entry.id = id;
	if (append_with(&entry, &e) < 0)
		FAIL("%s", e.text);
}

static struct audit_report verified(void)
{
	const struct audit_place place = {.path = file};
	struct arena a = {0};
	struct audit_report r;
	struct error e;

	if (audit_verify(&place, NULL, &a, &r, &e) < 0)
		FAIL("%s", e.text);
	arena_free(&a);
	return r;
}

static void good(uint64_t lines)
{
	struct audit_report r = verified();

	if (r.bad_line)
		FAIL("line %zu: %s", r.bad_line, r.why);
	CHECK(r.head_checked);
	CHECK_INT(r.lines, lines);
}

static void bad(size_t line, const char *why)
{
	struct audit_report r = verified();

	if (!r.bad_line)
		FAIL("it is good");
	if (!strstr(r.why, why))
		FAIL("line %zu: %s", r.bad_line, r.why);
	CHECK_INT(r.bad_line, line);
}

static char *slurp(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t len;
	char *text = fd < 0 ? NULL : fd_read_all(fd, 1 << 20, &memory, &len);

	if (fd >= 0)
		close(fd);
	CHECK(text);
	return text;
}

static void spit(const char *path, const char *text, size_t len, int flags)
{
	int fd = open(path, O_WRONLY | flags, 0600);

	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

static void rewrite(const char *path, const char *text)
{
	spit(path, text, strlen(text), O_TRUNC | O_CREAT);
}

/* The n-th line, from 1, with its line feed. */
static char *line_of(const char *text, size_t n)
{
	const char *end;

	while (--n)
		text = strchr(text, '\n') + 1;
	end = strchr(text, '\n');
	return arena_strndup(&memory, text, (size_t)(end - text) + 1);
}

static void five(void)
{
	fresh();
	append("1");
	append("2");
	append("3");
	append("4");
	append("5");
	good(5);
	CHECK(!note);
}

TEST(a_line_says_what_was_run)
{
	struct audit_entry entry = example();
	struct error e;
	char *args[] = {(char[]){"a\"b"}, (char[]){"\xff\n"}, NULL};

	fresh();
	entry.args = (struct strings){2, args};
	CHECK(append_with(&entry, &e) == 0);
	CHECK_STR(slurp(file),
		  "{\"n\":1,\"time\":\"2026-11-18T00:00:00Z\",\"uid\":1000,\"verb\":\"do\",\"id\":\"box-1\","
		  "\"language\":\"python\",\"code_sha256\":\"abc\",\"rootfs\":null,\"limits\":{\"memory\":1},"
		  "\"status\":\"ok\",\"exit_code\":0,\"signal\":null,\"denials\":[],\"args\":[\"a\\\"b\",\"\\ufffd\\n\"],"
		  /* by Python's hashlib, of 64 zeros and the line without its hash */
		  "\"hash\":\"d4fcc76b9d4da3b71f007eaafa6ef9004bfc3c7c8f1e86491a5ff42580c2faea\"}\n");
	gone();
}

TEST(the_file_is_ours_alone)
{
	struct stat st;

	five();
	CHECK(stat(file, &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(stat(head, &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(access(next, F_OK) < 0);
	gone();
}

TEST(a_change_of_any_byte_is_found)
{
	size_t at, len;
	char *text;

	five();
	text = slurp(file);
	len = strlen(text);
	for (at = 0; at < len; at++) {
		text[at] = (char)(text[at] ^ 1 << at % 8);
		spit(file, text, len, O_TRUNC);
		if (!verified().bad_line)
			FAIL("byte %zu", at);
		text[at] = (char)(text[at] ^ 1 << at % 8);
	}
	gone();
}

TEST(lines_that_are_moved_are_found)
{
	char *t, *v[6];
	size_t i;

	five();
	t = slurp(file);
	for (i = 1; i <= 5; i++)
		v[i] = line_of(t, i);
	/* taken out */
	rewrite(file, arena_printf(&memory, "%s%s%s%s", v[1], v[2], v[4], v[5]));
	bad(3, "another number");
	rewrite(file, arena_printf(&memory, "%s%s%s%s", v[2], v[3], v[4], v[5]));
	bad(1, "another number");
	/* exchanged */
	rewrite(file, arena_printf(&memory, "%s%s%s%s%s", v[1], v[3], v[2], v[4], v[5]));
	bad(2, "another number");
	/* put in */
	rewrite(file, arena_printf(&memory, "%s%s%s%s%s%s", v[1], v[2], v[2], v[3], v[4], v[5]));
	bad(3, "another number");
	rewrite(file, arena_printf(&memory, "%s%s\n%s%s%s", v[1], v[2], v[3], v[4], v[5]));
	bad(3, "not a line");
	/* cut off: by the head alone */
	rewrite(file, arena_printf(&memory, "%s%s%s%s", v[1], v[2], v[3], v[4]));
	bad(5, "missing at the end");
	rewrite(file, "");
	bad(1, "missing at the end");
	rewrite(file, arena_printf(&memory, "%s%s%s%s%.*s", v[1], v[2], v[3], v[4], 20, v[5]));
	bad(5, "half a line");
	gone();
}

/* With the head gone only the chain can be checked, and that is said. */
TEST(without_a_head_that_is_said)
{
	struct audit_report r;
	char *t;

	five();
	unlink(head);
	r = verified();
	CHECK(!r.bad_line && !r.head_checked);
	CHECK_STR(r.head_why, "there is no head");
	t = slurp(file);
	rewrite(file, line_of(t, 1));
	r = verified();
	CHECK(!r.bad_line && !r.head_checked);
	rewrite(head, "{}\n");
	CHECK(verified().bad_line);
	gone();
}

/* Somebody makes a whole new chain; the head, or one that was remembered, is not of it. */
TEST(a_new_chain_is_not_that_of_the_head)
{
	const struct audit_place place = {.path = file};
	struct audit_head before;
	struct audit_report r;
	struct error e;
	char *old, *forged;

	five();
	before = verified().last;
	old = slurp(head);
	unlink(file);
	unlink(head);
	append("x");
	append("x");
	append("x");
	append("x");
	append("x");
	append("x");
	forged = slurp(head);
	rewrite(head, old);
	bad(5, "not the line that the head knows");
	rewrite(head, forged);
	good(6);
	CHECK(audit_verify(&place, &before, &memory, &r, &e) == 0);
	CHECK_INT(r.bad_line, 5);
	before.count = 9;
	CHECK(audit_verify(&place, &before, &memory, &r, &e) == 0);
	CHECK_INT(r.bad_line, 7);
	gone();
}

TEST(an_append_after_half_a_line_goes_on)
{
	five();
	spit(file, "{\"n\":6,\"ti", 10, O_APPEND);
	bad(6, "half a line");
	append("6");
	CHECK(note && strstr(note, "cut short in its line"));
	good(7);
	CHECK_INT(verified().recoveries, 1);
	/* twice in a row, once with the line feed of a recovery that was cut short itself */
	spit(file, "{\"n\":8", 6, O_APPEND);
	spit(file, "\n{\"n", 4, O_APPEND);
	append("7");
	good(9);
	CHECK_INT(verified().recoveries, 2);
	/* What was explained can't be changed any more. */
	{
		char *t = slurp(file);

		*strstr(t, "{\"n\":6,\"ti\n") = '[';
		rewrite(file, t);
		bad(6, "");
	}
	gone();
}

TEST(an_append_whose_head_was_not_written_goes_on)
{
	char *old;

	five();
	old = slurp(head);
	append("6");
	CHECK(rename(head, next) == 0); /* as it was before the last step */
	rewrite(head, old);
	bad(6, "the head does not know of it");
	append("7");
	CHECK(note && strstr(note, "before its head was written"));
	good(8);
	CHECK_INT(verified().recoveries, 1);
	gone();
}

/* The very first one. */
TEST(a_first_append_that_was_cut_short)
{
	fresh();
	append("1");
	CHECK(rename(head, next) == 0);
	append("2");
	good(3);
	unlink(head);
	rewrite(file, "{\"n\":1");
	append("1");
	CHECK(note);
	good(2);
	gone();
}

/* The intention was written, the line not. */
TEST(an_intention_alone_is_nothing)
{
	char *old;

	five();
	old = slurp(file);
	append("6");
	rewrite(file, old);
	CHECK(rename(head, next) == 0);
	rewrite(head,
		arena_printf(&memory, "{\"count\":5,\"hash\":\"%s\"}\n", verified().last.hash));
	good(5);
	append("6");
	CHECK(!note);
	good(6);
	gone();
}

/* What no crash explains stays bad for ever, however many lines follow. */
TEST(an_append_does_not_whitewash)
{
	char *t, *keep_head;

	five();
	t = slurp(file);
	rewrite(file, arena_printf(&memory, "%s%s%s%s", line_of(t, 1), line_of(t, 2), line_of(t, 3),
				   line_of(t, 4)));
	append("cut off");
	CHECK(note && strstr(note, "was not at the end"));
	append("and on");
	CHECK(!note);
	bad(5, "");
	gone();

	five();
	t = slurp(file);
	t[strlen(t) - 5] ^= 1; /* of the last hash */
	rewrite(file, t);
	append("changed");
	CHECK(note);
	bad(5, "");
	gone();

	five();
	t = slurp(file);
	t[strlen(t) - 100] ^= 1; /* of the text, which only verify reads again */
	rewrite(file, t);
	append("changed");
	bad(5, "its hash is not that of its text");
	gone();

	five();
	unlink(head);
	append("no head");
	CHECK(note && strstr(note, "there was no head"));
	append("more");
	CHECK(verified().bad_line == 6);
	gone();

	/* A line that fits, by somebody who can write the file and not the head. */
	five();
	keep_head = slurp(head);
	append("forged");
	rewrite(head, keep_head);
	bad(6, "does not know of it");
	append("then");
	CHECK(note && strstr(note, "did not know of"));
	CHECK(verified().bad_line);
	gone();

	five();
	unlink(file);
	append("a new file");
	CHECK(note);
	bad(1, "another number");
	gone();
}

static void refused(const char *why)
{
	struct audit_entry entry = example();
	struct error e = {0};

	CHECK(append_with(&entry, &e) < 0);
	if (!strstr(e.text, why))
		FAIL("%s", e.text);
}

TEST(files_of_others_are_refused)
{
	char other[160];

	fresh();
	snprintf(other, sizeof(other), "%s.other", file);
	CHECK(symlink(other, file) == 0);
	refused("is a link");
	CHECK(access(other, F_OK) < 0);
	unlink(file);
	rewrite(other, "");
	CHECK(link(other, file) == 0);
	refused("other names");
	unlink(file);
	unlink(other);
	CHECK(mkfifo(file, 0600) == 0);
	refused("no regular file");
	unlink(file);
	rewrite(file, "");
	CHECK(chmod(file, 0644) == 0);
	refused("others may open");
	if (geteuid() == 0) {
		CHECK(chmod(file, 0600) == 0 && chown(file, 1234, 0) == 0);
		refused("belongs to uid 1234");
	}
	unlink(file);
	append("1");
	CHECK(rename(head, other) == 0 && symlink(other, head) == 0);
	refused("log.head");
	unlink(other);
	gone();
}

TEST(what_is_no_json_is_refused)
{
	struct audit_entry entry = example();
	struct error e;

	fresh();
	entry.limits = "{";
	CHECK(append_with(&entry, &e) < 0);
	entry = example();
	entry.denials = "[\n]";
	CHECK(append_with(&entry, &e) < 0);
	entry = example();
	entry.denials = "[],\"status\":\"ok\"";
	CHECK(append_with(&entry, &e) < 0);
	entry.denials = "1,2";
	CHECK(append_with(&entry, &e) < 0);
	entry = example();
	entry.verb = AUDIT_RECOVERY;
	CHECK(append_with(&entry, &e) < 0);
	gone();
}

TEST(a_long_line_is_shortened)
{
	struct audit_entry entry = example();
	struct error e;
	char *long_text = arena_alloc(&memory, 1, AUDIT_LINE_MAX + 1);

	fresh();
	memset(long_text, '1', 60000);
	entry.denials = arena_printf(&memory, "[\"%s\"]", long_text);
	CHECK(append_with(&entry, &e) == 0);
	CHECK(strstr(slurp(file), entry.denials));
	unlink(file);
	unlink(head);
	memset(long_text, '1', AUDIT_LINE_MAX);
	entry.denials = arena_printf(&memory, "[\"%s\"]", long_text);
	CHECK(append_with(&entry, &e) == 0);
	CHECK(strstr(slurp(file), "\"denials\":null,\"args\":[],\"shortened\":true,\"hash\":"));
	good(1);
	/* Nothing is left that could be shortened. */
	entry.id = long_text;
	CHECK(append_with(&entry, &e) < 0);
	good(1);
	gone();
}

/* A disk that takes only a part. */
TEST(a_full_disk_is_an_error_and_leaves_no_half_line)
{
	struct audit_entry entry = example();
	struct rlimit limit, small;
	struct error e;
	off_t size;
	struct stat st;
	int rc;

	five();
	CHECK(stat(file, &st) == 0);
	size = st.st_size;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	small = (struct rlimit){(rlim_t)size + 100, limit.rlim_max};
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	rc = append_with(&entry, &e);
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK(rc < 0 && strstr(e.text, "log"));
	CHECK(stat(file, &st) == 0 && st.st_size == size);
	good(5);
	append("6");
	CHECK(!note);
	good(6);
	gone();
}

TEST(many_writers_make_one_chain)
{
	enum { WRITERS = 6, LINES = 20 };
	pid_t pid[WRITERS];
	int i, k, status;

	fresh();
	for (i = 0; i < WRITERS; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			struct audit_entry entry = example();
			struct error e;

			for (k = 0; k < LINES; k++)
				if (append_with(&entry, &e) < 0 || note)
					_exit(1);
			_exit(0);
		}
	}
	for (i = 0; i < WRITERS; i++)
		CHECK(waitpid(pid[i], &status, 0) == pid[i] && status == 0);
	good(WRITERS * LINES);
	CHECK_INT(verified().recoveries, 0);
	gone();
}

/* Its lock is not waited for for ever; a signal ends the wait as well. */
TEST(a_lock_that_stays_is_an_error)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct audit_entry entry = example();
	struct error e;
	sigset_t term, before;
	int fd;

	five();
	fd = open(file, O_RDWR | O_CLOEXEC);
	CHECK(fcntl(fd, F_OFD_SETLK, &whole) == 0);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	raise(SIGTERM);
	CHECK(append_with(&entry, &e) < 0);
	CHECK(strstr(e.text, "is locked by somebody else: interrupted by a signal"));
	sigwaitinfo(&term, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fd);
	append("6");
	good(6);
	gone();
}

/* The head can lie elsewhere. */
TEST(a_head_elsewhere)
{
	char elsewhere[96];
	struct audit_place place = {.path = file, .head = elsewhere};
	struct audit_entry entry = example();
	struct audit_report r;
	struct error e;

	fresh();
	snprintf(elsewhere, sizeof(elsewhere), "%s/apart", dir);
	CHECK(audit_append(&place, &entry, &memory, NULL, &e) == 0);
	CHECK(audit_append(&place, &entry, &memory, NULL, &e) == 0);
	CHECK(access(head, F_OK) < 0);
	CHECK(audit_verify(&place, NULL, &memory, &r, &e) == 0);
	CHECK(r.head_checked && !r.bad_line);
	CHECK(audit_try(&place, &memory, &e) == 0);
	unlink(elsewhere);
	gone();
}

TEST(more_than_a_window_of_lines)
{
	struct audit_entry entry = example();
	struct error e;
	char *text = arena_alloc(&memory, 1, 5001);
	int i;

	fresh();
	memset(text, 'x', 5000);
	entry.status = text;
	for (i = 0; i < 30; i++)
		CHECK(append_with(&entry, &e) == 0 && !note);
	good(30);
	spit(file, text, 5000, O_APPEND);
	CHECK(append_with(&entry, &e) == 0 && note);
	good(32);
	gone();
}

int main(void)
{
	return unit_main();
}
