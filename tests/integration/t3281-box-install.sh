#!/bin/bash
# sbxrun box install: packages, by the real pip and npm of the host's /usr, from registries in a network of our own.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/lab.sh"
. "${0%/*}/../lib/registry.sh"

# What the box has: the host's /usr, and no pip of whoever runs the tests.
_needs_pip() { [ -e /usr/lib/python3/dist-packages/pip ] || skip 'needs pip in /usr'; }
_of() { jq -r "$1" <<<"$out"; }

a_package_of_pypi_is_there_for_python() {
	_needs_pip
	registry
	run _with "$OPERATOR" _box create --id "$ID" --rootfs host --memory 1g python
	rc_is 0
	run _with "$OPERATOR" _box install --json --audit "$T/audit" "$ID" pypi tiny-one==1.0
	rc_is 0
	is "$(_of '.status, .success, .sandbox_id, .install.package, .install.registry')" $'ok\ntrue\n'"$ID"$'\ntiny-one==1.0\npypi'
	is "$(_of '.install.installed[] | "\(.name) \(.version) \(.hash)"')" "tiny-one 1.0 sha256:$(sha256sum <"$LAB/www/files/tiny_one-1.0-py3-none-any.whl" | cut -d' ' -f1)"
	is "$(_of .limits.network)" allow-list
	[ "$(_of .usage.network.bytes_in)" -gt 500 ]
	run _box run "$ID" python 'import tiny_one; print(tiny_one.WHAT)'
	is "$out" 'tiny one'
	# The registry was there for that time alone, and nothing else of it is left.
	run _box exec "$ID" -- sh -c 'python3 -c "import socket; socket.create_connection((\"good.example\", 8081))" 2>&1 | tail -n 1; ls -A; ip route show table local 2>/dev/null | grep -c "local default"'
	like "$out" 'gaierror|Errno'
	unlike "$out" 'install-'
	is "$(carrier)" ''
	is "$(jq -r '.verb, .args[0], .args[1], .network.allow[0]' "$T/audit")" $'box install\npypi\ntiny-one==1.0\ngood.example:8081'
	like "$(jq -r '.args[2]' "$T/audit")" '^tiny-one==1.0 sha256:[0-9a-f]{64}$'
	is "$(_box logs "$ID" | jq -r 'select(.verb == "install") | "\(.args[1]) \(.success)"')" 'tiny-one==1.0 true'
	run _with "$OPERATOR" _box install --json "$ID" pypi nosuch-package
	is "$(_of '.success, .install.installed')" $'false\n[]'
	nobody_asked pypi.org
}

a_package_of_npm_is_there_for_node() {
	needs npm node
	registry
	run _with "$OPERATOR" _box create --id "$ID" --rootfs host --memory 1g node
	run _with "$OPERATOR" _box install --json "$ID" npm tiny-two@2.0.0
	rc_is 0
	is "$(_of '.install.installed[] | "\(.name) \(.version) \(.hash)"')" "tiny-two 2.0.0 $(cat "$LAB/www/integrity")"
	run _box run "$ID" node 'console.log(require("tiny-two"))'
	is "$out" 'tiny two'
	nobody_asked npmjs
}

# Each name with its own reason.
an_installation_without_resolvers_says_so() {
	_needs_pip
	registry
	run _with "$OPERATOR" _box create --id "$ID" --rootfs host --memory 1g python
	_lab_resolver 11.0.0.3
	run _with "$OPERATOR" _box install --json "$ID" pypi tiny-one
	is "$(_of '.status, .install.installed')" $'error\n[]'
	is "$(_of '.notes[]')" "good.example:8081 was not reached: none of this machine's resolvers (/etc/resolv.conf) has answered"
	_lab_resolver 11.0.0.2
	run _with "${OPERATOR//good.example/nosuch.example}" _box install --json "$ID" pypi tiny-one
	is "$(_of '.notes[]')" 'nosuch.example:8081 was not reached: there is no such host'
	run _with "${OPERATOR//8081/8082}" _box install --json "$ID" pypi tiny-one
	is "$(_of '.notes[]')" 'good.example:8082 was not reached: nobody has answered at its addresses from this machine'
	is "$(_of '.denials')" '[]'
}

