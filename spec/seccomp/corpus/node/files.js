// Files, in the three ways that node has: synchronously, by callbacks, by promises; streams and watchers.
const fs = require('fs'), os = require('os'), path = require('path'), zlib = require('zlib'), crypto = require('crypto');
const d = fs.mkdtempSync(path.join(os.tmpdir(), 'x'));
const p = (n) => path.join(d, n);
fs.writeFileSync(p('a'), 'hello\n'.repeat(1000), { mode: 0o640 });
fs.appendFileSync(p('a'), 'more');
fs.linkSync(p('a'), p('hard'));
fs.symlinkSync('a', p('soft'));
fs.readlinkSync(p('soft')); fs.realpathSync(p('soft')); fs.realpathSync.native(p('soft'));
fs.renameSync(p('hard'), p('b'));
fs.copyFileSync(p('a'), p('c'));
fs.cpSync(d, d + '.copy', { recursive: true });
fs.rmSync(d + '.copy', { recursive: true });
fs.chmodSync(p('c'), 0o600); fs.utimesSync(p('c'), 1, 2); fs.lutimesSync(p('soft'), 1, 2);
try { fs.chownSync(p('c'), process.getuid(), process.getgid()); fs.lchownSync(p('c'), process.getuid(), process.getgid()); } catch { }
fs.truncateSync(p('c'), 10); fs.accessSync(p('c')); fs.statfsSync && fs.statfsSync(d);
const fd = fs.openSync(p('c'), 'r+');
fs.ftruncateSync(fd, 20); fs.fsyncSync(fd); fs.fdatasyncSync(fd); fs.fchmodSync(fd, 0o644); fs.futimesSync(fd, 1, 2);
fs.fstatSync(fd); fs.readSync(fd, Buffer.alloc(10), 0, 10, 0); fs.writeSync(fd, 'x', 0); fs.writevSync(fd, [Buffer.from('a'), Buffer.from('b')]);
fs.readvSync(fd, [Buffer.alloc(2)]);
try { fs.fchownSync(fd, process.getuid(), process.getgid()); } catch { }
fs.closeSync(fd);
fs.mkdirSync(p('x/y/z'), { recursive: true }); fs.rmdirSync(p('x/y/z')); fs.readdirSync(d, { withFileTypes: true }); fs.opendirSync(d).closeSync();
const w = fs.watch(d, () => { }); const wf = fs.watchFile(p('a'), () => { });
const main = async () => {
	await fs.promises.writeFile(p('q'), 'x'); await fs.promises.readFile(p('q'), 'utf8'); await fs.promises.rm(p('q'));
	const h = await fs.promises.open(p('h'), 'w+'); await h.write('x'); await h.sync(); await h.datasync(); await h.stat(); await h.close();
	await new Promise((r) => fs.createReadStream(p('a')).pipe(zlib.createGzip()).pipe(fs.createWriteStream(p('a.gz'))).on('finish', r));
	for await (const e of await fs.promises.opendir(d)) e.isFile();
	zlib.brotliCompressSync(Buffer.from('x'.repeat(1000)));
	crypto.randomBytes(16); crypto.scryptSync('a', 'b', 16); await new Promise((r) => crypto.pbkdf2('a', 'b', 1000, 16, 'sha256', r));
	fs.writeFileSync(p('a'), 'again');
	await new Promise((r) => setTimeout(r, 20));
	w.close(); fs.unwatchFile(p('a'));
	fs.rmSync(d, { recursive: true });
	console.log('ok');
};
main();
