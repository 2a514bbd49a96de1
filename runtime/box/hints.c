#include "box/hints.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "egress/egress.h"

/* clang-format off */
static const struct {
	const char *call, *hint;
} hints[] = {
	{"ptrace", "debuggers and tracers do not work in a box; print what you need to know"},
	{"process_vm_readv", "other processes can't be looked into in a box"},
	{"process_vm_writev", "other processes can't be written to in a box"},
	{"mount", "nothing can be mounted in a box; -v SOURCE:TARGET shows a directory of the host"},
	{"umount2", "nothing can be unmounted in a box"},
	{"pivot_root", "the root of a box can't be changed"},
	{"chroot", "the root of a box can't be changed; --rootfs chooses another"},
	{"unshare", "a box makes no namespaces: sandboxes inside it do not work"},
	{"setns", "a box joins no namespaces"},
	{"clone", "a box makes no namespaces: sandboxes inside it do not work"},
	{"socket", "only unix, inet, inet6 and netlink-route sockets can be had, and no network"},
	{"bpf", "programs can't be loaded into the kernel"},
	{"perf_event_open", "the kernel's counters can't be read; use a profiler of the language"},
	{"io_uring_setup", "io_uring is not available; use read, write and epoll"},
	{"userfaultfd", "page faults can't be handled by a program in a box"},
	{"keyctl", "the kernel's keys are not available in a box"},
	{"add_key", "the kernel's keys are not available in a box"},
	{"request_key", "the kernel's keys are not available in a box"},
	{"setuid", "a box has one user; --user chooses which"},
	{"setgid", "a box has one user; --user chooses which"},
	{"setgroups", "a box has one user; --user chooses which"},
	{"personality", "the process's personality can't be changed"},
	{"reboot", "the machine is not a box's to stop"},
	{"init_module", "modules can't be loaded into the kernel"},
	{"finit_module", "modules can't be loaded into the kernel"},
	{"chmod", "no file of a box gets a setuid or setgid bit"},
	{"fchmod", "no file of a box gets a setuid or setgid bit"},
	{"fchmodat", "no file of a box gets a setuid or setgid bit"},
	{"open_by_handle_at", "files are opened by their names alone"},
};

/* Which of the arguments are plain numbers, and what they mean. */
static const struct {
	const char *call, *what;
	unsigned int at;
} numbers[] = {
	{"socket", "family", 0}, {"ptrace", "request", 0}, {"ioctl", "request", 1}, {"prctl", "option", 0},
	{"personality", "persona", 0}, {"unshare", "flags", 0}, {"setns", "type", 1}, {"clone", "flags", 0},
	{"keyctl", "operation", 0}, {"bpf", "command", 0}, {"kill", "signal", 1}, {"setuid", "uid", 0},
	{"setgid", "gid", 0},
};
/* clang-format on */

const char *hint_of_profile(const char *profile, struct arena *a)
{
	return arena_printf(a,
			    "the profile %s does not have this call: --profile-add FILE adds its "
			    "name, --profile union has those of all languages",
			    profile);
}

const char *hint_of_call(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hints); i++)
		if (str_eq(hints[i].call, name))
			return hints[i].hint;
	return "the policy code does not give this call: an administrator adds it by "
	       "\"system-calls\": {\"allow\": [NAME]} to a policy of his own";
}

const char *hint_of_foreign(void)
{
	return "a box runs programs of the machine's own architecture alone";
}

const char *hint_of_network(void)
{
	return "a box has no network; give it what it needs as a file (-v, --stdin), or --allow "
	       "HOST";
}

const char *hint_of_host(const char *host, uint16_t port, unsigned int why, struct arena *a)
{
	/* An allowed host without a port means these (egress/rules.c). */
	const bool usual = !port || port == 80 || port == 443;
	const bool v6 = strchr(host, ':') != NULL;

	switch (why) {
	case EGRESS_NOT_ALLOWED:
		return usual ? arena_printf(a, "--allow %s", host) :
			       arena_printf(a, v6 ? "--allow [%s]:%u" : "--allow %s:%u", host,
					    port);
	case EGRESS_DENIED:
		return "--deny refuses this host";
	case EGRESS_BAD_ADDRESS:
		return "the machine's own addresses, link-local and reserved ones and clouds' "
		       "metadata are never reached; those of private networks by --allow ADDRESS "
		       "or --allow RANGE";
	case EGRESS_FRONTED:
		return "inside the connection another host was asked for, or a request that is not "
		       "as HTTP has it";
	case EGRESS_SPENT:
		return "the box has carried as much as it may (--net-limit)";
	default:
		return "this is no name of a host";
	}
}

const char *hint_of_pure(void)
{
	return "the preset pure computes alone: no processes, no sockets, nothing is written; "
	       "print results, or choose another preset";
}

const char *hint_of_file(void)
{
	return "only /workspace, /tmp and volumes (-v) can be written";
}

/* Of two bytes and more: controls, what turns text around, and what has no width. */
static bool hint_hides(const unsigned char *p, size_t len)
{
	static const struct {
		unsigned char bytes[4];
		size_t len;
		unsigned char last; /* of a row of them */
	} rows[] = {
		{{0xc2, 0x80}, 2, 0x9f},       {{0xe2, 0x80, 0x8b}, 3, 0x8f},
		{{0xe2, 0x80, 0xa8}, 3, 0xae}, {{0xe2, 0x81, 0xa0}, 3, 0xaf},
		{{0xef, 0xbb, 0xbf}, 3, 0xbf}, {{0xef, 0xbf, 0xb9}, 3, 0xbb},
		{{0xc2, 0xad}, 2, 0xad},       {{0xd8, 0x9c}, 2, 0x9c},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].len == len && memcmp(rows[i].bytes, p, len - 1) == 0 &&
		    p[len - 1] >= rows[i].bytes[len - 1] && p[len - 1] <= rows[i].last)
			return true;
	/* Tags, which are as good as invisible. */
	return len == 4 && memcmp(p, "\xf3\xa0", 2) == 0;
}

static const char *hint_clean_up_to(const char *text, size_t most, const char *besides,
				    bool lines, struct arena *a)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len, left = strlen(text);
	struct buf b = buf_new(a, most + 8);

	for (; left && b.len < most; p += len, left -= len) {
		len = str_utf8_len(p, left);
		if (lines && (*p == '\n' || *p == '\t')) {
			buf_char(&b, (char)*p);
			continue;
		}
		if (!len || (len == 1 && (*p < 0x20 || *p >= 0x7f || strchr(besides, *p))) ||
		    (len > 1 && hint_hides(p, len))) {
			buf_char(&b, '?');
			len = len ? len : 1;
		} else {
			buf_add(&b, p, len);
		}
	}
	if (left)
		buf_str(&b, "...");
	return b.len ? b.data : "";
}

const char *hint_clean(const char *text, struct arena *a)
{
	return hint_clean_up_to(text, HINT_TEXT_MAX, "<>", false, a);
}

const char *hint_clean_name(const char *text, struct arena *a)
{
	return hint_clean_up_to(text, strlen(text), "", false, a);
}

const char *hint_clean_text(const char *text, struct arena *a)
{
	return hint_clean_up_to(text, strlen(text), "", true, a);
}

const char *hint_arguments(const char *name, const uint64_t args[3], struct arena *a)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (str_eq(numbers[i].call, name))
			return arena_printf(a, "%s %#" PRIx64, numbers[i].what,
					    args[numbers[i].at]);
	return NULL;
}
