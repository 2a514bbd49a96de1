#!/bin/bash
# What people run that speaks to others: Debian's git, ssh, curl, wget, apt, psql, python, node and a JVM in a box that may reach one host, against real servers in a network of our own (programs/world.sh). What is
# allowed works, with and without words about a proxy; what is not fails by itself, and the result names the host and the option.
# Views: own
# shellcheck disable=SC2016,SC2154
# Before the framework, which has a limit for each test, and a network without a mirror.
[ -n "${SBXT_NS:-}" ] || [ "$EUID" != 0 ] || { "${0%/*}/tree" && { [ -z "${PROGRAMS_LONG:-}" ] || "${0%/*}/tree" jvm; }; } >/dev/null
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/lab.sh
. "${0%/*}/../lib/lab.sh"
# shellcheck source=tests/programs/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/programs/world.sh
. "${0%/*}/world.sh"

# OPTION… CODE: by bash, in the tree. A line is what a command has said, in brackets: `say CMD…`. `fails CMD…` says whether it did so by itself.
_box() {
	run sbx "do" --json --rootfs "${ROOT:-$TREE}" --memory 1g --timeout 200 -v "$WORLD/cert.pem:/cert.pem:ro" \
		-e CURL_CA_BUNDLE=/cert.pem -e GIT_SSL_CAINFO=/cert.pem -e REQUESTS_CA_BUNDLE=/cert.pem -e SSL_CERT_FILE=/cert.pem -e NODE_EXTRA_CA_CERTS=/cert.pem \
		"${@:1:$#-1}" -- bash -c '
		direct="env -u http_proxy -u https_proxy -u all_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY"
		fails() { timeout 60 "$@" >>/tmp/said 2>&1; case $? in 0) echo "works: $*" ;; 124) echo "hangs: $*" ;; esac; }
		'"${!#}"
	SAID=$(jq -r .stdout <<<"$out")
	is "$(jq -r .status <<<"$out")" ok "$(jq -r .stderr <<<"$out")"
}

# HOST OPTION…: that is what the result tells, of this host alone.
_denied() {
	local hints
	hints=$(jq -r --arg host "$1" '.denials[] | select(.kind == "network" and .host == $host) | .hint' <<<"$out")
	is "$(jq -r '.denials[] | select(.kind == "network") | .host' <<<"$out" | sort -u)" "$1"
	shift
	is "$hints" "$(printf '%s\n' "$@")"
	nobody_reached '^11.0.2.1'
	nobody_asked '^other'
}

git_clones_and_pushes_over_ssh_and_https() {
	world web ssh
	_box --allow good.example --allow good.example:22 'export GIT_SSH_COMMAND="ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes"
		git config --global user.name box; git config --global user.email box@good.example
		git clone -q ssh://user@good.example/srv/git/repo.git a; cat a/README
		git clone -q https://good.example/git/repo.git b; head -c 2000000 /dev/urandom >b/LARGE; echo new >b/NEW; git -C b add .; git -C b commit -q -m second; git -C b push -q
		git -C a pull -q; cat a/NEW; cmp a/LARGE b/LARGE && echo same
		echo more >a/MORE; git -C a add .; git -C a commit -q -m third; git -C a push -q
		$direct git -C b pull -q; cat b/MORE; git clone -q http://good.example/git/repo.git c; git -C c log --format=%s
		ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR user@good.example "echo at the other side; cat" <<<through
		fails git clone -q ssh://user@other.example/srv/git/repo.git d
		fails git clone -q https://other.example/git/repo.git d; fails $direct git clone -q https://other.example/git/repo.git d; ls'
	is "$SAID" $'from the repository\nnew\nsame\nmore\nthird\nsecond\nfirst\nat the other side\nthrough\na\nb\nc'
	_denied other.example '--allow other.example' '--allow other.example'
}

