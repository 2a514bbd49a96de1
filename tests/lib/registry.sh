# shellcheck shell=bash disable=SC2154
# Registries of packages in the lab (lib/lab.sh), for the real pip and npm. Needs lib/test.sh and lib/lab.sh.
#
#	registry		a lab with registries at good.example:8081; $OPERATOR is an operator's file that names them; $ID is an id for a box
#	_with JSON CMD…		with that operator's file, which only CMD sees

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }

_with() {
	mkdir -p etc/up etc/work
	printf '%s\n' "$1" >boxes.json
	shift
	export -f _box sbx
	export SBXRUN T SBXT_WORK TEST_ID
	unshare -m --propagation private bash -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc || exit 99
		[ ! -e "$SBXT_WORK/resolv.$TEST_ID" ] || mount --bind "$SBXT_WORK/resolv.$TEST_ID" "$(realpath /etc/resolv.conf)" || exit 99
		mkdir -p /etc/sbxrun && install -m 644 "$1/boxes.json" /etc/sbxrun/boxes.json || exit 99
		shift && "$@"' _ "$T" "$@"
}

registry() {
	lab
	bundle
	OPERATOR='{"version": 1, "registries": {"pypi": {"index": "http://good.example:8081/simple/"}, "npm": {"index": "http://good.example:8081/npm/"}}}'
	python3 "$TESTS_DIR/lib/registry.py" "$LAB/www"
	nsenter -t "$LAB_PID" -n python3 "$TESTS_DIR/lib/registry.py" "$LAB/www" serve >"$LAB/www.log" 2>&1 &
	wait_until 20 bash -c ': </dev/tcp/11.0.1.1/8081'
}
