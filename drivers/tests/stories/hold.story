# `lockbench hold` and `run --key` on real servers, beside clients that are not ours: while the command runs they meet the lock
# under the name that `lockbench list LOCK --key` tells, and after its end the lock is free.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
needs command -v redis-cli >/dev/null | redis-tools
define KEY orders/7
tool redis redis-cli --raw -p $PORT
# hold LOCK WORDS: what it and its command print, and the exit code. later: the same beside the story; ended: its exit code.
tool hold hold() { lock=$1; shift; "$LOCKBENCH_PROGRAM" hold $lock $KEY --url "$URL" "$@"; echo $?; }; hold
tool later later() { lock=$1; shift; rm -f $DIR/code; ("$LOCKBENCH_PROGRAM" hold $lock $KEY --url "$URL" "$@" >$DIR/out 2>$DIR/err; echo $? >$DIR/code.new; mv $DIR/code.new $DIR/code) >/dev/null & echo $! >$DIR/shell; }; later
tool end_by end_by() { kill -$1 $(ps -o pid= --ppid $(cat $DIR/shell)); }; end_by
tool ended cat $DIR/code
before rm -rf $DIR/*
with redis-setnx

== others meet the lock while the command runs
with redis-setnx LOCK=redis-setnx ASKS=SET HELD= FREE=OK
with redis-fenced LOCK=redis-fenced ASKS=TYPE HELD=hash FREE=none
with redis-fair LOCK=redis-fair ASKS=EXISTS HELD=1 FREE=0
with pg-advisory LOCK=pg-advisory ASKS=PG_ADVISORY HELD=f FREE=t
with pg-advisory-xact LOCK=pg-advisory-xact ASKS=PG_ADVISORY HELD=f FREE=t
with pg-row LOCK=pg-row ASKS=PG_ROW HELD=0 FREE=1
with etcd-mutex LOCK=etcd-mutex ASKS=ETCD_QUEUE HELD=1 FREE=0
with etcd-lock LOCK=etcd-lock ASKS=ETCD_QUEUE HELD=1 FREE=0
with etcd-key LOCK=etcd-key ASKS=NPM_ETCD3 HELD=FAILURE FREE=SUCCESS
# npm's etcd3 takes its lock while ours is held: .incompatible of the lock says so.
with etcd-mutex LOCK=etcd-mutex ASKS=NPM_ETCD3 HELD=SUCCESS FREE=SUCCESS
with memcached-add LOCK=memcached-add ASKS=MEMCACHED HELD=1 FREE=0
# Each prints a line, then lets go of what it may have taken.
define ask_SET redis-cli --raw -p $PORT set $KEY by-hand NX; [ "$(redis-cli --raw -p $PORT get $KEY 2>&1)" = by-hand ] && redis-cli -p $PORT del $KEY >/dev/null; :
define ask_TYPE redis-cli --raw -p $PORT type $KEY
define ask_EXISTS redis-cli --raw -p $PORT exists $KEY
# `list` prints the number that the lock uses.
define ask_PG_ADVISORY psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c "select pg_try_advisory_lock($("$LOCKBENCH_PROGRAM" list pg-advisory --key $KEY | grep -oE '[0-9]{9,}' | head -n 1))"
# The row stays, since others may wait for it; so it is there from the first hold on.
define ask_PG_ROW psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c "select count(*) from (select 1 from lockbench_row where name='$KEY' for update skip locked) as l"
define ask_ETCD_QUEUE ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only $KEY/ | grep -c '^$KEY/[0-9a-f]'
# The transaction by which npm's etcd3 takes a lock.
define ask_NPM_ETCD3 export ETCDCTL_API=3; etcdctl --endpoints=127.0.0.1:$PORT txn <$DIR/txn | head -n 1; [ "$(etcdctl --endpoints=127.0.0.1:$PORT get --print-value-only $KEY)" = theirs ] && etcdctl --endpoints=127.0.0.1:$PORT del $KEY >/dev/null; :
define ask_MEMCACHED bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'set login 0 0 42\r\nlockbench $SECRET\r\nget $KEY\r\n' >&3; timeout 10 sed -E '/END/q' <&3" | grep -c VALUE
sh printf 'create("%s") = "0"\n\nput %s theirs\n\n\n' $KEY $KEY >$DIR/txn ->
sh eval printf %s "\"\$ask_$ASKS\"" => ASK
hold $LOCK -- true -> 0
sh eval "$ASK" -> $FREE
hold $LOCK -- sh -c "$ASK" | head -n 1 -> $HELD
sh eval "$ASK" -> $FREE

# A host of the URL that takes the connection and says nothing: the next one is tried after its share of the time.
== a silent first host
with pg-advisory
program silent /usr/bin/python3 -uc "import socket,sys; s=socket.create_server(('127.0.0.1',0)); print('ready'); print(s.getsockname()[1]); sys.stdin.read()"
silent says => SILENT
sh URL="${URL%@*}@127.0.0.1:$SILENT,${URL##*@}?connect_timeout=1"; "$LOCKBENCH_PROGRAM" hold pg-advisory $KEY --url "$URL" -- true; echo $? -> 0

# It keeps no lock of a connection that it closed, and a lease outlives it: it is renewed and released over another one, also at
# the first try after a rest.
== a server that closes idle connections
with redis-setnx BACKEND=redis LOCK=redis-setnx
with pg-lease BACKEND=postgres LOCK=pg-lease
define limit_redis redis-cli -p $PORT config set timeout 1
define rest_redis redis-cli -p $PORT config set timeout 0
define limit_postgres psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c 'alter system set idle_session_timeout = 1000' -c 'select pg_reload_conf()'
define rest_postgres psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c 'alter system reset idle_session_timeout' -c 'select pg_reload_conf()'
sh eval eval "\"\$limit_$BACKEND\"" -> /OK|t/
hold $LOCK --lease 9s -- sleep 5 2>$DIR/err -> 0
sh grep -c lost $DIR/err -> 0
sh "$LOCKBENCH_PROGRAM" run smoke --lock $LOCK --url $BACKEND="$URL" --no-page --set load.think=3s --set load.clients=2 --set run.duration=8s --out $DIR/rest >/dev/null 2>&1; echo $? -> 0
sh grep -oE '"(unknown|broken)": [0-9]+' $DIR/rest/run.json | sort -u -> "broken": 0 "unknown": 0
sh eval eval "\"\$rest_$BACKEND\"" -> /OK|t/

# The programs of drivers/exec/examples log in with the account of a URL, whose user and password may be escaped there. Only this
# account may make nodes below the lock's root.
== examples log in with an escaped account
needs /usr/bin/python3 -c 'import kazoo' | python3-kazoo
needs test -r /usr/share/java/curator-recipes.jar && command -v javac >/dev/null | libcurator-recipes-java and default-jdk
with zk-lock
sh /usr/bin/python3 -c "from kazoo.client import KazooClient; from kazoo.security import make_digest_acl; zk = KazooClient('127.0.0.1:$PORT'); zk.start(); print(zk.create('/lockbench-exec', b'', acl=[make_digest_acl('us@er', 'p@ss+', all=True)])); zk.stop()" -> /lockbench-exec
sh drivers/exec/examples/compile_curator.sh && echo compiled -> compiled
define URL exec=zookeeper://us%40er:p%40ss+@127.0.0.1:$PORT
sh "$LOCKBENCH_PROGRAM" hold exec-session key1 --url "$URL" --set 'exec-session.program=/usr/bin/python3 drivers/exec/examples/kazoo_lock.py' -- true; echo $? -> 0
sh "$LOCKBENCH_PROGRAM" hold exec-session key2 --url "$URL" --set 'exec-session.program=java @.build/exec/curator' -- true; echo $? -> 0

== the command sees the key, and its exit code is passed on
hold redis-setnx --lease 7s -- sh -c 'echo $LOCKBENCH_LOCK $LOCKBENCH_KEY $LOCKBENCH_LEASE_MS ${LOCKBENCH_TOKEN-none} $0; exit 77' --help 2>&1 -> redis-setnx $KEY 7000 none --help 77
redis exists $KEY -> 0

== the token grows
with redis-fenced
hold redis-fenced -- sh -c 'echo $LOCKBENCH_TOKEN' | head -n 1 => TOKEN
hold redis-fenced -- sh -c 'echo $LOCKBENCH_TOKEN' | head -n 1 -> > $TOKEN

# ls has 0, 1, 2 and the folder that it reads.
== the command inherits no connection and no ignored SIGPIPE
hold redis-setnx -- sh -c 'ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status' -> /^4 SigIgn:.[0-9a-f]{12}[02468ace][0-9a-f]{3} 0$/

# SIGTERM ends the wait.
== a lock that another holds is not granted in time
redis set $KEY by-hand -> OK
hold redis-setnx --wait 0 -- touch $DIR/made 2>&1 -> /^lockbench: [^ ].*not granted in time.* 124$/
hold redis-setnx --wait 50ms -- touch $DIR/made 2>/dev/null -> 124
later redis-setnx -- touch $DIR/made ->
sleep 300ms
end_by TERM ->
soon ended -> /130|143/
sh ls $DIR | grep -c made -> 0
redis get $KEY -> by-hand
redis del $KEY -> 1

# Three leases long; the key is the same one all the time.
== a lease is renewed while the command runs
hold redis-setnx --lease 2s -- sh -c 'a=$(redis-cli --raw -p $PORT get $KEY); sleep 6; b=$(redis-cli --raw -p $PORT get $KEY); [ -n "$a" ] && [ "$a" = "$b" ]' -> 0

# Also a loss that is noticed only at the release, because the command is too fast.
== a lost lock ends the command
later redis-setnx --lease 3s -- sh -c 'trap "touch $DIR/told; exit 5" TERM; while :; do sleep 0.05; done' ->
soon redis exists $KEY -> 1
redis del $KEY -> 1
soon ended -> 123
sh grep -c '' $DIR/err; cat $DIR/err -> /^[12] lockbench: .*the lock is lost: the server had it no more as ours/
sh ls $DIR | grep -c told -> 1
hold redis-setnx -- sh -c 'redis-cli -p $PORT del $KEY >/dev/null' 2>&1 -> /lost before the command ended.* 123$/

# Our connection ends, and the server keeps the key. The next renewals go over another one, and the command ends after the lease
# of the first.
== a lost connection leaves no key
define CUT redis-cli -p $PORT client kill type normal skipme yes >/dev/null
hold redis-setnx --lease 6s -- sh -c "$CUT; sleep 7" -> 0
redis exists $KEY -> 0
hold redis-setnx --lease 60s -- sh -c "$CUT" -> 0
redis exists $KEY -> 0

== signals are handed on, and the lock is released
later redis-setnx -- sh -c 'trap "echo told; exit 9" TERM; touch $DIR/ready; while :; do sleep 0.05; done' ->
soon sh ls $DIR | grep ready -> ready
end_by TERM ->
soon ended -> 9
sh cat $DIR/out -> told
redis exists $KEY -> 0
# A command that the signal ends.
sh rm $DIR/ready ->
later redis-setnx -- sh -c 'touch $DIR/ready; exec sleep 100' ->
soon sh ls $DIR | grep ready -> ready
end_by TERM ->
soon ended -> 143
redis exists $KEY -> 0

# SIGTERM reaches the shell's child, too. A child that outlives its shell works on under the lock. What does not end by SIGTERM is
# killed.
== the lock is kept until all of the command has ended
later redis-setnx -- sh -c 'sleep 100 & echo $!; touch $DIR/ready; sleep 100; :' ->
soon sh ls $DIR | grep ready -> ready
end_by TERM ->
soon ended -> 143
sh kill -0 $(cat $DIR/out) 2>/dev/null; echo $? -> 1
redis exists $KEY -> 0
hold redis-setnx -- sh -c '(sleep 1; redis-cli -p $PORT exists $KEY) & exit 6' -> 1 6
redis exists $KEY -> 0
sh rm $DIR/ready ->
later redis-setnx -- sh -c 'trap "" TERM; touch $DIR/ready; while :; do sleep 0.1; done' ->
soon sh ls $DIR | grep ready -> ready
end_by TERM ->
soon ended -> 137
sh cat $DIR/err -> /SIGKILL/
redis exists $KEY -> 0

== a command that cannot run is said so
hold redis-setnx -- /no/such/command 2>&1 -> /^lockbench: .*/no/such/command: No such file.* 127$/
hold redis-setnx -- / 2>/dev/null -> 126
redis exists $KEY -> 0

