/* Errors and notes speak of the config, which the caller of a box has never seen: of his options,
 * then. */
#include "base/buf.h"
#include "base/str.h"
#include "box/box.h"

enum { TEXT_MAX = 1 << 20 };

/* A field that begins with another stands before it. */
static const struct {
	const char *field, *option;
} words[] = {
	{"config.json: ", ""},
	{"linux.resources.memory.limit", "--memory"},
	{"linux.resources.memory.swap", "no swap"},
	{"linux.resources.cpu.quota", "--cpus"},
	{"linux.resources.cpu.period", "--cpus"},
	{"linux.resources.pids.limit", "--pids-limit"},
	{"process.rlimits", "--ulimit"},
	{"process.cwd", "--workdir"},
	{"process.user.uid", "--user"},
	{"process.user.gid", "--user"},
	{"process.user", "--user"},
	{"process.args", "the command"},
	{"process.env", "--env"},
	{"root.path", "--rootfs"},
	{"mounts[", "the mount ["}, /* a volume's: volume_words() */
	{"linux.seccomp", "the filter"},
	{"--strict:", "--strict-limits:"},
};

/* Of "mounts[N].source, PATH" and "mounts[N].source: …" the path says more than the number. */
static const char *volume_words(const char *text, struct buf *b)
{
	const char *rest = str_after(text, "mounts[");

	if (!rest)
		return NULL;
	rest = str_after(rest + strspn(rest, "0123456789"), "].source");
	if (!rest || (*rest != ',' && *rest != ':'))
		return NULL;
	buf_str(b, *rest == ',' ? "-v" : "-v:");
	return rest + 1;
}

const char *box_words(const char *text, struct arena *a)
{
	const char *rest;
	struct buf b = buf_new(a, TEXT_MAX);
	size_t i;

	while (*text) {
		rest = volume_words(text, &b);
		if (rest) {
			text = rest;
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (str_after(text, words[i].field))
				break;
		if (i < ARRAY_SIZE(words)) {
			buf_str(&b, words[i].option);
			text = str_after(text, words[i].field);
		} else {
			buf_char(&b, *text++);
		}
	}
	return b.len ? b.data : "";
}
