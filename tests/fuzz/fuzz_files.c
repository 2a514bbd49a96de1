/* Lines of mountinfo, and /proc/PID/stat. The first byte says which. */
#include "cgroup/host.c"

#include "fuzz.h"
#include "sys/proc.h"

static void read_mountinfo(char *text, struct arena *a)
{
	struct mount_lines lines = {0};
	char *line;
	size_t i;

	while ((line = strsep(&text, "\n")))
		mount_line_read(line, a, &lines);
	for (i = 0; i < lines.n; i++) {
		DEMAND(strlen(lines.v[i].root) + strlen(lines.v[i].mount) < 1 << 20);
		(void)list_has(lines.v[i].options, "cpu", 3);
		/* Nothing is mounted at what the input names; the kernel is not asked. */
	}
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct proc_stat stat;

	if (!len)
		return;
	if (*text++ & 1)
		read_mountinfo(text, a);
	else if (proc_stat_parse(text, &stat) == 0)
		DEMAND(stat.state && stat.state != ' ');
}