curl_and_wget_read_and_send_by_every_way() {
	world web
	_box --allow good.example 'exec 2>&1; u=good.example/hello; p=127.0.0.1:3128
		for way in "" "--noproxy *" "--proxy socks5h://$p" "--proxy socks5://$p" "--proxy socks4a://$p" "--proxy http://$p -p"; do curl -sS $way http://$u https://$u http://$u; done
		curl -sS https://good.example/large http://good.example/large | sha256sum; curl -sS --noproxy "*" -T /usr/bin/git https://good.example/count | grep -c "^[0-9]* bytes came"
		for way in "" "--noproxy *"; do for s in http https; do head -c 3000000 /dev/zero | curl -sS $way -T - $s://good.example/count; head -c 3000000 /dev/zero | curl -sS $way --data-binary @- $s://good.example/count; done; done
		curl -sS -D- --noproxy "*" http://$u | grep -i ^connection; wget -qO- http://$u; wget --ca-certificate=/cert.pem -qO- https://$u; $direct wget -qO- http://$u; $direct wget --ca-certificate=/cert.pem -qO- https://$u
		curl -s -o /dev/null -w "%{http_code} %{http_connect}\n" http://other.example/; curl -s -o /dev/null -w "%{http_code} %{http_connect}\n" https://other.example/; curl -s http://other.example/
		for s in http https; do fails curl -fsS $s://other.example/; fails curl -sS --noproxy "*" $s://other.example/; fails curl -sS --proxy socks5h://$p $s://other.example/; fails curl -sS --noproxy "*" $s://11.0.2.1/
			fails wget --no-check-certificate $s://other.example/; fails $direct wget --no-check-certificate $s://other.example/; done'
	is "$(grep -c '^hello$' <<<"$SAID")" 22
	is "$(grep -c '^3000000 bytes came$' <<<"$SAID")" 8
	like "$SAID" "$(head -c 6000000 /dev/zero | tr '\0' x | sha256sum)"
	like "$SAID" $'403 000\n000 403\nsbxrun: other.example:80 is not allowed \(--allow\)'
	like "$SAID" 'Connection: close'
	unlike "$SAID" 'works|hangs'
	is "$(jq -r '.denials[] | select(.kind == "network") | .hint' <<<"$out" | sort -u)" $'--allow 11.0.2.1\n--allow other.example'
	nobody_reached '^11.0.2.1'
	nobody_asked '^other'
}

apt_reads_an_archive_and_installs_of_it() {
	world web
	_box --allow good.example 'exec 2>&1
		set -- -qq -o Dir::State=/tmp/s -o Dir::Cache=/tmp/c -o Dir::Etc::sourceparts=/nowhere -o Dir::Etc::sourcelist=/tmp/list -o Debug::NoLocking=1 -o APT::Get::List-Cleanup=0 -o Acquire::Retries=0 -o Acquire::https::CAInfo=/cert.pem
		mkdir -p /tmp/s/lists/partial /tmp/c/archives/partial
		for s in http https; do for way in env "$direct"; do rm -f tiny*; echo "deb [trusted=yes] $s://good.example/debian ./" >/tmp/list; $way apt-get "$@" update && $way apt-get "$@" download tiny; dpkg-deb -x tiny*.deb /tmp/$s; cat /tmp/$s/usr/share/tiny/what; done; done
		for s in http https; do for way in env "$direct"; do echo "deb [trusted=yes] $s://other.example/debian ./" >/tmp/list; fails $way apt-get "$@" --error-on=any update; done; done'
	is "$(grep -c '^from the archive$' <<<"$SAID")" 4 "$SAID"
	unlike "$SAID" 'works|hangs'
	_denied other.example '--allow other.example' '--allow other.example' '--allow other.example'
	is "$(jq -r '.notes | length' <<<"$out")" 0
}

psql_asks_its_server() {
	world postgres
	_box --allow good.example:5432 'exec 2>&1; export PGUSER=postgres PGHOST=good.example PGCONNECT_TIMEOUT=60 PGSSLROOTCERT=/cert.pem
		psql -Atc "select 40 + 2, (select ssl from pg_stat_ssl where pid = pg_backend_pid())" "sslmode=disable"
		psql -Atc "select 40 + 2, (select ssl from pg_stat_ssl where pid = pg_backend_pid())" "sslmode=verify-full"
		seq 200000 | psql -Atqc "create table t (x int); copy t from stdin" ""; psql -Atc "select sum(x) from t" ""; psql -Atc "copy t to stdout" "" | tail -n 1
		fails psql -h other.example -Atc "select 1" ""; fails psql -h 11.0.2.1 -Atc "select 1" ""; fails psql -h good.example -p 5433 -Atc "select 1" ""'
	is "$SAID" $'42|f\n42|t\n20000100000\n200000'
	is "$(jq -r '.denials[] | select(.kind == "network") | .hint' <<<"$out" | sort)" $'--allow 11.0.2.1:5432\n--allow good.example:5433\n--allow other.example'
	nobody_asked '^other'
}

