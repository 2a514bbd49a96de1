"""image.py OUT LAYER MANIFEST FORMAT…: write the image of a rootfs, whose canonical tar is LAYER, below OUT.

	oci	OUT/oci, an OCI image layout
	docker	OUT/docker.tar, for `docker load`, `podman load` and `ctr images import`: the same layout and docker's own manifest.json

MANIFEST is a JSON file with name, digest, size, epoch, architecture, env, command, workdir. The layer is not compressed: its digest is that of
the rootfs, and no version of a compressor has a say in it.
"""

import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import time

# Debian's names of architectures, where they are not Go's.
ARCHITECTURES = {"armhf": ("arm", "v7"), "armel": ("arm", "v5"), "i386": ("386", None), "mips64el": ("mips64le", None), "ppc64el": ("ppc64le", None)}
TYPE = "application/vnd.oci.image."


def blob(content):
	"""A JSON document as bytes, and its digest."""
	data = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
	return data, "sha256:" + hashlib.sha256(data).hexdigest()


def descriptor(kind, digest, size, **more):
	return {"mediaType": TYPE + kind, "digest": digest, "size": size, **more}


def config_of(rootfs):
	architecture, variant = ARCHITECTURES.get(rootfs["architecture"], (rootfs["architecture"], None))
	created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(rootfs["epoch"]))
	config = {
		"created": created,
		"architecture": architecture,
		"os": "linux",
		"config": {"Env": rootfs["env"], "Cmd": rootfs["command"], "WorkingDir": rootfs["workdir"]},
		"rootfs": {"type": "layers", "diff_ids": [rootfs["digest"]]},
		"history": [{"created": created, "created_by": "sbxrun-rootfs " + rootfs["name"]}],
	}
	if variant:
		config["variant"] = variant
	return config


def documents(rootfs):
	"""The files of the layout but for the layer, path → bytes; and docker's manifest.json."""
	config, config_digest = blob(config_of(rootfs))
	manifest, manifest_digest = blob({
		"schemaVersion": 2,
		"mediaType": TYPE + "manifest.v1+json",
		"config": descriptor("config.v1+json", config_digest, len(config)),
		"layers": [descriptor("layer.v1.tar", rootfs["digest"], rootfs["size"])],
	})
	# A name that no registry can answer for.
	name = f"localhost/sbxrun/{rootfs['name']}:latest"
	index, _ = blob({
		"schemaVersion": 2,
		"mediaType": TYPE + "index.v1+json",
		"manifests": [descriptor("manifest.v1+json", manifest_digest, len(manifest), annotations={
			"io.containerd.image.name": name,
			"org.opencontainers.image.ref.name": "latest",
		})],
	})
	layout, _ = blob({"imageLayoutVersion": "1.0.0"})
	files = {"oci-layout": layout, "index.json": index, path_of(config_digest): config, path_of(manifest_digest): manifest}
	docker, _ = blob([{"Config": path_of(config_digest), "RepoTags": [name], "Layers": [path_of(rootfs["digest"])]}])
	return files, docker


def path_of(digest):
	return "blobs/" + digest.replace(":", "/")


def write_layout(top, files, layer, layer_path):
	os.makedirs(os.path.join(top, "blobs/sha256"))
	for path, data in files.items():
		with open(os.path.join(top, path), "wb") as file:
			file.write(data)
	shutil.copyfile(layer, os.path.join(top, layer_path))


def write_archive(path, files, layer, layer_path, epoch):
	with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT, copybufsize=1 << 20) as tar:
		for name in sorted([*files, layer_path, "blobs", "blobs/sha256"]):
			header = tarfile.TarInfo(name)
			header.mtime = epoch
			if name.startswith("blobs") and name.count("/") < 2:
				header.type, header.mode = tarfile.DIRTYPE, 0o755
				tar.addfile(header)
			elif name == layer_path:
				header.size = os.path.getsize(layer)
				with open(layer, "rb") as file:
					tar.addfile(header, file)
			else:
				header.size = len(files[name])
				tar.addfile(header, io.BytesIO(files[name]))


def main(out, layer, manifest, *formats):
	with open(manifest, encoding="utf-8") as file:
		rootfs = json.load(file)
	files, docker = documents(rootfs)
	layer_path = path_of(rootfs["digest"])
	if "oci" in formats:
		write_layout(os.path.join(out, "oci"), files, layer, layer_path)
	if "docker" in formats:
		write_archive(os.path.join(out, "docker.tar"), {**files, "manifest.json": docker}, layer, layer_path, rootfs["epoch"])


if __name__ == "__main__":
	main(*sys.argv[1:])
