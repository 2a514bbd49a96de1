#!/bin/bash
# What people run in containers, through docker with $RT as the daemon's default runtime; engines/run calls it in a place of its own.
#
# Services, languages, a package manager, builds and compose, from Debian packages (programs/tree), each judged by what it answers. The image has
# no network but what docker gives it, and that has no way out: packages come from the image's own /archives.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"
TEST_ID=workloads
TEST_LIMIT=${ENGINE_TEST_LIMIT:-400}
IMAGE=localhost/workloads
ENGINE_LOG=$SBXT_WORK/engine.log
export DOCKER_BUILDKIT=0 # which has a runtime of its own

# ---- words for the tests ----

# _in CMD…: in the container, kept like `run`.
_in() {
	run e exec "$C" "$@"
}

_answers() {
	e exec "$C" "$@" >/dev/null 2>&1
}

# _says REGEX CMD…: whether CMD in the container prints it.
_says() {
	[[ $(e exec "$C" "${@:2}" 2>&1) =~ $1 ]]
}

_has_ended_with() {
	is "$(e wait "$C")" "$1" 'exit code'
}

# ---- services ----

# As its image does it: the log is the container's output, the master root, a reload the signal HUP, the end the signal QUIT.
nginx_serves_reloads_and_quits() {
	up nginx --stop-signal QUIT "$IMAGE" sh -c 'ln -sf /dev/stdout /var/log/nginx/access.log && ln -sf /dev/stderr /var/log/nginx/error.log &&
		mkdir -p /var/www/html && echo first >/var/www/html/index.html && exec nginx -g "daemon off;"'
	wait_until 30 _answers curl -fs http://127.0.0.1/
	_in curl -fs http://127.0.0.1/
	is "$out" first
	_in ps -o user= -C nginx
	like "$out" www-data
	_in sh -c 'mkdir /two && echo second >/two/index.html && sed -i s,/var/www/html,/two, /etc/nginx/sites-enabled/default'
	rc_is 0
	e kill -s HUP "$C"
	wait_until 30 _says second curl -fs http://127.0.0.1/
	_in sh -c 'for i in $(seq 50); do curl -fs http://127.0.0.1/ || echo failed & done; wait'
	is "$(sort -u <<<"$out")" second
	e stop -t 60 "$C"
	_has_ended_with 0
	like "$(e logs "$C" 2>/dev/null)" '"GET / HTTP/1.1" 200 7 "-" "curl/'
}

PG='PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)'
# Root makes the directories and gives up its rights, for initdb and for the server.
PG_SERVE="$PG"' && install -d -o postgres -g postgres -m 700 /pg /pg/data /var/run/postgresql && cd /pg &&
	{ [ -e /pg/data/PG_VERSION ] || gosu postgres initdb -D /pg/data -A trust >/pg/log; } && exec gosu postgres postgres -D /pg/data'

# The books balance after four clients' transactions, and once more in another container with the volume.
postgres_makes_its_cluster_and_pgbench_balances() {
	local sums='select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history), (select count(*) from pgbench_history)'
	e volume create "$P-pg" >/dev/null
	up pg --stop-signal INT -v "$P-pg:/pg" "$IMAGE" sh -c "$PG_SERVE"
	wait_until 60 _answers gosu postgres psql -Atc 'select 1'
	_in gosu postgres pgbench -i -q -s 1
	rc_is 0
	_in gosu postgres pgbench -c 4 -j 2 -t 100
	rc_is 0
	like "$out" 'transactions actually processed: 400/400'
	_in gosu postgres psql -Atc "$sums"
	is "$out" 't|400'
	e stop -t 60 "$C"
	_has_ended_with 0
	up pg2 --stop-signal INT -v "$P-pg:/pg" "$IMAGE" sh -c "$PG_SERVE"
	wait_until 60 _answers gosu postgres psql -Atc 'select 1'
	_in gosu postgres psql -Atc "$sums"
	is "$out" 't|400'
	e rm -f "$C" "$P-pg" >/dev/null
	e volume rm "$P-pg"
}

