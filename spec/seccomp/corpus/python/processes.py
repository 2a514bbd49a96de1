# Processes: subprocess in its forms, fork, pools, pipes, groups, priorities, what a shell does for it.
import concurrent.futures, multiprocessing, os, pty, resource, select, shutil, signal, subprocess, sys, time


def square(x):
    return x * x


if __name__ == "__main__":
    assert subprocess.run(["sh", "-c", "echo hi; ls / >/dev/null; date >/dev/null"], capture_output=True, timeout=20).stdout
    assert subprocess.check_output("echo a b | tr a-z A-Z | sort | uniq -c | wc -l", shell=True)
    p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd="/tmp")
    assert p.communicate("x\n")[0] == "x\n"
    p = subprocess.Popen(["sleep", "100"], preexec_fn=lambda: os.nice(1))
    p.terminate()
    p.wait()
    p = subprocess.Popen(["sleep", "100"], process_group=0)
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    try:
        subprocess.run(["sleep", "10"], timeout=0.1)
    except subprocess.TimeoutExpired:
        pass
    pid = os.fork()
    if not pid:
        os.setsid()
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, pid, os.WEXITED)
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os.execv(sys.executable, [sys.executable, "-c", "import json"])
    fd = os.pidfd_open(pid)
    select.select([fd], [], [], 20)
    os.wait4(pid, 0)
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, range(5))[-1] == 16
    q = multiprocessing.Queue()
    p = multiprocessing.get_context("spawn").Process(target=print, args=("spawned",))
    p.start()
    p.join()
    v = multiprocessing.Value("i", 1)
    with v.get_lock():
        v.value += 1
    from multiprocessing import shared_memory, Manager
    m = shared_memory.SharedMemory(create=True, size=100)
    m.close()
    m.unlink()
    with Manager() as manager:
        d = manager.dict()
        d[1] = 2
    with concurrent.futures.ProcessPoolExecutor(2) as e:
        assert list(e.map(square, [1, 2])) == [1, 4]
    os.getpgid(0), os.getpgrp(), os.getsid(0), os.getppid(), os.getresuid(), os.getresgid(), os.getgroups()
    os.getpriority(os.PRIO_PROCESS, 0), os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
    resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
    os.sched_getaffinity(0), os.cpu_count(), os.sched_yield(), os.times()
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.sched_getscheduler(0), os.sched_getparam(0), os.sched_get_priority_max(0), os.sched_get_priority_min(0)
    r, w = os.pipe()
    os.set_blocking(r, False)
    os.pipe2(os.O_CLOEXEC)
    shutil.which("ls")
    os.closerange(200, 210)
    os.system("true")
    os.popen("echo x").read()
    try:
        pid, fd = pty.fork()
        if not pid:
            os.execvp("echo", ["echo", "pty"])
        os.waitpid(pid, 0)
    except OSError:
        pass
    print("ok")
