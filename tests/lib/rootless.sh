# shellcheck shell=bash
# For the family `rootless`, whose files make sense in the rootless views only. Sourced before lib/test.sh.
if [ -z "${SBX_UID:-}" ]; then
	name=${0##*/}
	echo "skip ${name%%-*} ${name%.sh}: only in a rootless view: tests/run --view rootless rootless"
	exit 0
fi
