/* Notes of the library, as lines of this program's log (base/log.h). */
#include "base/log.h"
#include "cli/cli.h"

static void notes_log(void *context, const char *text)
{
	(void)context;
	log_warn("%s", text);
}

const struct noter cli_noter = {.take = notes_log};
