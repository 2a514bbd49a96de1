/*
 * as-user: runs the program $SBX_REAL with our own arguments as the ordinary user $SBX_UID, whose
 * group has the same number and who is in no other one. The rootless views give it to the tests in
 * place of the runtime (lib/rootless-view). One execve and no fork: a pid that a test knows stays
 * what it is.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *program = getenv("SBX_REAL");
	const char *number = getenv("SBX_UID");
	uid_t id = number ? (uid_t)strtoul(number, NULL, 10) : 0;

	(void)argc;
	if (!program || !id || setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
	    setresuid(id, id, id) < 0) {
		perror("as-user");
		return 126;
	}
	argv[0] = program; /* its name chooses a policy */
	execv(program, argv);
	perror(program);
	return 127;
}