# A box that reaches hosts of its own does not while it installs, and does again afterwards.
an_installation_has_its_registry_and_nothing_else() {
	_needs_pip
	registry
	run _with "$OPERATOR" _box create --id "$ID" --rootfs host --memory 1g --allow other.example --allow good.example:22 python
	run _with "$OPERATOR" _box install --json "$ID" pypi asks-others
	is "$(_of .install.installed[0].name)" null
	like "$(_of .stdout)$(_of .stderr)" 'asked: other.example no, registry yes'
	nobody_reached '^11.0.2.1'
	is "$(carrier | wc -l)" 1
	run _box exec "$ID" -- python3 -c 'import socket; print(socket.create_connection(("good.example", 22)).recv(99))'
	like "$out" SSH-2.0-lab
}

an_installation_that_is_killed_leaves_the_box_as_it_was() {
	_needs_pip
	registry
	run _with "$OPERATOR" _box create --id "$ID" --rootfs host --memory 1g --allow good.example:22 python
	_with "$OPERATOR" _box install --json "$ID" pypi waits >/dev/null 2>&1 &
	wait_until 60 grep -q waits-1.0 "$LAB/www.log"
	local pid
	for pid in $(pgrep -f "box install --json $ID"); do
		kill -KILL "$pid" 2>/dev/null || :
	done
	run _box exec --timeout 20 "$ID" -- python3 -c 'import socket
try: socket.create_connection(("good.example", 8081)); print("reached")
except OSError: print("refused")
print(socket.create_connection(("good.example", 22)).recv(99))'
	like "$out" $'refused\n.*SSH-2.0-lab'
}

names_are_names() {
	bundle
	run _box create --id "$ID" --rootfs "$B/rootfs"
	local name
	for name in '' -r --index-url=http://x/ -e 'git+https://a.org/x' https://a.org/x.whl ./x ../x /etc x.whl x.tar.gz x.zip 'x @ https://a.org/' 'x[extra]' 'x y' 'x;y' "x'" 'x==' 'x==*' 'x>=1' 'x==-1' 'x== 1' file:x . .. x/ $'x\ny' 'ä' "$(printf 'x%.0s' {1..101})"; do
		run _box install "$ID" -- pypi "$name"
		rc_is 125
		like "$err" 'no name of a package|the version is none'
	done
	for name in '' -g --registry=x user/repo git+ssh://x github:a/b file:x ./x X x.tgz .x @x @x/ @x/y/z @/y 'npm:y' x@npm:y 'x@^1' 'x@>1' x@latest/ x@git+https://a/ x@file:/ 'x@*' node_modules 'x y' @x../y x.; do
		run _box install "$ID" -- npm "$name"
		rc_is 125
		like "$err" 'no name of a package|the version is none'
	done
	run _box install "$ID" cargo serde
	like "$err" 'no registry "?cargo'
}

who_may_install_is_the_operators() {
	bundle
	run _box create --id "$ID" --rootfs "$B/rootfs"
	run _with '{"version": 1, "network": {"enabled": false}}' _box install --json "$ID" pypi tiny-one
	rc_is 125
	like "$(_of .error.message)" '^network access required for package installation'
	run _with '{"version": 1, "registries": {"npm": {"index": "http://good.example:8081/"}}}' _box install "$ID" pypi tiny-one
	rc_is 125
	like "$err" 'gives boxes nothing of pypi'
	run _with '{"version": 1, "registries": {"pypi": {"hosts": ["good.example"]}}}' _box install "$ID" pypi tiny-one
	like "$err" 'no address to install pypi packages from'
	run _box install "$ID" pypi tiny-one
	like "$err" '@pypi: nothing in the root filesystem says|no address'
	run _box install --json nosuch pypi tiny-one
	rc_is 125
	is "$(_of .error.type)" SandboxNotFound
}

