# shellcheck shell=bash disable=SC2154,SC2016
# What people do with each rootfs beyond its smoke test, in boxes of `sbxrun do`: programs_of_NAME, with the rootfs in the library
# $library. Nothing of it is refused, and nothing is complained about.

# _in_box OPTION… LANGUAGE CODE: the result, kept by `run`; _says TEXT: all is well, and it has printed that.
# An image stays mounted for a while, which the directory of the test does not.
_in_box() {
	run env SBXRUN_ROOTFS_DIR="$library" "$SBXRUN" --root "$T/state" "do" --json --timeout 300 "$@"
	for image in "$T"/state/image:*; do
		umount "$image" 2>/dev/null || :
	done
}
_of() { jq -r "$1" "$T/.out"; }
_says() {
	is "$(_of '[.status, .stdout, .stderr, (.denials | length), (.rootfs | split("@")[0])] | map(tostring) | join("|")')" "ok|$1"$'\n'"||0|$recipe"
}
_is_png() { [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$1 is no picture"; }

programs_of_bash() {
	_in_box bash 'seq 5 | while read -r i; do echo $((i * i)); done | sort -rn | sed s/2/x/ | paste -sd, -; exec 3<>/dev/null; [[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}" >f && cat <(cat f)' || return
	is "$(_of .status)" ok
	is "$(_of .denials)" '[]'
	like "$(_of .stdout)" $'x5,16,9,4,1\nc'
}

programs_of_python() {
	_in_box python 'import concurrent.futures as c, json, multiprocessing, sqlite3, ssl, subprocess, sys, tarfile, tempfile, zoneinfo
db = sqlite3.connect("x.db"); db.execute("create table t(a)"); db.execute("insert into t values(40)"); db.commit()
tarfile.open("x.tar.gz", "w:gz").add("x.db")
with c.ProcessPoolExecutor(2) as p: two = sum(p.map(abs, [-1, 1]))
with c.ThreadPoolExecutor(8) as p: hundred = sum(p.map(int, ["1"] * 100))
print(db.execute("select a from t").fetchone()[0] + two, hundred, subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout.strip())'
	_says '42 100 42'
	is "$(_of '.files.added | join(" ")')" 'x.db x.tar.gz'
}

programs_of_node() {
	_in_box node 'const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
if (!isMainThread) parentPort.postMessage(workerData * 2);
else new Worker(__filename, { workerData: 21 }).on("message", (m) => {
  const fs = require("fs"), zlib = require("zlib"), crypto = require("crypto"), { execFileSync } = require("child_process");
  fs.writeFileSync("o.gz", zlib.gzipSync("text"));
  const server = require("http").createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", async () => {
    const text = await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text();
    console.log(m, zlib.gunzipSync(fs.readFileSync("o.gz")).toString(), text, crypto.createHash("md5").update("a").digest("hex").slice(0, 4), execFileSync(process.execPath, ["-p", "6*7"]).toString().trim());
    server.closeAllConnections(); server.close();
  });
});'
	_says '42 text served 0cc1 42'
	is "$(_of '.files.added[]')" o.gz
}

programs_of_c() {
	echo 40 2 >in
	_in_box --stdin in c '#include <pthread.h>
#include <stdio.h>
static void *add(void *p) { int *v = p; v[0] += v[1]; return NULL; }
int main(void) { int v[2]; pthread_t t; if (scanf("%d %d", v, v + 1) != 2 || pthread_create(&t, NULL, add, v)) return 1; pthread_join(t, NULL); printf("%d\n", v[0]); return 0; }'
	_says 42
	is "$(_of '.compile | .status, (.denials | length)')" $'ok\n0'
	_in_box --stdin in c++ '#include <algorithm>
#include <iostream>
#include <map>
#include <thread>
int main() { int a, b; std::cin >> a >> b; std::map<int, int> m{{1, a}, {2, b}}; std::thread([&] { a = m[1] + m[2]; }).join(); try { throw a; } catch (int x) { std::cout << x << std::endl; } }'
	_says 42
	_in_box --rootfs c bash 'printf "#include <stdio.h>\nint main(void) { return puts(\"made\") < 0; }\n" >main_.c; printf "main_: main_.o\n\t\$(CC) -o \$@ \$<\n" >Makefile; make -s && ./main_'
	_says made
}

programs_of_r() {
	_in_box --memory 1g --copy-out taken r 'suppressMessages({ library(ggplot2); library(dplyr) })
d <- data.frame(x = 1:9, g = rep(c("a", "b", "c"), 3)); write.csv(d, "d.csv", row.names = FALSE)
s <- read.csv("d.csv") |> group_by(g) |> summarise(m = mean(x)); suppressMessages(ggsave("p.png", ggplot(d, aes(x, x)) + geom_point(), width = 3, height = 3))
cat(paste(s$g, s$m), gsub("(.)b", "\\1x", "ab", perl = TRUE), "\n", sep = " ")'
	_says 'a 4 b 5 c 6 ax '
	_is_png taken/p.png
	is "$(_of '.files.added | join(" ")')" 'd.csv p.png'
}

programs_of_research() {
	mkdir -m 755 data
	printf 'x,y\n1,2\n2,4\n3,6\n' >data/in.csv
	_in_box --rootfs research --preset research -v "$T/data:/data:ro" --copy-out taken python 'import matplotlib.pyplot as plot, numpy as np, pandas as pd
from scipy import stats
from sklearn.linear_model import LinearRegression
d = pd.read_csv("/data/in.csv"); r = LinearRegression().fit(d[["x"]], d.y)
plot.figure(figsize=(4, 3), dpi=100); plot.plot(d.x, d.y); plot.savefig("plot.png"); d.describe().to_csv("d.csv")
print(round(r.coef_[0], 3), round(stats.pearsonr(d.x, d.y)[0], 3), np.linalg.solve(np.eye(2) * 2, [4, 6]))'
	_says '2.0 1.0 [2. 3.]'
	_is_png taken/plot.png
	is "$(_of '.files.added | join(" ")')" 'd.csv plot.png'
}
