// Servers and clients on loopback: http, http2, tcp, udp, unix sockets, fetch, resolution of names.
const http = require('http'), http2 = require('http2'), net = require('net'), dgram = require('dgram'), os = require('os'), path = require('path'), fs = require('fs'), dns = require('dns');
const listen = (s, ...a) => new Promise((r) => s.listen(...a, () => r(s.address())));
const main = async () => {
	const s = http.createServer((q, r) => r.end('hello'));
	const { port } = await listen(s, 0, '127.0.0.1');
	const body = await new Promise((r) => http.get({ port, host: '127.0.0.1' }, (m) => { let t = ''; m.on('data', (d) => t += d).on('end', () => r(t)); }));
	if (body !== 'hello') throw body;
	if (typeof fetch === 'function') await (await fetch(`http://127.0.0.1:${port}/`)).text();
	s.close(); s.closeAllConnections && s.closeAllConnections();
	const h2 = http2.createServer((q, r) => r.end('h2')); const a2 = await listen(h2, 0, '127.0.0.1');
	const c2 = http2.connect(`http://127.0.0.1:${a2.port}`); await new Promise((r) => { const q = c2.request({ ':path': '/' }); q.on('data', () => { }); q.on('end', r); q.end(); }); c2.close(); h2.close();
	const d = fs.mkdtempSync(path.join(os.tmpdir(), 'n')); const u = net.createServer((c) => c.pipe(c)); await listen(u, path.join(d, 's'));
	await new Promise((r) => { const c = net.connect(path.join(d, 's')); c.write('x'); c.on('data', () => { c.end(); r(); }); }); u.close();
	const t = net.createServer((c) => c.end('bye')); const at = await listen(t, 0, '127.0.0.1');
	await new Promise((r) => { const c = net.connect(at.port, '127.0.0.1'); c.setNoDelay(true); c.setKeepAlive(true); c.on('data', () => { }).on('close', r); }); t.close();
	await new Promise((r) => { const g = dgram.createSocket('udp4'); g.bind(0, '127.0.0.1', () => { g.setBroadcast(true); g.send('x', g.address().port, '127.0.0.1'); }); g.on('message', () => { g.close(r); }); });
	await new Promise((r) => dns.lookup('localhost', r)); await new Promise((r) => dns.lookup('nosuch.example', r)); await new Promise((r) => dns.resolve4('nosuch.example', r));
	os.networkInterfaces(); os.hostname();
	console.log('ok');
};
main().then(() => process.exit(0), (e) => { console.error(e); process.exit(1); });