# Configuration of the root filesystem before the program's own defaults, and the operator's file before both.
hosts_of_registries_are_read_from_where_they_stand() {
	bundle
	local r=$B/rootfs
	mkdir -p "$r/etc/apt/sources.list.d" "$r/usr/lib/python3/dist-packages/pip/_internal/models" "$r/usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions"
	run sbx "do" --explain --json --rootfs "$r" --allow @pypi -- true
	rc_is 125
	like "$err" '@pypi: nothing in the root filesystem says which hosts'
	printf 'class X: pass\n\nPyPI = PackageIndex("https://one.example/", file_storage_domain="files.example")\nOther = PackageIndex("https://two.example/", file_storage_domain="x.example")\n' >"$r/usr/lib/python3/dist-packages/pip/_internal/models/index.py"
	printf "  registry: new Definition('registry', {\n    default: 'https://npm.example/',\n    type: url,\n" >"$r/usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js"
	printf '# deb http://no.example/\ndeb [arch=amd64 signed-by=/x] http://deb.example/debian stable main\ndeb cdrom:[x] y\n' >"$r/etc/apt/sources.list"
	printf 'Types: deb\nURIs: https://sec.example:8443/a\n http://u:p@third.example/\nSuites: x\n' >"$r/etc/apt/sources.list.d/a.sources"
	_rules() { run sbx "do" --explain --json --rootfs "$r" --allow "$1" -- true && is "$(_of '.box.allow | join(" ")')" "$2"; }
	_rules @pypi 'one.example:443 files.example:443'
	_rules @npm npm.example:443
	_rules @debian 'deb.example:80 sec.example:8443 third.example:80'
	printf '[global]\nindex-url = https://mirror.example/simple/\nextra-index-url =\n  http://more.example:8080/x\n  http://127.1/\n' >"$r/etc/pip.conf"
	printf 'x=y\nregistry = https://n.example/\n@a:registry=https://scope.example:444/\n' >"$r/etc/npmrc"
	_rules @pypi 'mirror.example:443 more.example:8080'
	_rules @npm 'n.example:443 scope.example:444'
	run _with '{"version": 1, "registries": {"pypi": {"index": "https://op.example/simple", "hosts": ["**.op.example"]}}}' sbx "do" --explain --json --rootfs "$r" --allow @pypi -- true
	is "$(_of '.box.allow | join(" ")')" 'op.example:443 **.op.example'
	# Links of the root lead into it, and what is no file is not read.
	rm "$r/etc/pip.conf"
	ln -s /etc/other.conf "$r/etc/pip.conf"
	printf '[global]\nindex-url = https://inside.example/\n' >"$r/etc/other.conf"
	_rules @pypi inside.example:443
	rm "$r/etc/pip.conf" "$r/etc/npmrc"
	mkfifo "$r/etc/pip.conf"
	ln -s /proc/self/environ "$r/etc/npmrc"
	_rules @pypi 'one.example:443 files.example:443'
	_rules @npm npm.example:443
}

# network.default, denied, max_bytes and max_rate, by their effect.
what_the_operator_says_of_the_network_holds() {
	local file='{"version": 1, "network": {"default": ["good.example:22"], "denied": ["other.example"], "max_bytes": 1048576, "max_rate": 65536}}'
	lab
	bundle
	# Who asks for nothing gets the default, and all that bounds it.
	run _with "$file" _box create --json --id "$ID" --rootfs "$B/rootfs"
	rc_is 0
	is "$(_of '.limits | .network, .net_bytes, .net_rate')" $'allow-list\n1048576\n65536'
	is "$(_box rules "$ID" | LC_ALL=C sort)" $'allow good.example:22\ndeny other.example'
	run _box exec "$ID" -- sh -c 'nc good.example 22 </dev/null; nc good.example 80 </dev/null || echo no; nc other.example 80 </dev/null || echo no'
	like "$out" $'^SSH-2.0-lab[^\n]*\nno\nno$'
	# What is denied stays so, whoever asks for it, and however.
	run _with "$file" _box allow "$ID" other.example
	rc_is 125
	like "$err" 'other.example is denied'
	run _with "$file" _box deny --remove "$ID" other.example
	rc_is 125
	like "$err" 'deny --remove other.example: the operator denies it'
	run _with "$file" _box deny --remove "$ID" Other.Example
	rc_is 125
	run _with "$file" _box allow "$ID" other.example
	rc_is 125
	run _box exec "$ID" -- sh -c 'nc other.example 80 </dev/null && echo yes || echo no'
	is "$out" no
	run _with "$file" _box create --id "$ID.all" --rootfs "$B/rootfs" --allow '*.example' --allow good.example:22
	rc_is 0
	run _box exec "$ID.all" -- sh -c 'nc good.example 22 </dev/null; nc other.example 80 </dev/null && echo yes || echo no'
	like "$out" $'^SSH-2.0-lab[^\n]*\nno$'
	run _with "$file" _box deny --remove "$ID.all" other.example
	rc_is 125
	run _box exec "$ID.all" -- sh -c 'nc other.example 80 </dev/null && echo yes || echo no'
	is "$out" no
	# What somebody else has denied can be taken away, and all of it when the operator denies nothing any more.
	_with "$file" _box deny "$ID.all" good.example
	_with "$file" _box deny --remove "$ID.all" good.example
	is "$(_box rules "$ID.all" | LC_ALL=C sort)" $'allow *.example\nallow good.example:22\ndeny other.example'
	nobody_asked '^other'
	_with '{"version": 1}' _box deny --remove "$ID.all" other.example
	is "$(_box rules "$ID.all" | grep -c deny)" 0
	# Less may be asked for.
	run _with "$file" _box create --json --rootfs "$B/rootfs" --allow good.example:22 --net-limit 1k --net-rate 1k
	is "$(_of '.limits | .network, .net_bytes, .net_rate')" $'allow-list\n1024\n1024'
	run _with "$file" _box create --rootfs "$B/rootfs" --allow good.example:22 --net-rate 65537
	rc_is 125
	like "$err" 'net-rate: more than the operator allows'
	# The default of somebody who lets no box reach anything is nothing.
	run _with '{"version": 1, "network": {"enabled": false, "default": ["good.example:22"]}}' _box create --json --rootfs "$B/rootfs"
	is "$(_of .limits.network)" none
}

