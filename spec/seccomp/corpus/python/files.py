# Files as programs handle them: made, read, moved, watched, locked, measured, removed.
import fcntl, glob, mmap, os, pathlib, shutil, stat, struct, tarfile, tempfile, zipfile
import bz2, gzip, lzma

with tempfile.TemporaryDirectory() as d:
    p = pathlib.Path(d)
    (p / "a").write_text("hello\n" * 1000)
    os.chmod(p / "a", 0o640)
    os.link(p / "a", p / "hard")
    os.symlink("a", p / "soft")
    assert os.readlink(p / "soft") == "a"
    os.rename(p / "hard", p / "b")
    os.replace(p / "b", p / "c")
    shutil.copy2(p / "a", p / "d")
    shutil.copytree(p, d + ".copy", symlinks=True)
    shutil.rmtree(d + ".copy")
    os.makedirs(p / "x/y/z")
    os.removedirs(p / "x/y/z")
    os.truncate(p / "d", 10)
    os.utime(p / "d", (1, 2))
    os.utime(p / "d", ns=(1, 2))
    with open(p / "d", "r+b") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        fcntl.lockf(f, fcntl.LOCK_EX)
        fcntl.lockf(f, fcntl.LOCK_UN)
        f.truncate(4096)
        f.flush()
        os.fsync(f.fileno())
        os.fdatasync(f.fileno())
        os.posix_fallocate(f.fileno(), 0, 8192)
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        m = mmap.mmap(f.fileno(), 4096)
        m[:5] = b"mmaps"
        m.flush()
        m.resize(8192)
        m.madvise(mmap.MADV_WILLNEED)
        m.close()
        os.pread(f.fileno(), 5, 0)
        os.pwrite(f.fileno(), b"x", 0)
        os.preadv(f.fileno(), [bytearray(2)], 0)
        os.pwritev(f.fileno(), [b"ab"], 0)
        f.seek(0)
        os.readv(f.fileno(), [bytearray(2)])
        os.writev(f.fileno(), [b"ab", b"cd"])
        os.fchmod(f.fileno(), 0o600)
        os.fstatvfs(f.fileno())
        os.dup(f.fileno())
        os.dup2(f.fileno(), 100)
    a, b = os.open(p / "a", os.O_RDONLY), os.open(p / "e", os.O_RDWR | os.O_CREAT, 0o600)
    os.copy_file_range(a, b, 100)
    os.sendfile(b, a, 100, 100)
    os.lseek(b, 0, os.SEEK_SET)
    fd = os.open(d, os.O_RDONLY)
    os.fchdir(fd)
    os.stat("a", dir_fd=fd)
    os.mkdir("sub", dir_fd=fd)
    os.rename("sub", "sub2", src_dir_fd=fd, dst_dir_fd=fd)
    os.rmdir("sub2", dir_fd=fd)
    os.chmod("a", 0o644)
    os.access("a", os.R_OK, dir_fd=fd, effective_ids=True)
    os.getcwd()
    os.chdir("/")
    os.listdir(fd)
    list(os.scandir(d)), list(os.walk(d)), list(os.fwalk(d)), glob.glob(d + "/**", recursive=True)
    os.statvfs(d), shutil.disk_usage(d)
    os.umask(os.umask(0o22))
    os.mkfifo(p / "fifo")
    for name in ("user.x",):
        try:
            os.setxattr(p / "a", name, b"1")
            os.getxattr(p / "a", name), os.listxattr(p / "a"), os.removexattr(p / "a", name)
        except OSError:
            pass
    try:
        os.chown(p / "a", os.getuid(), os.getgid())
        os.lchown(p / "a", os.getuid(), os.getgid())
        os.chown(fd, os.getuid(), os.getgid())
    except OSError:
        pass
    for opener in (gzip.open, bz2.open, lzma.open):
        with opener(p / "z", "wb") as f:
            f.write(b"data" * 1000)
    with tarfile.open(p / "t.tar.gz", "w:gz") as t:
        t.add(p / "a", "a")
    with tarfile.open(p / "t.tar.gz") as t:
        t.extractall(p / "out")
    with zipfile.ZipFile(p / "t.zip", "w") as z:
        z.write(p / "a", "a")
    with tempfile.NamedTemporaryFile() as f, tempfile.TemporaryFile() as g, tempfile.SpooledTemporaryFile(10) as s:
        s.write(b"x" * 20)
    try:
        fd = os.memfd_create("m", os.MFD_ALLOW_SEALING)
        os.write(fd, b"1")
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    except OSError:
        pass
print("ok")