python_reads_by_its_libraries() {
	world web
	_box --allow good.example 'cat >p.py <<-"END"
		import asyncio, http.client, os, requests, socket, ssl, urllib.request
		PROXIES = [k for k in os.environ if k.lower().endswith("_proxy")]
		def all_of(word):
		    for s in "http", "https":
		        print(word, "urllib", urllib.request.urlopen(s + "://good.example/hello").read())
		        with requests.Session() as r:
		            print(word, "requests", [r.get(s + "://good.example/hello").text for _ in range(3)], r.post(s + "://good.example/count", data=b"x" * 300000).text)
		            print(word, "chunked", r.post(s + "://good.example/count", data=(b"x" * 1000 for _ in range(9))).text)
		        for ask in urllib.request.urlopen, requests.get:
		            try:
		                x = ask(s + "://other.example/")
		                print(word, ask.__module__, "status", x.status_code) if x.status_code != 403 else 0
		            except OSError:
		                pass
		    h = http.client.HTTPSConnection("good.example"); h.request("GET", "/hello"); print(word, "http.client", h.getresponse().read())
		async def streams():
		    r, w = await asyncio.open_connection("good.example", 443, ssl=ssl.create_default_context()); w.write(b"GET /hello HTTP/1.0\r\n\r\n"); print("asyncio", (await r.read())[-6:])
		all_of("proxy")
		[os.environ.pop(k) for k in PROXIES]
		all_of("direct")
		asyncio.run(streams())
		for address in ("other.example", 443), ("11.0.2.1", 443), ("good.example", 8080):
		    try: s = socket.create_connection(address); s.settimeout(60); s.sendall(b"x"); print("reached", address, s.recv(9))
		    except TimeoutError: print("hangs", address)
		    except OSError: pass
		print("done")
	END
	timeout 150 python3 p.py 2>&1'
	is "$(grep -c "urllib b'hello" <<<"$SAID")" 4 "$SAID"
	is "$(grep -c "requests \['hello\\\\n', 'hello\\\\n', 'hello\\\\n'\] 300000 bytes" <<<"$SAID")" 4 "$SAID"
	is "$(grep -c 'chunked 9000 bytes' <<<"$SAID")" 4 "$SAID"
	is "$(grep -c "http.client b'hello" <<<"$SAID")" 2
	like "$SAID" "asyncio b'hello.*done"
	unlike "$SAID" 'reached|status|hangs'
	is "$(jq -r '.denials[] | select(.kind == "network") | .hint' <<<"$out" | sort -u)" $'--allow 11.0.2.1\n--allow good.example:8080\n--allow other.example'
	nobody_reached '^11.0.2.1'
}

node_fetches() {
	world web ssh
	_box --allow good.example --allow good.example:22 'cat >n.mjs <<-"END"
		import http from "http"; import https from "https"; import net from "net"; import dns from "dns/promises";
		const get = (m, u) => new Promise((ok, no) => m.get(u, r => { let s = ""; r.on("data", d => s += d).on("end", () => ok(s)) }).on("error", no));
		for (const s of ["http", "https"]) {
			for (let i = 0; i < 3; i++) console.log("fetch", (await (await fetch(s + "://good.example/hello")).text()).trim());
			console.log("post", (await (await fetch(s + "://good.example/count", { method: "POST", body: "x".repeat(300000) })).text()).trim());
			console.log("get", (await get(s == "http" ? http : https, s + "://good.example/hello")).trim());
			await fetch(s + "://other.example/").then(r => console.log("reached", r.status), e => 0);
		}
		console.log("at once", (await Promise.all(Array.from({ length: 40 }, () => fetch("https://good.example/hello").then(r => r.text())))).join("").length);
		await new Promise(ok => net.connect(22, "good.example").on("data", function (d) { console.log("net", String(d).slice(0, 8)); this.destroy(); ok() }));
		await dns.resolve4("other.example").catch(e => console.log("dns", e.code));
	END
	NODE_USE_ENV_PROXY= timeout 150 node n.mjs 2>&1'
	is "$(grep -c 'fetch hello' <<<"$SAID")" 6 "$SAID"
	is "$(grep -c 'post 300000 bytes came' <<<"$SAID")" 2
	is "$(grep -c 'get hello' <<<"$SAID")" 2
	like "$SAID" $'at once 240\nnet SSH-2.0-\ndns ENOTFOUND'
	unlike "$SAID" reached
	_denied other.example '--allow other.example'
}

