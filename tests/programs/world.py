#!/usr/bin/env python3
"""world.py DIR: web servers at ports 80 and 443 (programs/world): files of DIR/www; git's own of DIR/git; what is sent to /count is counted.

Each request is a line of DIR/lab/seen: the address and the port that were reached, the method, the host and the path.
"""
import http.server
import os
import ssl
import subprocess
import sys
import threading

DIR = sys.argv[1]
LOCK = threading.Lock()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args):
        super().__init__(*args, directory=os.path.join(DIR, "www"))

    def note(self):
        at = self.connection.getsockname()
        with LOCK, open(os.path.join(DIR, "lab/seen"), "a", encoding="ascii", errors="backslashreplace") as f:
            f.write("%s %d %s %s %s\n" % (at[0], at[1], self.command, self.headers["Host"], self.path))

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while True:
            size = int(self.rfile.readline(), 16)
            whole += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                return whole

    def answer(self, body, kind="text/plain", status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def git(self):
        path, _, query = self.path.partition("?")
        env = dict(os.environ, GIT_PROJECT_ROOT=DIR, GIT_HTTP_EXPORT_ALL="1", REMOTE_USER="user", REMOTE_ADDR=self.client_address[0],
                   REQUEST_METHOD=self.command, PATH_INFO=path, QUERY_STRING=query, CONTENT_TYPE=self.headers.get("Content-Type", ""),
                   HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""), GIT_PROTOCOL=self.headers.get("Git-Protocol", ""))
        data = self.body()
        env["CONTENT_LENGTH"] = str(len(data))
        out = subprocess.run(["git", "http-backend"], env=env, input=data, stdout=subprocess.PIPE, check=False).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.answer(body, headers.get("Content-Type", "text/plain"), int(headers.get("Status", "200").split()[0]))

    def do_GET(self):
        self.note()
        if self.path.startswith("/git/"):
            self.git()
        else:
            super().do_GET()

    def do_POST(self):
        self.note()
        if self.path.startswith("/git/"):
            self.git()
        else:
            self.answer(b"%d bytes came\n" % len(self.body()))

    do_PUT = do_POST


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


class Tls(Server):
    def get_request(self):
        s, who = super().get_request()
        s.settimeout(30)
        return CONTEXT.wrap_socket(s, server_side=True, do_handshake_on_connect=False), who

    def handle_error(self, request, client_address):
        pass  # who does not believe the certificate goes away


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain(os.path.join(DIR, "cert.pem"), os.path.join(DIR, "key.pem"))
threading.Thread(target=Server(("0.0.0.0", 80), Handler).serve_forever, daemon=True).start()
Tls(("0.0.0.0", 443), Handler).serve_forever()
