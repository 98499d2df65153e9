# Keys that the user names: others meet our locks under the names that `lockbench list LOCK --key` tells, and a run locks these keys
# and no others.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
needs command -v redis-cli >/dev/null | redis-tools
key KEY orders/7
tool redis redis-cli --raw -p $PORT
# run LOCK WORDS: the exit code.
tool run run() { lock=$1; shift; rm -rf $DIR/run; "$LOCKBENCH_PROGRAM" run smoke --lock $lock "$@" --no-page --out $DIR/run >/dev/null 2>&1; echo $?; }; run
before rm -rf $DIR/*
with redis-setnx

== others meet the lock while it is held
with redis-setnx LOCK=redis-setnx ASKS=SET HELD= FREE=OK
with redis-fenced LOCK=redis-fenced ASKS=TYPE HELD=hash FREE=none
with redis-fair LOCK=redis-fair ASKS=EXISTS HELD=1 FREE=0
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
define ask_PG_ROW psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c "select count(*) from (select 1 from lockbench_row where name='$KEY' for update skip locked) as l"
define ask_ETCD_QUEUE ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only $KEY/ | grep -c '^$KEY/[0-9a-f]'
# The transaction by which npm's etcd3 takes a lock.
define ask_NPM_ETCD3 export ETCDCTL_API=3; etcdctl --endpoints=127.0.0.1:$PORT txn <$DIR/txn | head -n 1; [ "$(etcdctl --endpoints=127.0.0.1:$PORT get --print-value-only $KEY)" = theirs ] && etcdctl --endpoints=127.0.0.1:$PORT del $KEY >/dev/null; :
define ask_MEMCACHED bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'set login 0 0 42\r\nlockbench $SECRET\r\nget $KEY\r\n' >&3; timeout 10 sed -E '/END/q' <&3" | grep -c VALUE
sh printf 'create("%s") = "0"\n\nput %s theirs\n\n\n' $KEY $KEY >$DIR/txn ->
sh eval printf %s "\"\$ask_$ASKS\"" => ASK
ours has key=KEY
sh eval "$ASK" -> $FREE
ours holds sh eval "$ASK" -> $HELD
sh eval "$ASK" -> $FREE

# A host of the URL that takes the connection and says nothing: the next one is tried after its share of the time.
== a silent first host
with pg-advisory
program silent /usr/bin/python3 -uc "import socket,sys; s=socket.create_server(('127.0.0.1',0)); print('ready'); print(s.getsockname()[1]); sys.stdin.read()"
silent says => SILENT
run pg-advisory -c 1 -d 50ms --url "${URL%@*}@127.0.0.1:$SILENT,${URL##*@}?connect_timeout=1" -> 0

# The first try after a rest goes over another connection.
== a server that closes idle connections
with redis-setnx BACKEND=redis LOCK=redis-setnx
with pg-lease BACKEND=postgres LOCK=pg-lease
define limit_redis redis-cli -p $PORT config set timeout 1
define rest_redis redis-cli -p $PORT config set timeout 0
define limit_postgres psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c 'alter system set idle_session_timeout = 1000' -c 'select pg_reload_conf()'
define rest_postgres psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c 'alter system reset idle_session_timeout' -c 'select pg_reload_conf()'
sh eval eval "\"\$limit_$BACKEND\"" -> /OK|t/
run $LOCK --url $BACKEND="$URL" -c 2 -d 8s --set load.think=3s -> 0
sh grep -oE '"(unknown|broken)": [0-9]+' $DIR/run/run.json | sort -u -> "broken": 0 "unknown": 0
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
run exec-session -c 1 -d 5s --url "$URL" --set 'exec-session.program=/usr/bin/python3 drivers/exec/examples/kazoo_lock.py' -> 0
run exec-session -c 1 -d 5s --url "$URL" --set 'exec-session.program=java @.build/exec/curator' -> 0

== a run locks exactly the keys that are named
redis set $KEY by-hand -> OK
run redis-setnx --url redis="$URL" --key $KEY -c 1 --set acquire.mode=try --set load.think=1ms -> 2
redis get $KEY -> by-hand
redis del $KEY -> 1
run redis-setnx --url redis="$URL" --key $KEY -> 0
redis exists $KEY -> 0

# `list` prints the number that the lock uses.
== a run holds the number of a name
with pg-advisory
define ASK psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c "select pg_try_advisory_lock($("$LOCKBENCH_PROGRAM" list pg-advisory --key orders/7 | grep -oE '[0-9]{9,}' | head -n 1))"
sh eval "$ASK" -> t
sh "$LOCKBENCH_PROGRAM" run smoke pg-advisory -c 1 -d 10m --hold 10m --key orders/7 --url postgres="$URL" --no-page --out $DIR/run >/dev/null 2>&1 & echo $! => PID
soon sh eval "$ASK" -> f
sh kill $PID ->
soon sh eval "$ASK" -> t
