#!/bin/bash
# egress.sh VERB [OPTION…]: crash points of a verb that changes what a box reaches, in a lab (tests/lib/lab.sh; its LAB is in the environment). Options are those of crash.c. After each SIGKILL,
# of the command or of any process of it, also of the one that carries connections, the box reaches nothing that `box rules` does not have (ask.sh), and when it is deleted, nothing is left.
# tests/integration/t3282 calls this; all points: tests/crash/torture.sh egress.
set -eu
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"
verb=$1
shift
[ -x "$crash_bin/crash" ] || crash_build crash
crash_rootfs
# What `box install` calls, and where it finds an index.
printf '#!/bin/sh\nnc good.example 8080 </dev/null\nexit 0\n' >"$crash_work/rootfs/bin/python3"
chmod 755 "$crash_work/rootfs/bin/python3"
printf '[global]\nindex-url = http://good.example:8080/simple\n' >"$crash_work/rootfs/etc/pip.conf"
crash_bundle "$crash_work/plain"
crash_run "$crash_work/plain" --verbs "$verb" --ask "$crash_here/ask.sh" "$@"