# The documents' own program, with its imports changed.
harombes_pipeline_runs_with_its_installation() {
	_needs_pip
	registry
	printf '#!/bin/sh\nexec "%s" --root "%s" "$@"\n' "$SBXRUN" "$T/state" >sbxrun
	chmod 755 sbxrun
	run _with "$OPERATOR" env SBXRUN="$T/sbxrun" SBXRUN_ROOTFS_DIR="$T/library" PYTHONDONTWRITEBYTECODE=1 python3 "$TESTS_DIR/clients/pipeline.py" tiny-one==1.0 tiny_one good.example:8081
	is "$out" 'the pipeline ran'
	rc_is 0
	is "$(_box list --json)" '[]'
	nobody_asked pypi.org
}

# By the tools of sbxrun mcp: packages of the operator's registry, and hosts that are named, and nothing else.
a_model_installs_a_package_and_reaches_hosts() {
	_needs_pip
	registry
	{ printf 'from mcp import *\n' && cat; } >client.py <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python", memory_mb=1024)["structuredContent"]["sandbox_id"]
	o = s.call("code_install_package", sandbox_id=box, package="tiny-one==1.0")["structuredContent"]
	assert o["success"] and o["sandbox_id"] == box and o["install"]["installed"][0]["name"] == "tiny-one", o
	assert o["install"]["installed"][0]["hash"].startswith("sha256:"), o
	run = lambda code, **a: s.call("code_execute", language="python", code=code, **a)["structuredContent"]
	assert run("import tiny_one; print(tiny_one.WHAT)", sandbox_id=box)["stdout"] == "tiny one\n"
	r = s.call("code_install_package", sandbox_id=box, package="nosuch-package")
	assert not r["structuredContent"]["success"] and r["structuredContent"]["install"]["installed"] == [], r
	ssh = "import socket\ntry: print(socket.create_connection(('%s', 22), 20).recv(99))\nexcept OSError as e: print('no')"
	assert run(ssh % "good.example", sandbox_id=box)["stdout"] == "no\n", "the box reaches what it never named"
	o = run(ssh % "good.example", network_enabled=True, allowed_domains=["good.example:22"])
	assert "SSH-2.0-lab" in o["stdout"] and o["usage"]["network"]["reached"] == [{"host": "good.example", "port": 22, "count": 1}], o
	o = run(ssh % "other.example", sandbox_id=o["sandbox_id"])
	assert o["stdout"] == "no\n" and o["denials"][0]["hint"] == "--allow other.example", o
	s.call("box_allow", sandbox_id=o["sandbox_id"], hosts=["other.example:22"])
	assert "SSH" in run(ssh % "other.example", sandbox_id=o["sandbox_id"])["stdout"]
	s.call("box_deny", sandbox_id=o["sandbox_id"], hosts=["other.example"])
	assert run(ssh % "other.example", sandbox_id=o["sandbox_id"])["stdout"] == "no\n"
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	END
	run _with "$OPERATOR" env SBXRUN="$SBXRUN" SBXRUN_ROOTFS_DIR="$T/library" PYTHONPATH="$TESTS_DIR/lib" PYTHONDONTWRITEBYTECODE=1 python3 client.py
	is "$err" ''
	rc_is 0
	nobody_asked pypi.org
}

run_tests
