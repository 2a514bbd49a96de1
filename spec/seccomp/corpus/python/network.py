# Sockets on loopback: servers and clients of several kinds, unix sockets, descriptors that travel.
import array, http.server, os, select, selectors, socket, socketserver, ssl, struct, threading, urllib.request, xmlrpc.client, xmlrpc.server
import asyncio, email.message, ipaddress, json, tempfile


class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *a):
        pass


s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
assert urllib.request.urlopen(f"http://127.0.0.1:{s.server_port}/").read() == b"hello"
s.shutdown()
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        with socket.create_server((address, 0), family=family) as server:
            c = socket.create_connection(server.getsockname()[:2], timeout=5)
            p, _ = server.accept()
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            c.sendall(b"x" * 100)
            p.recv(10), p.recv_into(bytearray(10)), p.recvfrom(10), p.recvmsg(10)
            c.sendmsg([b"a", b"b"])
            c.getpeername(), c.shutdown(socket.SHUT_RDWR), p.close(), c.close()
    except OSError as e:
        assert family == socket.AF_INET6, e
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
u.sendto(b"x", u.getsockname())
assert u.recvfrom(10)[0] == b"x"
a, b = socket.socketpair()
socket.send_fds(a, [b"x"], [0])
socket.recv_fds(b, 10, 1)
path = tempfile.mkdtemp() + "/sock"
n = socket.socket(socket.AF_UNIX)
n.bind(path), n.listen()
m = socket.socket(socket.AF_UNIX)
m.connect(path)
q, _ = n.accept()
e = select.epoll()
e.register(q, select.EPOLLIN)
m.send(b"1")
e.poll(1), e.unregister(q), e.close()
select.select([q], [m], [], 1)
o = select.poll()
o.register(q)
o.poll(100)
sel = selectors.DefaultSelector()
sel.register(q, selectors.EVENT_READ)
sel.select(0.1)
try:
    socket.getaddrinfo("localhost", 80), socket.gethostname(), socket.getfqdn(), socket.if_nameindex()
    socket.gethostbyname("nosuch.example")
except OSError:
    pass


async def main():
    async def serve(r, w):
        w.write(await r.readline())
        await w.drain()
        w.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname())
    w.write(b"line\n")
    assert await r.readline() == b"line\n"
    w.close()
    server.close()
    p = await asyncio.create_subprocess_exec("echo", "x", stdout=asyncio.subprocess.PIPE)
    assert (await p.communicate())[0] == b"x\n"
    await asyncio.to_thread(lambda: 1)
    await asyncio.gather(*(asyncio.sleep(0.01) for _ in range(10)))
    loop = asyncio.get_running_loop()
    import signal
    loop.add_signal_handler(signal.SIGUSR1, lambda: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    t, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0))
    t.sendto(b"x", t.get_extra_info("sockname"))
    await asyncio.sleep(0.01)
    t.close()
    us = await asyncio.start_unix_server(serve, path + "2")
    us.close()


asyncio.run(main())
with xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False) as x:
    x.register_function(lambda: 1, "one")
    threading.Thread(target=x.handle_request, daemon=True).start()
    assert xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % x.server_address[1]).one() == 1
ssl.create_default_context()
print("ok")
