/* Sockets on loopback. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int port;

static void *client(void *x)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = (in_port_t)port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct iovec v = {(char[]){"hello"}, 5};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct mmsghdr mm = {.msg_hdr = m};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	connect(fd, (void *)&a, sizeof(a)), send(fd, "x", 1, 0), sendmsg(fd, &m, 0), sendmmsg(fd, &mm, 1, 0), write(fd, "y", 1), shutdown(fd, SHUT_WR), close(fd);
	return x;
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, got;
	struct sockaddr_un u = {AF_UNIX, "/tmp/c.sock"};
	char text[100];
	struct iovec v = {text, 10};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct mmsghdr mm = {.msg_hdr = m};
	socklen_t n = sizeof(got);
	struct addrinfo *ai;
	struct ifaddrs *ifs;
	int fd = socket(AF_INET, SOCK_STREAM, 0), c, pair[2];
	pthread_t t;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), bind(fd, (void *)&a, sizeof(a)), listen(fd, 5), getsockname(fd, (void *)&got, &n);
	port = got.sin_port, pthread_create(&t, NULL, client, NULL), c = accept4(fd, NULL, NULL, SOCK_CLOEXEC), getpeername(c, (void *)&got, &n), getsockopt(c, SOL_SOCKET, SO_ERROR, text, &(socklen_t){4});
	pthread_join(t, NULL), recv(c, text, 1, 0), recvmsg(c, &m, 0), recvmmsg(c, &mm, 1, MSG_DONTWAIT, NULL), read(c, text, 1), close(c);
	pthread_create(&t, NULL, client, NULL), c = accept(fd, NULL, NULL), pthread_join(t, NULL), close(c);
	fd = socket(AF_INET, SOCK_DGRAM, 0), bind(fd, (void *)&a, sizeof(a)), n = sizeof(got), getsockname(fd, (void *)&got, &n), sendto(fd, "x", 1, 0, (void *)&got, n), recvfrom(fd, text, 10, 0, NULL, NULL);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), fd = socket(AF_UNIX, SOCK_STREAM, 0), bind(fd, (void *)&u, sizeof(u)), listen(fd, 1), close(socket(AF_INET6, SOCK_STREAM, 0));
	getaddrinfo("localhost", "80", NULL, &ai), getaddrinfo("nosuch.example", "80", NULL, &ai), getifaddrs(&ifs);
	puts("ok");
	return 0;
}