a_jvm_reads_by_its_clients() {
	world web ssh
	ROOT=$("$TESTS_DIR/programs/tree" --where jvm)
	[ -e "$ROOT/made" ] || skip 'the tree could not be made'
	_box --pids-limit 200 --allow good.example --allow good.example:22 'cat >P.java <<-"END"
		import java.io.*; import java.net.*; import java.net.http.*; import java.security.KeyStore; import java.security.cert.*; import javax.net.ssl.*;
		public class P {
			static String read(InputStream in) throws IOException { return new String(in.readAllBytes()).trim(); }
			public static void main(String[] args) throws Exception {
				var store = KeyStore.getInstance("PKCS12"); store.load(null, null);
				store.setCertificateEntry("x", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream("/cert.pem")));
				var trust = TrustManagerFactory.getInstance("PKIX"); trust.init(store);
				var tls = SSLContext.getInstance("TLS"); tls.init(null, trust.getTrustManagers(), null);
				HttpsURLConnection.setDefaultSSLSocketFactory(tls.getSocketFactory());
				var client = HttpClient.newBuilder().sslContext(tls).build();
				for (var s : new String[] {"http", "https"}) {
					var u = URI.create(s + "://good.example/hello");
					for (int i = 0; i < 3; i++) System.out.println("client " + client.send(HttpRequest.newBuilder(u).build(), HttpResponse.BodyHandlers.ofString()).body().trim());
					System.out.println("post " + client.send(HttpRequest.newBuilder(URI.create(s + "://good.example/count")).POST(HttpRequest.BodyPublishers.ofByteArray(new byte[300000])).build(), HttpResponse.BodyHandlers.ofString()).body().trim());
					System.out.println("url " + read(u.toURL().openStream()));
					try { client.send(HttpRequest.newBuilder(URI.create(s + "://other.example/")).build(), HttpResponse.BodyHandlers.ofString()); System.out.println("reached"); } catch (IOException e) { }
				}
				try (var x = new Socket("good.example", 22)) { System.out.println("socket " + new BufferedReader(new InputStreamReader(x.getInputStream())).readLine().substring(0, 8)); }
				for (var where : new String[] {"other.example:22", "11.0.2.1:22", "good.example:8080"})
					try (var x = new Socket(where.split(":")[0], Integer.parseInt(where.split(":")[1]))) { x.setSoTimeout(60000); x.getOutputStream().write(1); int c = x.getInputStream().read(); if (c >= 0) System.out.println("reached " + where); } catch (SocketTimeoutException e) { System.out.println("hangs " + where); } catch (IOException e) { }
				System.out.println("done");
			}
		}
	END
	timeout 150 java P.java 2>&1'
	is "$(grep -c '^client hello$' <<<"$SAID")" 6 "$SAID"
	is "$(grep -c '^post 300000 bytes came$' <<<"$SAID")" 2
	is "$(grep -c '^url hello$' <<<"$SAID")" 2
	like "$SAID" $'socket SSH-2.0-\ndone'
	unlike "$SAID" reached
	is "$(jq -r '.denials[] | select(.kind == "network") | .hint' <<<"$out" | sort -u)" $'--allow 11.0.2.1:22\n--allow good.example:8080\n--allow other.example'
	nobody_reached '^11.0.2.1'
}
[ -n "${PROGRAMS_LONG:-}" ] || unset -f a_jvm_reads_by_its_clients

run_tests
