#include "cli/foreign.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"

struct foreign {
	const char *commands; /* words, as the next are; NULL: any */
	const char *names;
	const char *here;
};

/* clang-format off */
static const struct foreign options[] = {
	{"do", "rm", "a box of do is always removed when its program ends: leave it out"},
	{"do", "i it ti interactive tty", "the program has our input, and a terminal where we have one: leave it out"},
	{"do", "d detach", "sbxrun box create makes a box that stays, and sbxrun box run runs code in it"},
	{"do", "name", "sbxrun box create --id NAME makes a box that stays; one of do is gone with its program"},
	{"do box", "p P publish publish-all expose", "nothing outside reaches into a box; files and output come out of it"},
	{"do box", "privileged cap-add device gpus pid ipc userns cgroupns uts", "a box has no capabilities, no devices and its own namespaces, whatever is asked for"},
	{"do box", "cap-drop security-opt no-new-privileges read-only init unshare-all unshare-net unshare-pid unshare-user die-with-parent new-session", "a box is that strict already, and can't be less: leave it out"},
	{"do box", "mount bind ro-bind volumes", "-v SOURCE:TARGET[:ro] shows a file or a directory"},
	{"box", "net network dns add-host", "--allow HOST names what it may reach; without one it has loopback alone"},
	{"do", "net dns add-host", "--allow HOST names what it may reach; without one it has loopback alone"},
	{"do box", "memory-swap memory-swappiness", "a box has no swap: leave it out"},
	{"do box", "entrypoint", "the command stands behind --"},
	{"do box", "pull platform image", "there are no images: --rootfs names what sbxrun-rootfs has built, or a directory"},
	{"box", "rm", "a box stays until box destroy, or until nobody has used it for --idle; sbxrun do is for one run"},
	{"box", "name", "--id NAME names it"},
	{"box", "i it ti interactive tty", "a call has our input and no terminal; run --session keeps an interpreter"},
	{"box", "d detach", "a box stays by itself, and calls are waited for: leave it out"},
	{"run", "rm", "run removes the container when it has ended: leave it out"},
	{"run create", "name", "the ID is its name"},
	{"run create", "i t it ti interactive tty", "process.terminal of config.json says whether there is a terminal"},
	{"run create", "v volume mount e env env-file w workdir u user m memory cpus net network p publish privileged cap-add cap-drop read-only hostname entrypoint", "config.json of the bundle says that; sbxrun do runs code without a bundle"},
	{"exec", "it ti", "-t gives a terminal, and the input is ours anyhow"},
	{"exec", "i interactive", "the input is ours anyhow: leave it out"},
	{"exec", "w workdir", "--cwd DIR is where it runs"},
	{"exec", "privileged", "--cap NAME gives a capability, as far as the policy does"},
};

static const struct foreign commands[] = {
	{NULL, "images image", "sbxrun-rootfs list"},
	{NULL, "pull build", "sbxrun-rootfs build NAME"},
	{NULL, "rmi", "sbxrun-rootfs remove NAME"},
	{NULL, "import load", "sbxrun-rootfs import NAME ARCHIVE"},
	{NULL, "stop", "sbxrun kill ID, or sbxrun box destroy ID"},
	{NULL, "rm remove", "sbxrun delete ID, or sbxrun box destroy ID"},
	{NULL, "logs", "sbxrun box logs ID; a container's output is that of who started it"},
	{NULL, "inspect", "sbxrun state ID, or sbxrun explain ID"},
	{NULL, "top", "sbxrun ps ID"},
	{NULL, "ls", "sbxrun list, or sbxrun box list"},
	{NULL, "stats", "sbxrun events --stats ID"},
	{NULL, "unpause", "sbxrun resume ID"},
	{NULL, "cp", "sbxrun box write ID PATH FILE, and sbxrun box read ID PATH"},
	{NULL, "info", "sbxrun doctor, or sbxrun features"},
	{NULL, "version", "sbxrun --version"},
	{NULL, "approvals", "sbxrun approve list"},
	{NULL, "python python3 py node nodejs js javascript bash sh shell c c++ r", "sbxrun do LANGUAGE CODE"},
	{NULL, "write read fork diff snapshot destroy session sessions", "sbxrun box has that verb: sbxrun help box"},
};

static const struct foreign verbs[] = {
	{NULL, "rm delete remove kill stop end", "destroy"},
	{NULL, "ps boxes", "list"},
	{NULL, "new start up", "create"},
	{NULL, "shell attach session", "run --session"},
	{NULL, "do python code eval", "run"},
	{NULL, "put upload cp", "write"},
	{NULL, "get cat download", "read"},
	{NULL, "commit save checkpoint", "snapshot"},
	{NULL, "restore clone copy", "fork"},
	{NULL, "unpause", "resume"},
	{NULL, "pip npm add", "install"},
	{NULL, "prune", "gc"},
};
/* clang-format on */

/* Whether it is one of words, which blanks part. */
static bool is_among(const char *words, const char *word)
{
	size_t n = strlen(word), len;

	for (; *words; words += len + (words[len] == ' ')) {
		len = strcspn(words, " ");
		if (len == n && strncmp(words, word, n) == 0)
			return true;
	}
	return false;
}

static const char *foreign_find(const struct foreign *table, size_t n, const char *command,
				const char *name)
{
	const struct foreign *f;

	for (f = table; f < table + n; f++)
		if ((!command || !f->commands || is_among(f->commands, command)) &&
		    is_among(f->names, name))
			return f->here;
	return NULL;
}

const char *foreign_option(const char *command, const char *option)
{
	return foreign_find(options, ARRAY_SIZE(options), command, option);
}

const char *foreign_command(const char *name)
{
	return foreign_find(commands, ARRAY_SIZE(commands), NULL, name);
}

const char *foreign_verb(const char *name)
{
	return foreign_find(verbs, ARRAY_SIZE(verbs), NULL, name);
}
