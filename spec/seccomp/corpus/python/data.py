# Data: sqlite with its journal modes, numbers, texts, big memory, compilation, imports, archives of code.
import array, ast, collections, compileall, csv, ctypes, dbm, decimal, gc, hashlib, json, os, pickle, re, shelve, sqlite3, statistics, sys, tempfile, tracemalloc, unittest, zipapp, zlib, mmap

d = tempfile.mkdtemp()
for mode in ("delete", "wal", "truncate", "memory"):
    with sqlite3.connect(d + "/db") as db:
        db.execute("pragma journal_mode=" + mode)
        db.execute("create table if not exists t (a, b)")
        db.executemany("insert into t values (?, ?)", ((i, "x" * 100) for i in range(2000)))
        db.execute("create index if not exists i on t (a)")
        db.commit()
        assert db.execute("select count(*) from t where a > 10").fetchone()[0]
        db.execute("vacuum") if db.commit() is None else 0
    db.close()
with shelve.open(d + "/shelf") as s:
    s["a"] = [1, 2]
x = bytearray(64 << 20)
del x
m = mmap.mmap(-1, 1 << 20)
m.madvise(mmap.MADV_DONTNEED)
m.close()
big = [list(range(1000)) for _ in range(2000)]
big.sort(key=len)
gc.collect()
tracemalloc.start()
open(d + "/mod.py", "w").write("x = 1\n")
sys.path.insert(0, d)
import mod

compileall.compile_dir(d, quiet=1)
pickle.loads(pickle.dumps(big[:5]))
hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1000), hashlib.scrypt(b"a", salt=b"b", n=2, r=8, p=1)
ctypes.CDLL(None).getpid()
csv.writer(open(d + "/c.csv", "w", newline="")).writerows([[1, 2]])
with open(d + "/c.csv", encoding="utf-8") as f:
    list(csv.reader(f))
json.dump({"a": 1}, open(d + "/j", "w"))


class T(unittest.TestCase):
    def test(self):
        self.assertTrue(re.match("a+", "aaa"))


unittest.main(argv=["x"], exit=False)
import venv, importlib.metadata, importlib.resources, zipimport
list(importlib.metadata.distributions())
try:
    import numpy as np
    a = np.random.rand(300, 300)
    np.linalg.svd(a), np.save(d + "/n.npy", a), np.load(d + "/n.npy", mmap_mode="r")
except ImportError:
    pass
print("ok")