_redis_has_saved() {
	_says 'rdb_bgsave_in_progress:0' redis-cli info persistence && _says 'rdb_last_bgsave_status:ok' redis-cli info persistence && _answers test -s /r/dump.rdb
}

# It forks to save, saves once more when it is stopped, and knows the number when it is started again.
redis_counts_under_its_benchmark_saves_and_knows_again() {
	up redis "$IMAGE" sh -c 'mkdir -p /r && chown redis /r && cd /r && exec gosu redis redis-server --save 3600 1 --dir /r'
	wait_until 30 _answers redis-cli ping
	_in redis-benchmark -q -n 3000 -c 20 -t set,get,incr,lpush,lrange_100
	rc_is 0
	like "$out" 'LRANGE_100.*requests per second'
	_in redis-cli get counter:__rand_int__
	is "$out" 3000
	_in redis-cli bgsave
	like "$out" started
	wait_until 30 _redis_has_saved
	_in redis-cli set word canary
	is "$out" OK
	e stop -t 60 "$C"
	_has_ended_with 0
	e start "$C"
	wait_until 30 _answers redis-cli ping
	_in redis-cli mget counter:__rand_int__ word
	is "$out" $'3000\ncanary'
}

# A thread for each request, a database that all of them write, and a process for some.
python_serves_with_threads_sqlite_and_subprocesses() {
	mkdir -m 755 "$T/app"
	cat >"$T/app/server.py" <<-'END'
		import http.server, signal, sqlite3, subprocess, sys, threading
		signal.signal(signal.SIGTERM, lambda *args: sys.exit(7))
		sqlite3.connect("/tmp/db").executescript("pragma journal_mode=wal; create table t (x integer, thread integer)")
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        db = sqlite3.connect("/tmp/db", timeout=60, isolation_level=None)
		        what, _, value = self.path[1:].partition("/")
		        if what == "add":
		            db.execute("insert into t values (?, ?)", (int(value), threading.get_native_id()))
		            answer = "added"
		        elif what == "sum":
		            answer = "%d %d" % db.execute("select total(x), count(*) from t").fetchone()
		        else:
		            answer = subprocess.run(["sqlite3", "-cmd", ".timeout 60000", "/tmp/db", "pragma integrity_check"], capture_output=True, text=True).stdout.strip()
		        self.send_response(200)
		        self.end_headers()
		        self.wfile.write(answer.encode())
		    def log_message(self, *args):
		        pass
		http.server.ThreadingHTTPServer.request_queue_size = 128
		http.server.ThreadingHTTPServer(("", 8000), Handler).serve_forever()
	END
	cat >"$T/app/client.py" <<-'END'
		import concurrent.futures, urllib.request
		get = lambda path: urllib.request.urlopen("http://127.0.0.1:8000/" + path, timeout=60).read().decode()
		with concurrent.futures.ThreadPoolExecutor(16) as pool:
		    print(set(pool.map(get, ("add/%d" % i for i in range(1, 201)))), set(pool.map(get, ["check"] * 8)))
		print(get("sum"))
	END
	up web -v "$T/app:/app:ro" "$IMAGE" python3 /app/server.py
	wait_until 30 _answers curl -fs http://127.0.0.1:8000/sum/
	_in python3 /app/client.py
	is "$out" $'{\'added\'} {\'ok\'}\n20100 200'
	e stop -t 60 "$C"
	_has_ended_with 7
}

_workers_are() {
	[ "$(e exec "$C" sh -c 'for i in $(seq 12); do curl -fs http://127.0.0.1:8000/; done' | sort -u | wc -l)" = "$1" ]
}

