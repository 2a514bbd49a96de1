/* sbxrun mcp: boxes for clients of the Model Context Protocol. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "mcp/mcp.h"

/* "sbxrun version 1.2.3 …": the third word. */
static const char *mcp_version(struct arena *a)
{
	const char *v = strstr(cli_version, "version ");

	v = v ? v + strlen("version ") : cli_version;
	return arena_strndup(a, v, strcspn(v, " \n"));
}

static int mcp_run(struct cli *c, struct error *e)
{
	const struct box_request q = {.policy = c->policy_by_name ? NULL : c->policy};
	struct mcp_options o = {
		.program = c->argv[0],
		.globals = {.n = c->n_globals, .v = c->argv + 1},
		.root = c->root,
		.version = mcp_version(c->arena),
		.keep = c->keep_boxes,
		.raw = c->no_redact,
		.ask = c->ask,
		.audit = c->audit,
	};

	if (approve_rules_read(c->rules, c->arena, &o.rules, e) < 0 ||
	    do_audit_files(c, &q, &o.audits, e) < 0)
		return -1;
	return mcp_serve(&o, e);
}

/* clang-format off */
static const struct cli_option mcp_options[] = {
	CLI_OPTION(ask, "ask", 0, CLI_TEXT, "client|queue|terminal|none|COMMAND", "who is asked before risky calls (default: the client's user, or who runs approve)"),
	CLI_OPTION(rules, "rules", 0, CLI_TEXT, "FILE", "how risky calls are, as JSON, beside /etc/sbxrun/approvals.json"),
	CLI_OPTION(audit, "audit", 0, CLI_TEXT, "FILE", "append a line about every call to a chained file"),
	CLI_OPTION(keep_boxes, "keep-boxes", 0, CLI_FLAG, NULL, "boxes stay when the server ends"),
	CLI_OPTION(no_redact, "no-redact", 0, CLI_FLAG, NULL, "leave secrets in the output of programs"),
};
/* clang-format on */
const struct cli_command cli_mcp = {"mcp",
				    "",
				    "serve boxes to a client of the Model Context Protocol",
				    mcp_options,
				    ARRAY_SIZE(mcp_options),
				    0,
				    0,
				    false,
				    mcp_run,
				    .answers = true,
				    .diagnoses = true};
