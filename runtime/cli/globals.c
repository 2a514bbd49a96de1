/* The options that stand before the command. */
#include "base/str.h"
#include "cli/cli.h"

// clang-format off
const struct cli_option cli_globals[] = {
	CLI_OPTION(root, "root", 0, CLI_TEXT, "DIR", "state directory (default: /run/sbxrun, for users $XDG_RUNTIME_DIR/sbxrun)"),
	CLI_OPTION(log, "log", 0, CLI_TEXT, "FILE", "write errors there too"),
	CLI_OPTION(log_format, "log-format", 0, CLI_TEXT, "text|json", "of the log (default: text)"),
	CLI_OPTION(log_level, "log-level", 0, CLI_TEXT, "error|warning|info|debug", "how much is logged (default: warning)"),
	CLI_OPTION(debug, "debug", 0, CLI_FLAG, NULL, "stands for --log-level debug"),
	CLI_OPTION(systemd_cgroup, "systemd-cgroup", 0, CLI_FLAG, NULL, "create, run: the cgroup is a scope that systemd makes; later commands know"),
	CLI_OPTION(systemd_timeout, "systemd-timeout", 0, CLI_NUMBER, "SECONDS", "how long systemd may take to answer (default, and for 0: 25)"),
	CLI_OPTION(cgroup_manager, "cgroup-manager", 0, CLI_TEXT, "cgroupfs|systemd|disabled", "who makes cgroups (default: cgroupfs); disabled: containers without any"),
	CLI_OPTION(rootless, "rootless", 0, CLI_TEXT, "auto|true|false", "must be what the caller is (default: auto)"),
	CLI_OPTION(policy, "policy", 0, CLI_TEXT, "NAME|FILE", "what containers may have at most (default: /etc/sbxrun/policy.json's, or engine; see `sbxrun policy list`)"),
	CLI_OPTION(strict, "strict", 0, CLI_FLAG, NULL, "create, run, exec: refuse a config that can't be carried out in full"),
	CLI_OPTION(timing, "timing", 0, CLI_TEXT, "FILE", "write microseconds a stage"),
	CLI_OPTION(version, "version", 'v', CLI_FLAG, NULL, "print the version"),
	CLI_OPTION(help, "help", 'h', CLI_FLAG, NULL, "print this"),
};
// clang-format on
const size_t cli_n_globals = ARRAY_SIZE(cli_globals);

bool cli_wants_systemd(const struct cli *c)
{
	return c->systemd_cgroup || (c->cgroup_manager && str_eq(c->cgroup_manager, "systemd"));
}
