// Children, workers, a cluster, signals, timers, what the machine says about itself.
const cp = require('child_process'), os = require('os'), cluster = require('cluster'), wt = require('worker_threads'), { performance } = require('perf_hooks'), v8 = require('v8'), fs = require('fs');
if (!wt.isMainThread) { wt.parentPort.postMessage(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10); }
else if (cluster.isWorker) { require('http').createServer((q, r) => r.end('x')).listen(0, '127.0.0.1', () => process.send('up')); process.on('message', () => process.exit(0)); }
else main().then(() => { console.log('ok'); process.exit(0); }, (e) => { console.error(e); process.exit(1); });
async function main() {
	const keep = setInterval(() => { }, 1000); // a handler of a signal alone keeps nobody awake
	cp.execSync('echo hi | tr a-z A-Z; ls / >/dev/null; date >/dev/null'); cp.spawnSync('cat', { input: 'x' }); cp.execFileSync(process.execPath, ['-e', '1']);
	await new Promise((r) => { const c = cp.spawn('sleep', ['100'], { detached: true, stdio: 'ignore' }); c.on('exit', r); c.kill(); });
	await new Promise((r) => { const c = cp.spawn('cat'); c.stdout.on('data', () => c.stdin.end()); c.on('close', r); c.stdin.write('x'); });
	await new Promise((r, j) => cp.exec('exit 3', (e) => e.code === 3 ? r() : j(e)));
	await new Promise((r) => { const w = new wt.Worker(__filename); w.on('message', () => { }); w.on('exit', r); });
	await new Promise((r) => { const w = cluster.fork(); w.on('message', () => w.send('end')); w.on('exit', r); });
	await new Promise((r) => { process.once('SIGUSR2', r); process.kill(process.pid, 'SIGUSR2'); });
	await new Promise((r) => setTimeout(r, 5)); await new Promise(setImmediate); await new Promise((r) => { const i = setInterval(() => { clearInterval(i); r(); }, 1); });
	os.cpus(); os.totalmem(); os.freemem(); os.loadavg(); os.uptime(); os.userInfo(); os.getPriority(); os.setPriority(os.getPriority()); os.release();
	process.memoryUsage(); process.resourceUsage(); process.hrtime.bigint(); process.cpuUsage(); process.umask(); process.cwd(); process.chdir('/tmp'); process.getgroups(); process.title = 'x'; process.uptime();
	v8.getHeapStatistics(); performance.now(); global.gc && global.gc();
	const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); f(24); const a = []; for (let i = 0; i < 2e5; i++) a.push({ i }); a.sort((x, y) => y.i - x.i);
	await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); new Intl.DateTimeFormat('de').format(new Date()); new Intl.NumberFormat('en').format(1e6);
	require('vm').runInNewContext('1+1'); await import('node:url'); require('readline').createInterface({ input: fs.createReadStream('/etc/passwd') }).close();
	structuredClone && structuredClone({ a: 1 }); await new Promise((r) => new BroadcastChannel('x').close() || r()); clearInterval(keep);
}
