# Files with coreutils and their neighbours.
set -u
cd "$(mktemp -d)" || exit 1
seq 1000 >a
cp a b
cp -a a c
mv b d
ln a hard
ln -s a soft
mkdir -p x/y/z
touch -d 2001-01-01 a
chmod 600 a
chmod u+x,g-w a
install -m 644 a x/a
rm -f hard
rmdir x/y/z
cp -r x xx
rm -rf xx
mkfifo fifo
(echo in >fifo &)
cat fifo
truncate -s 10 c
dd if=a of=e bs=100 count=3 conv=fsync 2>/dev/null
readlink -f soft >/dev/null
realpath soft >/dev/null
stat a >/dev/null
stat -f . >/dev/null
ls -laR >/dev/null
du -s . >/dev/null
df . >/dev/null
find . -type f -newer c -exec wc -l {} + >/dev/null
find . -name '*' -delete -maxdepth 0 2>/dev/null
sort -r a | uniq -c | head -3 | tail -1 | cut -c1-3 | tr -d ' '
paste a a | awk '{ s += $1 } END { print s }'
sed -i s/1/2/ a
grep -c 2 a
sha256sum a >/dev/null
md5sum a >/dev/null
base64 a | base64 -d | cmp - a
od -c c | head -1 >/dev/null
split -l 100 a part
comm a a >/dev/null
join a a >/dev/null
tac a | nl | tail -1 >/dev/null
expand a | fold -w 3 | head -1 >/dev/null
shuf -n 1 a >/dev/null
tee f <a >/dev/null
diff a c >/dev/null
printf 'x\0y\0' | xargs -0 -n 1 echo >/dev/null
tar cf t.tar a c
tar xf t.tar -C x
gzip -k a
gunzip -c a.gz >/dev/null
sync f 2>/dev/null
chgrp "$(id -g)" a 2>/dev/null
chown "$(id -u)" a 2>/dev/null
flock f true 2>/dev/null
mktemp -u >/dev/null
basename a/b >/dev/null
csplit -s a 10
link a a2
unlink a2
sort -S 1M --parallel=2 a >/dev/null
ls /proc/self/fd >/dev/null
cat </dev/null
shred -u f 2>/dev/null
test -r a && test -w a && test -x / && echo ok
