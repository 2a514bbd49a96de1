# shellcheck shell=bash
# Runs in the box of oci-tools: the archive of an image, which comes on stdin and is hostile, becomes /workspace/bundle/rootfs, and what its
# config says /workspace/meta.json. The box has no network, no capabilities and no file of the host but /workspace.
set -euo pipefail
cd /workspace
export TMPDIR=/workspace/tmp HOME=/workspace/tmp XDG_RUNTIME_DIR=/workspace/tmp
mkdir tmp
cat >archive

# ---- which kind of archive ----
names=$(tar -tf archive 2>/dev/null | sed 's|^\./||' | grep -xE 'manifest\.json|oci-layout' || :)
case $names in
*manifest.json*) from=docker-archive:archive ;;
*oci-layout*) from=oci-archive:archive ;;
*) echo 'this is neither a docker nor an OCI archive' && exit 1 ;;
esac
skopeo --insecure-policy --tmpdir /workspace/tmp copy -q "$from" oci:layout:image
rm archive
umoci unpack --rootless --image layout:image bundle
rm -rf layout tmp

# ---- files, directories and links; nothing that gives rights ----
root=bundle/rootfs
find "$root" -type d ! -perm -u+rwx -exec chmod u+rwx {} \;
find "$root" ! -type f ! -type d ! -type l -delete
find "$root" -type f \( ! -perm -u+r -o -perm /6000 \) -exec chmod u+r,ug-s {} +
find "$root" -type d -perm /6000 -exec chmod ug-s {} +
for dir in proc sys dev run tmp workspace; do
	[ -e "$root/$dir" ] || [ -L "$root/$dir" ] || mkdir "$root/$dir"
done

# ---- what the image says of itself ----
epoch=$(find "$root" -type f -printf '%T@\n' | sed 's/\..*//' | grep -xE '[0-9]{1,10}' | sort -n | tail -n 1)
jq -c --arg epoch "${epoch:-0}" '{env: .process.env, command: .process.args, workdir: .process.cwd, epoch: $epoch}' bundle/config.json >meta.json