== a server that is not there is said so
sh "$LOCKBENCH_PROGRAM" hold redis-setnx $KEY --url redis://127.0.0.1:1 -- true 2>&1; echo $? -> /^lockbench: .*127.0.0.1:1.* 125$/

== a run locks exactly the keys that are named
define RUN "$LOCKBENCH_PROGRAM" run smoke --lock redis-setnx --url redis="$URL" --key $KEY --set acquire.mode=try --set load.think=1ms --out $DIR/run >/dev/null 2>&1; echo $?
redis set $KEY by-hand -> OK
sh eval "$RUN" -> 2
redis get $KEY -> by-hand
redis del $KEY -> 1
sh rm -r $DIR/run; eval "$RUN" -> 0
redis exists $KEY -> 0

# A lock that is held by its connection: nothing is renewed, but the holder still learns of the loss.
== a killed server ends the command
with pg-advisory on postgres
later pg-advisory -- sh -c 'touch $DIR/ready; exec sleep 100' ->
soon sh ls $DIR | grep ready -> ready
server kill 0
soon ended -> 123
sh cat $DIR/err -> /the lock is lost/
server restart 0

# The command reads the terminal, Ctrl-Z does not stop what no shell could go on with, and Ctrl-C reaches it.
== a terminal is the command's
with redis-setnx
sh timeout 60 drivers/tests/foreign/terminal.py "$LOCKBENCH_PROGRAM" hold redis-setnx $KEY --url "$URL" -- sh -c "echo rea''dy; while read x; do echo got.\$x; done" -> 130
hold redis-setnx --wait 0 -- true -> 0
