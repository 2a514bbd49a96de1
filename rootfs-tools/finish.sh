# shellcheck shell=bash
# Runs in the new root, in a box, as its root: what maintainer scripts would have done, and the same bytes each time.
# The builder has set links; the function finish of the recipe follows.
set -eu
cd /

# ---- users, names, resolution ----
cat >etc/passwd <<-'END'
	root:x:0:0:root:/root:/bin/bash
	nobody:x:65534:65534:nobody:/tmp:/bin/bash
END
cat >etc/group <<-'END'
	root:x:0:
	tty:x:5:
	nogroup:x:65534:
END
cat >etc/hosts <<-'END'
	127.0.0.1	localhost
	::1	localhost ip6-localhost ip6-loopback
END
cat >etc/nsswitch.conf <<-'END'
	passwd:	files
	group:	files
	hosts:	files dns
	services:	files
	protocols:	files
	networks:	files
END
: >etc/resolv.conf
echo sandbox >etc/hostname
: >etc/fstab
mkdir -p etc/default
echo LANG=C.UTF-8 >etc/default/locale
echo Etc/UTC >etc/timezone
ln -sfn /usr/share/zoneinfo/Etc/UTC etc/localtime
ln -sfn /proc/self/mounts etc/mtab
for file in profile bash.bashrc; do
	[ -e "etc/$file" ] || : >"etc/$file"
done

# ---- certificates, as update-ca-certificates would join them ----
mkdir -p etc/ssl/certs
find usr/share/ca-certificates -name '*.crt' | sort | while read -r file; do
	cat "$file"
	echo
done | sed '/^$/d' >etc/ssl/certs/ca-certificates.crt

# ---- alternatives ----
for link in $links; do
	target=${link#*=} link=${link%%=*}
	[[ $link == /* ]] || link=/usr/bin/$link
	if [ -e "$target" ]; then
		mkdir -p "${link%/*}"
		ln -sfn "$target" "$link"
	else
		echo "the target of the link $link is missing: $target" >&2
		exit 1
	fi
done
[ -e bin/sh ] || ln -s dash bin/sh

# ---- places ----
mkdir -p workspace root home opt mnt srv media boot usr/local/bin usr/local/lib var/tmp var/log var/cache var/lib run/lock
chmod 755 workspace
chmod 700 root
rm -rf var/run var/lock
ln -s /run var/run
ln -s /run/lock var/lock
