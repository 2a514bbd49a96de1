/* notify TEXT…: sends each TEXT to NOTIFY_SOCKET as one datagram ("\n" may be written as ;), then
 * sleeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (!path || fd < 0)
		return 1;
	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	for (int i = 1; i < argc; i++) {
		for (char *p = argv[i]; *p; p++)
			if (*p == ';')
				*p = '\n';
		if (sendto(fd, argv[i], strlen(argv[i]), 0, (struct sockaddr *)&to, sizeof(to)) <
		    0) {
			perror("sendto");
			return 1;
		}
	}
	sleep(100);
	return 0;
}
