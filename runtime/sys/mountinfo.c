#include "sys/mountinfo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "sys/proc.h"
#include "sys/sys.h"

void mountinfo_decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG…] - … */
static bool mountinfo_parse(char *text, struct mountinfo_line *ret)
{
	char *field = NULL;
	int i;

	*ret = (struct mountinfo_line){0};
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &ret->id, &ret->parent) != 2)
		return false;
	for (i = 0; i < 5; i++)
		if (!(field = strsep(&text, " ")))
			return false;
	ret->point = field;
	mountinfo_decode(ret->point);
	while ((field = strsep(&text, " ")) && strcmp(field, "-") != 0)
		ret->shared |= strncmp(field, "shared:", strlen("shared:")) == 0;
	ret->type = field ? strsep(&text, " ") : NULL;
	strsep(&text, " "); /* the source */
	ret->options = strsep(&text, "\n");
	return ret->type != NULL;
}

int mountinfo_each(int (*visit)(const struct mountinfo_line *line, void *context, struct error *e),
		   void *context, struct error *e)
{
	autoclose int proc_dfd = proc_open(e);
	int fd = proc_dfd < 0 ? -1 : proc_openat(proc_dfd, "self/mountinfo", O_RDONLY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct mountinfo_line line;
	char *text = NULL;
	size_t size = 0;
	int result = 0;

	if (!file) {
		if (proc_dfd >= 0)
			err_sys(e, "open /proc/self/mountinfo");
		fd_close(&fd);
		return -1;
	}
	while (result == 0 && getline(&text, &size, file) > 0)
		if (mountinfo_parse(text, &line))
			result = visit(&line, context, e);
	free(text);
	fclose(file);
	return result;
}
