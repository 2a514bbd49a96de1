# shellcheck shell=bash
# For tests of containers that policies give private ranges of ids to. Needs lib/test.sh, whose mount namespace a file has for itself: there
# /etc/subuid and /etc/subgid get an entry for the runtime, if they have none.
#
#	$PRIVATE_IDS		a file that stands for both of them; what is written to it holds at once
#	_private_ids		skips the test on a host that has no such files, or whose kernel maps no ids on what the tests lie on

PRIVATE_IDS_ENTRY=sbxrun:1879048192:268304384
PRIVATE_IDS=$SBXT_WORK/subids.$$
if [ -e /etc/subuid ] && [ -e /etc/subgid ]; then
	cat /etc/subuid >"$PRIVATE_IDS"
	grep -q ^sbxrun: "$PRIVATE_IDS" || echo "$PRIVATE_IDS_ENTRY" >>"$PRIVATE_IDS"
	mount --bind "$PRIVATE_IDS" /etc/subuid
	mount --bind "$PRIVATE_IDS" /etc/subgid
fi

_private_ids() {
	local major minor
	[ -e "$PRIVATE_IDS" ] || skip 'this host has no /etc/subuid'
	IFS=. read -r major minor _ </proc/sys/kernel/osrelease
	[ "$(stat -fc %T "$SBXT_WORK")" != tmpfs ] || [ $((major * 1000 + minor)) -ge 6003 ] || skip 'a tmpfs maps ids since Linux 6.3'
}