# Workers share a port, and one that was killed is replaced.
node_cluster_shares_a_port_and_replaces_a_worker() {
	mkdir -m 755 "$T/app"
	cat >"$T/app/server.js" <<-'END'
		const cluster = require("cluster"), http = require("http");
		if (cluster.isPrimary) {
			for (let i = 0; i < 3; i++)
				cluster.fork();
			cluster.on("exit", () => cluster.fork());
			process.on("SIGTERM", () => process.exit(9));
		} else {
			http.createServer((request, answer) => {
				answer.setHeader("Connection", "close");
				answer.end(process.pid + "\n");
			}).listen(8000);
		}
	END
	up node -v "$T/app:/app:ro" "$IMAGE" node /app/server.js
	wait_until 60 _workers_are 3
	_in curl -fs http://127.0.0.1:8000/
	like "$out" '^[0-9]+$'
	_in kill -KILL "$out"
	rc_is 0
	wait_until 60 _workers_are 3
	_in sh -c 'ps -o args= -C node | grep -c server.js'
	is "$out" 4
	e stop -t 60 "$C"
	_has_ended_with 9
}

# ---- tools ----

# apt fetches as a user of its own; the package has a dependency, and a maintainer script that makes a user.
apt_get_installs_and_removes() {
	box "$IMAGE" sh -ec 'cd /archives
		for file in *.deb; do
			dpkg-deb -f "$file"
			printf "Filename: ./%s\nSize: %s\nSHA256: %s\n\n" "$file" "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d " " -f 1)"
		done >Packages
		rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
		echo "deb [trusted=yes] file:/archives ./" >/etc/apt/sources.list
		export DEBIAN_FRONTEND=noninteractive
		apt-get update
		apt-get install -y tcpdump
		id -un tcpdump
		dpkg-query -W -f "\${Package} \${db:Status-Status}\n" tcpdump libpcap0.8
		tcpdump --version 2>&1 | head -n 1
		apt-get purge -y --autoremove tcpdump
		test ! -e /usr/bin/tcpdump && echo gone'
	rc_is 0
	like "$out" $'\ntcpdump\n(libpcap0.8:?[^ ]*|tcpdump) installed\n[^ ]+ installed\ntcpdump version '
	like "$out" $'\ngone$'
	unlike "$err" 'W: |E: '
}

# Several files, a library that is loaded by name, threads.
gcc_compiles_and_links() {
	box "$IMAGE" sh -ec 'cd /tmp
		printf "int twice(int x) { return 2 * x; }\n" >twice.c
		cat >main.c <<-"END"
			#include <dlfcn.h>
			#include <math.h>
			#include <pthread.h>
			#include <stdio.h>
			static void *one(void *arg) { *(int *)arg += 1; return arg; }
			int main(void)
			{
				void *library = dlopen("./libtwice.so", RTLD_NOW);
				int (*twice)(int) = (int (*)(int))dlsym(library, "twice"), x = 20;
				pthread_t thread;
				pthread_create(&thread, NULL, one, &x);
				pthread_join(thread, NULL);
				printf("%d %.3f\n", twice(x), sqrt(2));
			}
		END
		gcc -O2 -Wall -Werror -fPIC -shared -o libtwice.so twice.c
		gcc -O2 -Wall -Werror -c main.c
		gcc -pthread -o main main.o -ldl -lm
		./main'
	rc_is 0
	is "$out" '42 1.414'
}

