#!/bin/bash
# Imitates CVE-2021-30465, CVE-2024-45310 and the race of CVE-2019-18837: a neighbour shares a volume and exchanges directories in it
# with links while the runtime makes places and mounts there. Escape: something appears in the canary on the host, or a mount of
# the config is nowhere in the container's tree, since it went to the host's.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# PAIR…: exchanges files of the volume until _stop.
_exchange() {
	build_attacker
	"$ATTACKER" swap "$@" &
	SWAPPER=$!
}

_stop() {
	kill "$SWAPPER"
	wait "$SWAPPER" || :
}

# FILTER…: starts containers with the volume; each shows its mounts. The source of every mount that is looked for is named needle.
_many_starts() {
	local i ran=0 lost=0
	bundle 'args(["/bin/cat", "/proc/self/mountinfo"])' 'mount({destination: "/v", source: ($T + "/volume"), options: ["bind"]})' "$@"
	for ((i = 0; i < STARTS; i++)); do
		# What an earlier one has made there, a link would lead to.
		rm -rf "$B/rootfs$T"
		run sbx run -b "$B" "$ID"
		untouched canary "start $i"
		[ "$rc" = 0 ] || continue
		ran=$((ran + 1))
		[[ $out == *needle* ]] || lost=$((lost + 1))
	done
	_stop
	echo "$ran of $STARTS ran"
	[ "$lost" = 0 ] || escaped "$lost of $STARTS mounts went somewhere else"
}

_volume() {
	mkdir -p canary needle volume/dir volume/target
	ln -s "../../../../../../../../../../../..$T/canary" volume/climb
	ln -s "$T/canary" volume/link
}

a_directory_exchanged_with_a_link() {
	_volume
	_exchange volume/target volume/link
	_many_starts 'mount({destination: "/v/target", source: ($T + "/needle"), options: ["bind"]})'
}

a_directory_exchanged_with_a_link_that_climbs() {
	_volume
	_exchange volume/target volume/climb
	_many_starts 'mount({destination: "/v/target", source: ($T + "/needle"), options: ["bind"]})'
}

directories_that_are_made_on_the_way() {
	_volume
	_exchange volume/target volume/climb
	_many_starts 'mount({destination: "/v/target/made/\($ID)/x/y", source: ($T + "/needle"), options: ["bind"]})' \
		'.linux.devices = [{path: "/v/target/null", type: "c", major: 1, minor: 3}]'
}

a_file_that_is_made_on_the_way() {
	_volume
	echo text >needle.txt
	_exchange volume/target volume/climb volume/dir volume/link
	_many_starts 'mount({destination: "/v/target/file", source: ($T + "/needle.txt"), options: ["bind"]})' \
		'mount({destination: "/v/dir/file", source: ($T + "/needle.txt"), options: ["bind"]})'
}

# Options that only the old call takes: it leaves no descriptor of what it has mounted.
a_mount_with_long_options() {
	local lower='' i long
	printf -v long '%0100d' 0
	for i in 1 2 3; do
		mkdir -p "low/$long$i"
		lower+=${lower:+:}$T/low/$long$i
	done
	_volume
	_exchange volume/target volume/climb
	_many_starts "mount({destination: \"/v/target\", type: \"overlay\", source: \"needle\", options: [\"nosuid\", \"lowerdir=$lower\"]})"
}

# Where the links lead, nothing is: the runtime has to make it, in the container's tree and nowhere else.
a_directory_exchanged_with_a_link_that_leads_nowhere() {
	mkdir -p canary needle volume/target
	echo text >needle.txt
	ln -s "../../../../../../../../../../../..$T/canary/made" volume/climb
	ln -s "$T/canary/made" volume/link
	ln -s link volume/chain
	_exchange volume/target volume/link volume/climb volume/chain
	_many_starts 'mount({destination: "/v/target", source: ($T + "/needle"), options: ["bind"]})' \
		'mount({destination: "/v/climb/x", source: ($T + "/needle.txt"), options: ["bind"]})' \
		'mount({destination: "/v/chain/y", source: ($T + "/needle.txt"), options: ["bind"]})'
}

the_working_directory() {
	_volume
	echo secret >canary.txt
	_exchange volume/target volume/climb
	# There is nothing to look for in the mounts: the line is the volume's own.
	_many_starts 'mount({destination: "/needle", source: ($T + "/needle"), options: ["bind"]})' '.process.cwd = "/v/target/made"'
}

run_tests
