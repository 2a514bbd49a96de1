/* The commands that manage running containers: argument checks, and the call of the verb. */
#include "base/str.h"
#include "cli/cli.h"
#include "life/life.h"

static int pause_run(struct cli *c, struct error *e)
{
	return life_pause(c->root, c->args[0], c->arena, e);
}

const struct cli_command cli_pause = {"pause", "ID", "freeze all processes of a container", NULL, 0, 1,
				      1, .run = pause_run};

static int resume_run(struct cli *c, struct error *e)
{
	return life_resume(c->root, c->args[0], c->arena, e);
}

const struct cli_command cli_resume = {"resume", "ID", "let a paused container go on", NULL, 0, 1, 1,
				       .run = resume_run};