# Compiled inside, and then the program of a container. It uses calls that have other numbers, or other arguments, than those of 64 bits.
a_32_bit_program_runs() {
	[ "$(dpkg --print-architecture)" = amd64 ] || skip 'this machine has no 32-bit programs'
	mkdir -m 755 "$T/built"
	box -v "$T/built:/built" "$IMAGE" sh -ec 'cd /tmp
		cat >main.c <<-"END"
			#define _FILE_OFFSET_BITS 64
			#include <pthread.h>
			#include <stdio.h>
			#include <sys/mman.h>
			#include <sys/socket.h>
			#include <sys/stat.h>
			#include <sys/wait.h>
			#include <time.h>
			#include <unistd.h>
			static void *one(void *arg) { *(int *)arg += 1; return arg; }
			int main(void)
			{
				int pair[2], x = 40, status;
				char word[8] = "";
				struct stat st;
				struct timespec now = {0};
				pthread_t thread;
				socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
				send(pair[0], "word", 5, 0);
				recv(pair[1], word, sizeof(word), 0);
				pthread_create(&thread, NULL, one, &x);
				pthread_join(thread, NULL);
				if (fork() == 0)
					_exit(x);
				wait(&status);
				clock_gettime(CLOCK_REALTIME, &now);
				printf("%zu %s %d %d %d %d\n", sizeof(long), word, WEXITSTATUS(status), stat("/etc/passwd", &st),
				       now.tv_sec > 1000000000, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
			}
		END
		gcc -m32 -O2 -pthread -I/usr/include/x86_64-linux-gnu -o /built/main main.c'
	rc_is 0
	box -v "$T/built:/built" "$IMAGE" /built/main
	rc_is 0
	is "$out" '4 word 41 0 1 1'
}

# From the start, and attached to what runs already.
strace_follows_and_attaches() {
	box "$IMAGE" sh -ec 'strace -f -e trace=execve -o /tmp/log sh -c "cat /etc/hostname | wc -l; true"
		grep -c "execve(\"/usr/bin/\(sh\|cat\|wc\)\"" /tmp/log
		(while :; do sleep 0.1; done) & pid=$!
		timeout -s INT 60 strace -p $pid -o /tmp/attached & tracer=$!
		until [ -s /tmp/attached ]; do sleep 0.05; done
		kill $pid
		wait $tracer || :
		tail -n 1 /tmp/attached'
	rc_is 0
	like "$out" $'^1\n3\n\+\+\+ killed by SIGTERM \+\+\+$'
}

# A file system of a program inside, which needs a capability and a device.
fuse_mounts_a_file_system_of_a_program() {
	[ -c /dev/fuse ] || skip 'this kernel has no FUSE'
	box --device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined "$IMAGE" sh -ec 'mkdir /from /to
		bindfs -p 0640 /from /to
		echo word >/to/file
		cat /from/file
		stat -c %a /to/file
		stat -f -c %T /to
		fusermount -u /to
		ls /to'
	rc_is 0
	is "$out" $'word\n640\nfuseblk'
}

# ---- images and compositions ----

# Two stages: a compiler makes what runs in an image that has nothing else. The second time, nothing is run.
docker_build_has_steps_and_a_cache() {
	local before
	before=$(e ps -aq)
	mkdir -m 755 "$T/context"
	printf '#include <stdio.h>\nint main(void) { printf("%%s\\n", WORD); }\n' >"$T/context/main.c"
	cat >"$T/context/Dockerfile" <<-END
		FROM $IMAGE AS build
		ARG WORD=unset
		ENV COLOUR=red
		RUN useradd -m builder && install -d -o builder /made
		WORKDIR /made
		USER builder
		COPY --chown=builder main.c .
		RUN gcc -static -DWORD="\"\$WORD \$COLOUR \$(id -un)\"" -o main main.c && ln main other && mkfifo pipe
		RUN ["/bin/sh", "-c", "test -p pipe && test main -ef other && ./main >said"]
		FROM scratch
		COPY --from=build /made/main /main
		COPY --from=build /made/said /said
		ENTRYPOINT ["/main"]
	END
	run e build --network none --build-arg WORD=word -t "localhost/$P" "$T/context"
	rc_is 0
	run e build --network none --build-arg WORD=word -t "localhost/$P" "$T/context"
	rc_is 0
	unlike "$out" 'Running in'
	like "$out" 'Using cache'
	box "localhost/$P"
	rc_is 0
	is "$out" 'word red builder'
	is "$(e ps -aq)" "$before"
	e rmi "localhost/$P"
	run e build --network none --no-cache --force-rm -t "localhost/$P" - <<<"FROM $IMAGE"$'\nRUN exit 42'
	rc_is 42
	like "$err" 'returned a non-zero code: 42'
}

# compose ARG…: docker-compose of the tree, with this machine's daemon and files.
_compose() {
	run unshare -m --propagation private sh -ec 'mount --bind "$1" /mnt
		mount -o remount,bind,ro /mnt
		for dir in dev proc run var; do mount --rbind "/$dir" "/mnt/$dir"; done
		mount -t tmpfs tmpfs /mnt/tmp
		project=$2
		shift 2
		exec timeout -k 2 200 chroot /mnt env TMPDIR=/tmp docker-compose -p "${project##*/}" -f "$project/compose.yaml" "$@"' sh "$TREE" "$T/$P" "$@"
}

# One waits until the other is healthy, finds it by its name, and reads its secret.
compose_has_health_secrets_and_names() {
	local dir=$T/$P before
	before=$(e ps -aq)
	mkdir -m 755 "$dir"
	: >"$T/named"
	echo hidden >"$dir/secret"
	cat >"$dir/web.py" <<-'END'
		import http.server, socket
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        redis = socket.create_connection(("store", 6379))
		        redis.sendall(b"INCR visits\r\n")
		        answer = redis.recv(100).decode().strip() + " " + open("/run/secrets/word").read()
		        self.send_response(200)
		        self.end_headers()
		        self.wfile.write(answer.encode())
		    def log_message(self, *args):
		        pass
		# Started before the other was healthy, it would have no address.
		socket.create_connection(("store", 6379)).close()
		http.server.ThreadingHTTPServer(("", 8000), Handler).serve_forever()
	END
	cat >"$dir/compose.yaml" <<-END
		version: "3.8"
		services:
		  store:
		    image: $IMAGE
		    command: sh -c 'mkdir -p /r && cd /r && sleep 1 && exec redis-server --protected-mode no --bind 0.0.0.0 --save ""'
		    healthcheck: {test: [CMD, redis-cli, ping], interval: 300ms, retries: 200}
		  web:
		    image: $IMAGE
		    command: python3 /app/web.py
		    volumes: ["$dir:/app:ro"]
		    depends_on: {store: {condition: service_healthy}}
		    secrets: [word]
		    mem_limit: 128m
		secrets:
		  word: {file: "$dir/secret"}
	END
	_compose up -d
	rc_is 0
	C=${P}_web_1
	wait_until 60 _answers curl -fs http://127.0.0.1:8000/
	_in curl -fs http://127.0.0.1:8000/
	is "$out" ':2 hidden'
	is "$(get '{{.State.Health.Status}}' "${P}_store_1")" healthy
	is "$(get '{{.HostConfig.Runtime}}')" "$RT"
	run e exec "${P}_store_1" curl -fs http://web:8000/
	is "$out" ':3 hidden'
	_compose ps -q
	is "$(wc -l <<<"$out")" 2
	_compose restart -t 1 store
	rc_is 0
	wait_until 60 _says '^:[12] hidden' curl -fs http://127.0.0.1:8000/
	_compose down -t 1
	rc_is 0
	is "$(e ps -aq; e network ls -q --filter "name=$P")" "$before"
}

TREE=$("$TESTS_DIR/programs/tree" --where)
[ -e "$TREE/made" ] || { echo 'skip workloads all: the tree of programs could not be made' && exit 0; }
make_template
if ! { dockerd_up "$ENGINE_LOG" --storage-driver overlay2 --default-runtime "$RT" && tar -C "$TREE" -c . | e import - "$IMAGE" >>"$ENGINE_LOG"; }; then
	echo "not ok $TEST_ID start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG" | sed 's/^/    /'
	exit 1
fi
run_tests
