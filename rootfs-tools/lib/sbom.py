"""sbom.py MANIFEST: print what a manifest names as an SPDX 2.3 document (JSON). The same manifest gives the same document."""

import json
import re
import sys
import time
from urllib.parse import quote

UNKNOWN = "NOASSERTION"


def package(spdx_id, name, version, sha256, purl, **more):
	return {
		"SPDXID": spdx_id,
		"name": name,
		"versionInfo": version,
		"downloadLocation": UNKNOWN,
		"filesAnalyzed": False,
		"licenseConcluded": UNKNOWN,
		"licenseDeclared": UNKNOWN,
		"copyrightText": UNKNOWN,
		"checksums": [{"algorithm": "SHA256", "checksumValue": sha256}],
		"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
		**more,
	}


def debian(p, suite):
	purl = f"pkg:deb/debian/{quote(p['name'])}@{quote(p['version'], safe='')}?arch={p['architecture']}&distro={suite}"
	spdx_id = "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", p["name"].replace("+", "-plus"))
	return package(spdx_id, p["name"], p["version"], p["sha256"], purl, packageFileName=p["path"].rsplit("/", 1)[1])


def npm(p):
	return package("SPDXRef-npm-" + p["name"], p["name"], p["version"], p["sha256"], f"pkg:npm/{p['name']}@{p['version']}")


def document(m):
	digest = m["digest"].split(":")[1]
	root = package("SPDXRef-rootfs", m["name"], m["digest"], digest, f"pkg:oci/{m['name']}@{quote(m['digest'], safe='')}",
		primaryPackagePurpose="CONTAINER", comment="The checksum is that of the canonical tar of the root filesystem.")
	parts = [debian(p, m["suite"]) for p in m["packages"]] + [npm(p) for p in m["npm"]]
	return {
		"spdxVersion": "SPDX-2.3",
		"dataLicense": "CC0-1.0",
		"SPDXID": "SPDXRef-DOCUMENT",
		"name": "sbxrun-rootfs-" + m["name"],
		"documentNamespace": f"urn:sbxrun:rootfs:{m['name']}:{digest}",
		"creationInfo": {
			"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(m["epoch"])),
			"creators": ["Tool: sbxrun-rootfs"],
		},
		"packages": [root, *parts],
		"relationships": [
			{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-rootfs"},
			*({"spdxElementId": "SPDXRef-rootfs", "relationshipType": "CONTAINS", "relatedSpdxElement": p["SPDXID"]} for p in parts),
		],
	}


if __name__ == "__main__":
	with open(sys.argv[1], encoding="utf-8") as file:
		json.dump(document(json.load(file)), sys.stdout, indent=1)
	print()
