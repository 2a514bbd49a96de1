# Signals, timers, clocks, threads and what they wait on.
import concurrent.futures, faulthandler, os, queue, sched, signal, sys, threading, time

seen = []
signal.signal(signal.SIGALRM, lambda *a: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
while len(seen) < 3:
    signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
signal.alarm(0)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
assert signal.SIGUSR1 in signal.sigpending()
signal.sigwait([signal.SIGUSR1])
signal.raise_signal(signal.SIGUSR1)
signal.sigtimedwait([signal.SIGUSR1], 1)
signal.sigwaitinfo([signal.SIGUSR1]) if signal.raise_signal(signal.SIGUSR1) is None else 0
signal.siginterrupt(signal.SIGALRM, True)
signal.set_wakeup_fd(-1)
signal.pthread_kill(threading.get_ident(), 0)
time.sleep(0.01), time.monotonic(), time.process_time(), time.thread_time(), time.clock_getres(time.CLOCK_REALTIME)
time.clock_gettime(time.CLOCK_BOOTTIME), time.tzset(), time.localtime(), time.strftime("%c")
faulthandler.enable()
faulthandler.dump_traceback_later(100)
faulthandler.cancel_dump_traceback_later()
q = queue.Queue()
threading.stack_size(1 << 20)
ts = [threading.Thread(target=q.put, args=(i,)) for i in range(8)]
[t.start() for t in ts], [t.join() for t in ts]
e = threading.Event()
threading.Timer(0.01, e.set).start()
e.wait(1)
lock = threading.Lock()
lock.acquire(timeout=0.01), lock.acquire(timeout=0.01)
c = threading.Condition()
with c:
    c.wait(0.01)
with concurrent.futures.ThreadPoolExecutor(4) as x:
    assert sum(x.map(abs, range(-10, 0))) == 55
s = sched.scheduler()
s.enter(0.01, 1, lambda: None)
s.run()
threading.get_native_id()
os.register_at_fork(before=lambda: None)
import pydoc, locale, gettext, getpass, platform, pwd, grp, random, secrets, uuid, logging.handlers, ctypes, curses, readline
locale.setlocale(locale.LC_ALL, "")
platform.platform(), platform.libc_ver(), os.uname(), os.urandom(8), secrets.token_hex(), uuid.uuid4(), os.getrandom(8)
pwd.getpwall(), grp.getgrall()
fd = os.eventfd(0)
os.eventfd_write(fd, 1), os.eventfd_read(fd)
print(os.isatty(0), os.sysconf("SC_NPROCESSORS_ONLN"), os.cpu_count())
print("ok")
