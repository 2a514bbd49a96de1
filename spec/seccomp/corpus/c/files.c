/* Files, memory and what the C library makes of both. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <wchar.h>

static int seen(const char *p, const struct stat *s, int f, struct FTW *w)
{
	(void)p, (void)s, (void)f, (void)w;
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/cXXXXXX", text[100] = "text";
	struct iovec v[2] = {{text, 10}, {text, 10}};
	struct statvfs vfs;
	struct stat st;
	glob_t g;
	int fd, other, i;
	void *p;

	setlocale(LC_ALL, "");
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	FILE *f = fopen("a", "w+");
	for (i = 0; i < 10000; i++)
		fprintf(f, "%d %f\n", i, sin(i));
	fflush(f), rewind(f), fgets(text, sizeof(text), f), fseek(f, 0, SEEK_END), ftell(f), fclose(f);
	fd = open("a", O_RDWR | O_CLOEXEC);
	other = open("b", O_RDWR | O_CREAT | O_TRUNC, 0600);
	fstat(fd, &st), stat("a", &st), lstat("a", &st), access("a", R_OK), faccessat(AT_FDCWD, "a", R_OK, AT_EACCESS);
	readv(fd, v, 2), writev(other, v, 2), pread(fd, text, 10, 0), pwrite(other, text, 10, 0);
	preadv(fd, v, 2, 0), pwritev(other, v, 2, 0), sendfile(other, fd, NULL, 10);
	copy_file_range(fd, NULL, other, NULL, 10, 0), lseek(fd, 0, SEEK_SET), ftruncate(other, 8192), fallocate(other, 0, 0, 8192);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), fsync(other), fdatasync(other), flock(fd, LOCK_EX), lockf(other, F_LOCK, 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	memset(p, 1, 8192), msync(p, 8192, MS_SYNC), mprotect(p, 8192, PROT_READ), madvise(p, 8192, MADV_DONTNEED);
	munmap(mremap(p, 8192, 4096, 0), 4096);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mincore(p, 4096, (unsigned char *)text);
	chmod("a", 0640), fchmod(fd, 0600), fchmodat(AT_FDCWD, "a", 0644, 0), chown("a", getuid(), getgid());
	lchown("a", getuid(), getgid()), fchown(fd, getuid(), getgid()), fchownat(AT_FDCWD, "a", getuid(), getgid(), 0);
	utimes("a", NULL), futimens(fd, NULL), utimensat(AT_FDCWD, "a", NULL, 0), truncate("b", 10);
	link("a", "c"), linkat(AT_FDCWD, "a", AT_FDCWD, "c2", 0), symlink("a", "s"), symlinkat("a", AT_FDCWD, "s2");
	readlink("s", text, sizeof(text)), readlinkat(AT_FDCWD, "s2", text, sizeof(text)), realpath("s", NULL);
	rename("c", "d"), renameat(AT_FDCWD, "c2", AT_FDCWD, "d2"), renameat2(AT_FDCWD, "d", AT_FDCWD, "d3", RENAME_NOREPLACE);
	mkdir("e", 0755), mkdirat(AT_FDCWD, "e2", 0755), rmdir("e"), unlinkat(AT_FDCWD, "e2", AT_REMOVEDIR), mkfifo("fifo", 0600);
	unlink("s"), unlinkat(AT_FDCWD, "s2", 0), remove("d2"), statvfs(".", &vfs), fstatvfs(fd, &vfs), umask(022);
	setxattr("a", "user.x", "1", 1, 0), getxattr("a", "user.x", text, 10), listxattr("a", text, 10), removexattr("a", "user.x");
	fsetxattr(fd, "user.x", "1", 1, 0), fgetxattr(fd, "user.x", text, 10), flistxattr(fd, text, 10), fremovexattr(fd, "user.x");
	i = inotify_init1(IN_CLOEXEC);
	inotify_rm_watch(i, inotify_add_watch(i, ".", IN_CREATE));
	DIR *d = opendir(".");
	while (readdir(d))
		;
	closedir(d), nftw(".", seen, 10, FTW_PHYS), glob("*", 0, NULL, &g), fchdir(open("/", O_RDONLY | O_DIRECTORY)), getcwd(text, sizeof(text));
	other = memfd_create("m", MFD_ALLOW_SEALING), tmpfile(), dup(fd), dup2(fd, 50), dup3(fd, 51, O_CLOEXEC), statx(fd, "", AT_EMPTY_PATH, STATX_ALL, (struct statx *)(char[256]){0});
	sync_file_range(fd, 0, 0, 0), posix_memalign(&p, 4096, 4096), free(malloc(100 << 20)), free(malloc(10)), nftw(dir, seen, 10, 0);
	puts("ok");
	return 0;
}
