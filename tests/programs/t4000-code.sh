#!/bin/bash
# What people run whose code nobody has read: Debian's python, node, bash, gcc and sqlite under the policy code, with a config made by hand. What
# fails here for want of a system call belongs into spec/seccomp/calls.def.
# Views: own
# shellcheck disable=SC2016
# Before the framework, which has a limit for each test, and a network without a mirror.
[ -n "${SBXT_NS:-}" ] || [ "$EUID" != 0 ] || "${0%/*}/tree" >/dev/null
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"
# shellcheck source=tests/programs/lib.sh
. "${0%/*}/lib.sh"

SBXRUN=${SBXRUN%-oci}

# _code PROGRAM ARG…: runs it under code; the file "program" in the volume is what it is given on stdin.
_code() {
	_private_ids
	cat >program
	languages "args($(jq -nc '$ARGS.positional' --args -- "$@"))"
	cp program data/program
	chmod 755 data
	run sbx --policy code run -b "$B" "$ID"
}

python_has_threads_processes_and_files() {
	_code python3 /data/program <<-'END'
		import concurrent.futures, json, multiprocessing, os, pathlib, shutil, signal, subprocess, tempfile, threading, time
		lock, total = threading.Lock(), [0]
		def add():
		    with lock: total[0] += 1
		threads = [threading.Thread(target=add) for _ in range(8)]
		[t.start() for t in threads]; [t.join() for t in threads]
		print("threads", total[0])
		print("pool", sum(concurrent.futures.ThreadPoolExecutor(4).map(lambda x: x * x, range(10))))
		print("subprocess", subprocess.run(["sh", "-c", "echo $((6*7)); exit 3"], capture_output=True, text=True))
		print("pipe", subprocess.run("seq 1000 | sort -r | head -n 1", shell=True, capture_output=True, text=True).stdout.strip())
		print("fork", multiprocessing.get_context("fork").Pool(2).map(abs, [-1, -2]))
		with tempfile.TemporaryDirectory() as d:
		    p = pathlib.Path(d, "a"); p.write_text("x" * 100000); shutil.copy(p, d + "/b"); os.rename(d + "/b", d + "/c"); os.symlink("c", d + "/l")
		    print("files", sorted(os.listdir(d)), os.stat(d + "/l").st_size)
		signal.signal(signal.SIGALRM, lambda *a: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()
		print("cpus", os.cpu_count() > 0, len(os.sched_getaffinity(0)) > 0, json.loads('{"a": 1}'), time.monotonic() > 0)
	END
	rc_is 0
	like "$out" 'threads 8'
	like "$out" 'pool 285'
	like "$out" "returncode=3, stdout='42"
	like "$out" 'pipe 999'
	like "$out" 'fork \[1, 2\]'
	like "$out" "files \['a', 'c', 'l'\] 100000"
	like "$out" 'alarm'
	like "$out" 'cpus True True'
}

python_has_asyncio_sockets_and_sqlite() {
	_code python3 /data/program <<-'END'
		import asyncio, mmap, select, selectors, socket, sqlite3, ssl
		async def serve(r, w):
		    w.write((await r.readline()).upper()); await w.drain(); w.close()
		async def main():
		    s = await asyncio.start_server(serve, "127.0.0.1", 0)
		    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
		    w.write(b"hello\n"); print("tcp", await r.readline())
		    u = await asyncio.start_unix_server(serve, "/tmp/sock")
		    r, w = await asyncio.open_unix_connection("/tmp/sock")
		    w.write(b"unix\n"); print("unix", await r.readline())
		    p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
		    print("child", (await p.communicate(b"through"))[0], p.returncode)
		    print("gather", await asyncio.gather(*(asyncio.sleep(0.01, i) for i in range(5))))
		    print("thread", await asyncio.to_thread(sum, [1, 2]))
		asyncio.run(main())
		c = sqlite3.connect("/data/db"); c.execute("pragma journal_mode=wal"); c.execute("create table t (x)"); c.executemany("insert into t values (?)", ((i,) for i in range(1000))); c.commit()
		print("sqlite", c.execute("select sum(x) from t").fetchone(), sqlite3.connect(":memory:").execute("select 1").fetchone())
		print("udp", (lambda p: p[0].send(b"x"))(socket.socketpair()), bool(ssl.create_default_context()), mmap.mmap(-1, 4096).write(b"y"))
	END
	rc_is 0
	like "$out" "tcp b'HELLO"
	like "$out" "unix b'UNIX"
	like "$out" "child b'through' 0"
	like "$out" 'gather \[0, 1, 2, 3, 4\]'
	like "$out" 'sqlite \(499500,\) \(1,\)'
	like "$out" 'udp 1 True 1'
}

python_has_numpy() {
	_code python3 /data/program <<-'END'
		import numpy, numpy.linalg as l
		a = numpy.arange(250000.0).reshape(500, 500) + numpy.eye(500) * 1e6
		print("solved", numpy.allclose(a @ l.solve(a, numpy.ones(500)), 1))
		m = numpy.memmap("/data/map", dtype="f8", mode="w+", shape=(1000,)); m[:] = 1; m.flush(); print("sum", m.sum(), numpy.fft.fft(m)[0].real)
	END
	rc_is 0
	is "$out" $'solved True\nsum 1000.0 1000.0'
}

node_has_children_and_workers() {
	_code node /data/program <<-'END'
		const { execFileSync, spawn, fork } = require("child_process"), { Worker, isMainThread, parentPort } = require("worker_threads");
		const fs = require("fs"), http = require("http"), crypto = require("crypto"), zlib = require("zlib");
		(async () => {
			console.log("exec", execFileSync("sh", ["-c", "echo $((6*7))"]).toString().trim());
			console.log("spawn", await new Promise(r => { const c = spawn("cat"); let s = ""; c.stdout.on("data", d => s += d); c.on("close", n => r(s + n)); c.stdin.end("text"); }));
			console.log("worker", await new Promise(r => new Worker("require('worker_threads').parentPort.postMessage(1 + 1)", { eval: true }).on("message", r)));
			fs.writeFileSync("/data/child.js", "process.on('message', m => process.send(m * 2, () => process.exit()))");
			console.log("fork", await new Promise(r => { const c = fork("/data/child.js"); c.on("message", r); c.send(21); }));
			const s = http.createServer((q, a) => a.end("served")).listen(0, "127.0.0.1");
			await new Promise(r => s.on("listening", r));
			console.log("http", await new Promise(r => http.get({ port: s.address().port, host: "127.0.0.1" }, a => { let t = ""; a.on("data", d => t += d); a.on("end", () => r(t)); })));
			s.close();
			await fs.promises.writeFile("/data/f", "x".repeat(1e6));
			console.log("files", (await fs.promises.stat("/data/f")).size, zlib.gunzipSync(zlib.gzipSync(fs.readFileSync("/data/f"))).length);
			console.log("crypto", crypto.randomBytes(8).length, await new Promise(r => crypto.pbkdf2("a", "b", 1000, 8, "sha256", (e, k) => r(k.length))));
			console.log("jit", (() => { let x = 0; for (let i = 0; i < 1e7; i++) x = (x * 31 + i) | 0; return typeof x; })());
		})();
	END
	rc_is 0
	is "$out" $'exec 42\nspawn text0\nworker 2\nfork 42\nhttp served\nfiles 1000000 1000000\ncrypto 8 8\njit number'
}

bash_has_pipelines_and_jobs() {
	_code bash /data/program <<-'END'
		set -eu -o pipefail
		seq 100000 | grep 7 | sed s/7/x/ | awk '{ n++ } END { print "lines", n }'
		find /usr/share -type f -print0 2>/dev/null | xargs -0 -P 4 -n 200 wc -c | awk '{ n++ } END { print (n > 10 ? "xargs" : "few") }'
		diff <(seq 3) <(seq 1 3) && echo substitution
		(sleep 0.1; exit 4) & wait $! || echo "job $?"
		coproc cat; echo word >&"${COPROC[1]}"; read -r word <&"${COPROC[0]}"; echo "coproc $word"
		trap 'echo trapped' USR1; kill -USR1 $$
		tar -C /etc -cf - hostname | tar -tf - ; dd if=/dev/zero bs=4k count=100 2>/dev/null | sha256sum | cut -c 1-8
		timeout 0.1 sleep 5 || echo "timeout $?"; ps -e | grep -c bash; mktemp -d /tmp/x.XXXX >/dev/null; ln -s a /tmp/l; touch -d 2001-01-01 /tmp/t; stat -c %Y /tmp/t
		printf '%s\n' {1..5} | sort -R | sort -n | tail -n 1; df /data >/dev/null && echo df; nproc >/dev/null && echo nproc
	END
	rc_is 0
	like "$out" 'lines 40951'
	like "$out" $'xargs\nsubstitution\njob 4\ncoproc word\ntrapped\nhostname\n'
	like "$out" 'timeout 124'
	like "$out" $'978307200\n5\ndf\nnproc$'
}

gcc_compiles_what_then_runs() {
	_code sh /data/program <<-'END'
		set -e
		cat >a.c <<-'C'
			#include <pthread.h>
			#include <stdio.h>
			#include <stdlib.h>
			static void *work(void *p) { *(int *)p = 42; return p; }
			int main(void) { pthread_t t; int n = 0; pthread_create(&t, 0, work, &n); pthread_join(t, 0); printf("thread %d\n", n); return system("exit 5") >> 8; }
		C
		gcc -O2 -g -Wall -pthread -o a a.c
		./a || echo "status $?"
		gcc -shared -fPIC -x c -o lib.so - <<-'C'
			int f(void) { return 7; }
		C
		python3 -c 'import ctypes; print("library", ctypes.CDLL("./lib.so").f())'
	END
	rc_is 0
	is "$out" $'thread 42\nstatus 5\nlibrary 7'
}

sqlite_keeps_a_file() {
	_code sh /data/program <<-'END'
		sqlite3 /data/own.db 'create table t (x); insert into t values (1), (2);' && sqlite3 -readonly /data/own.db 'select sum(x) from t' 'vacuum into "/data/copy.db"' && ls /data/copy.db
	END
	rc_is 0
	is "$out" $'3\n/data/copy.db'
}

run_tests
