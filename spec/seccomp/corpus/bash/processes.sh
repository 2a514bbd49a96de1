# Jobs, traps, pipes, here documents, arithmetic, what is substituted; what shells ask of the machine.
set -u
trap 'echo usr1' USR1
kill -USR1 $$
trap 'echo end' EXIT
sleep 100 & kill $!
wait $! 2>/dev/null
(exit 3)
echo $?
set -m
sleep 0.1 & fg >/dev/null 2>&1
set +m
sleep 0.1 & disown
jobs >/dev/null
sleep 5 & kill -STOP $!
kill -CONT $!
kill -9 $!
wait $! 2>/dev/null
timeout 0.1 sleep 5
nice -n 1 true
nohup true 2>/dev/null >/dev/null
setsid true
env -i true
stdbuf -o0 echo x >/dev/null
xargs -P 2 -n 1 echo <<<'a b' >/dev/null
read -r x <<<"text"
read -r -t 0.1 y </dev/null
mapfile -t lines < <(seq 3)
echo "${#lines[@]} $((2 ** 10)) ${x^^} $(echo nested $(echo twice))"
exec 5<>/dev/null
exec 5>&-
coproc cat
echo hi >&"${COPROC[1]}"
read -r z <&"${COPROC[0]}"
eval "exec ${COPROC[1]}>&-"
umask 022
ulimit -n >/dev/null
ulimit -S -c 0
cd /
pwd
type ls >/dev/null
hash -r
times >/dev/null
printf '%(%F)T\n' -1 >/dev/null
date >/dev/null
id >/dev/null
hostname >/dev/null 2>&1
uname -a >/dev/null
nproc >/dev/null
uptime >/dev/null 2>&1
whoami >/dev/null
tty >/dev/null
stty -a >/dev/null 2>&1
who >/dev/null 2>&1
ps >/dev/null 2>&1
free >/dev/null 2>&1
getconf PAGESIZE >/dev/null
locale >/dev/null
sleep 0.01
yes | head -1000 >/dev/null
seq 100000 | wc -l
: >/dev/tcp/127.0.0.1/9 2>/dev/null
taskset -p $$ >/dev/null 2>&1
ionice -c 3 true 2>/dev/null
chrt -p $$ >/dev/null 2>&1
renice -n 1 $$ >/dev/null 2>&1
mesg >/dev/null 2>&1
logger x 2>/dev/null
sh -c 'echo dash'
perl -e 'open(F, "<", "/etc/passwd")
my @l = <F>
system("true")
print "perl\n"' 2>/dev/null
awk 'BEGIN { "date" | getline d
system("true") }'
tail -n 1 -f /etc/passwd & p=$!
sleep 0.2
kill $p
wait $p 2>/dev/null
echo ok
