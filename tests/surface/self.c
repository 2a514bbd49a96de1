/* What the program itself is given: ids, rights, limits, descriptors. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* One line, its blanks as single ones. */
static void print_squeezed(const char *key, const char *text)
{
	bool blank = false;

	printf("%s ", key);
	for (text += strspn(text, " \t"); *text && *text != '\n'; text++) {
		if (*text != ' ' && *text != '\t') {
			printf("%s%c", blank ? " " : "", *text);
			blank = false;
		} else {
			blank = true;
		}
	}
	puts("");
}

static void print_lines(const char *key, const char *path)
{
	char line[256];
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		print_squeezed(key, line);
	if (f)
		fclose(f);
}

static void print_status(void)
{
	static const struct {
		const char *field, *key;
	} fields[] = {
		{"Uid:", "uid"},
		{"Gid:", "gid"},
		{"Groups:", "groups"},
		{"CapInh:", "cap_inh"},
		{"CapPrm:", "cap_prm"},
		{"CapEff:", "cap_eff"},
		{"CapBnd:", "cap_bnd"},
		{"CapAmb:", "cap_amb"},
		{"NoNewPrivs:", "no_new_privs"},
		{"Seccomp:", "seccomp"},
		{"Seccomp_filters:", "seccomp_filters"},
	};
	char line[4096];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			if (strncmp(line, fields[i].field, strlen(fields[i].field)) == 0)
				print_squeezed(fields[i].key, line + strlen(fields[i].field));
	if (f)
		fclose(f);
}

static void print_limits(void)
{
	static const struct {
		const char *name;
		int which;
	} limits[] = {
		{"core", RLIMIT_CORE},
		{"cpu", RLIMIT_CPU},
		{"data", RLIMIT_DATA},
		{"fsize", RLIMIT_FSIZE},
		{"locks", RLIMIT_LOCKS},
		{"memlock", RLIMIT_MEMLOCK},
		{"msgqueue", RLIMIT_MSGQUEUE},
		{"nice", RLIMIT_NICE},
		{"nofile", RLIMIT_NOFILE},
		{"nproc", RLIMIT_NPROC},
		{"rtprio", RLIMIT_RTPRIO},
		{"rttime", RLIMIT_RTTIME},
		{"sigpending", RLIMIT_SIGPENDING},
		{"stack", RLIMIT_STACK},
	};
	struct rlimit l;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (getrlimit((__rlimit_resource_t)limits[i].which, &l) == 0)
			printf("rlimit %s %lld %lld\n", limits[i].name, (long long)l.rlim_cur,
			       (long long)l.rlim_max);
}

static unsigned int descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

void probe_self(void)
{
	printf("descriptors %u\n", descriptors());
	print_lines("uid_map", "/proc/self/uid_map");
	print_lines("gid_map", "/proc/self/gid_map");
	print_status();
	print_limits();
}

int self_is_setuid(void)
{
	return geteuid() != getuid() ? 0 : 1;
}
