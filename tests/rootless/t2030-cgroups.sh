#!/bin/bash
# What an ordinary user's container does to the cgroups that it may write, it does with ids that are not his.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# _can_be_deleted CODE: a container that does this in its cgroup tree. Where there are no cgroups, it can't.
_can_be_deleted() {
	bundle 'mount({destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["rw", "nosuid", "noexec", "nodev"]})' \
		'ns("cgroup")' writable 'caps(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"])' \
		"sh(\"cd /sys/fs/cgroup && mkdir -p sub-$P/inner-$P; $1; echo >/ready; exec sleep 1000\")"
	sbx run -d -b "$B" "$ID" 2>/dev/null
	wait_until 60 test -e "$B/rootfs/ready"
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	nothing_is_left
}

cgroups_that_the_container_has_closed_are_removed() {
	_can_be_deleted "chmod 0 sub-$P/inner-$P sub-$P/cgroup.procs sub-$P"
}

cgroups_that_the_container_has_given_away_are_removed() {
	_can_be_deleted "chown 5:5 sub-$P/inner-$P sub-$P/cgroup.procs sub-$P; chmod 700 sub-$P"
}

a_cgroup_that_is_closed_itself_is_removed() {
	_can_be_deleted 'chmod 0 .'
}

run_tests
