#!/usr/bin/env python3
"""registry.py DIR [serve]: makes registries of tiny packages in DIR, as pip (simple/, files/) and npm (npm/) read them, or serves them at 11.0.1.1:8081."""
import base64
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import time
import zipfile

DIR = sys.argv[1]
HOST = "http://good.example:8081"

# Runs while it is installed, and says what it reaches; then it fails.
ASKS = """
import socket
def asked(host, port):
    try:
        socket.create_connection((host, port), 20).close()
        return "yes"
    except OSError:
        return "no"
raise SystemExit("asked: other.example %s, registry %s" % (asked("other.example", 80), asked("good.example", 8081)))
"""


def write(path, data):
    path = os.path.join(DIR, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            t.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def page(name, file):
    write("simple/%s/index.html" % name, '<!DOCTYPE html><html><body><a href="/files/%s">%s</a></body></html>' % (file, file))


def make():
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("tiny_one.py", 'WHAT = "tiny one"\n')
        z.writestr("tiny_one-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-one\nVersion: 1.0\n")
        z.writestr("tiny_one-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("tiny_one-1.0.dist-info/RECORD", "tiny_one.py,,\ntiny_one-1.0.dist-info/METADATA,,\ntiny_one-1.0.dist-info/WHEEL,,\ntiny_one-1.0.dist-info/RECORD,,\n")
    write("files/tiny_one-1.0-py3-none-any.whl", wheel.getvalue())
    page("tiny-one", "tiny_one-1.0-py3-none-any.whl")
    write("files/asks-others-1.0.tar.gz", tar({"asks-others-1.0/setup.py": ASKS, "asks-others-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: asks-others\nVersion: 1.0\n"}))
    page("asks-others", "asks-others-1.0.tar.gz")
    page("waits", "waits-1.0.tar.gz")
    two = tar({"package/package.json": json.dumps({"name": "tiny-two", "version": "2.0.0", "main": "i.js"}), "package/i.js": 'module.exports = "tiny two";\n'})
    write("files/tiny-two-2.0.0.tgz", two)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(two).digest()).decode()
    write("integrity", integrity)
    dist = {"tarball": HOST + "/files/tiny-two-2.0.0.tgz", "integrity": integrity, "shasum": hashlib.sha1(two).hexdigest()}
    write("npm/tiny-two", json.dumps({"name": "tiny-two", "dist-tags": {"latest": "2.0.0"}, "versions": {"2.0.0": {"name": "tiny-two", "version": "2.0.0", "main": "i.js", "dist": dist}}}))


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if "waits-1.0" in self.path:
            self.log_message("%s", "waits-1.0 is asked for")
            sys.stderr.flush()
            time.sleep(120)
        super().do_GET()


if len(sys.argv) > 2:
    os.chdir(DIR)
    http.server.ThreadingHTTPServer(("11.0.1.1", 8081), Handler).serve_forever()
else:
    make()
