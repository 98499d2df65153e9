# What a guest on a server may touch, and what it removes: its own names only, the keys that people named, names behind a prefix.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
needs command -v psql >/dev/null && command -v mariadb >/dev/null && command -v redis-cli >/dev/null && command -v etcdctl >/dev/null | the servers' own clients
define ETCDCTL_API 3
tool psql psql -XAtq "$URL"
tool my mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root
tool redis redis-cli --raw -p $PORT
tool etcd etcdctl --endpoints=127.0.0.1:$PORT
# run, clean: what lockbench says on standard error or output, and its exit code
tool run run() { rm -rf $DIR/run; "$LOCKBENCH_PROGRAM" run "$@" --no-page --out $DIR/run 2>&1 >/dev/null; echo $?; }; run
tool clean clean() { "$LOCKBENCH_PROGRAM" clean "$@"; echo $?; }; clean
with pg-advisory

== a sequence of other people is not used, and not removed
psql -c 'create sequence lockbench_fence' ->
run smoke --lock pg-row --url postgres="$URL" -> /SEQUENCE lockbench_fence that lockbench did not make.* [1-9]$/
psql -c 'select last_value, is_called from lockbench_fence' -> 1|f
clean --url postgres="$URL" -> / 0$/
psql -c "select relname from pg_class where relname like 'lockbench%'" -> lockbench_fence
psql -c 'drop sequence lockbench_fence' ->

== keys that people named are removed by their names
with redis-setnx
redis mset orders/7 1 '{orders/7}:guarded' 2 orders/77 3 -> OK
clean --url redis="$URL" --key orders/7 --dry-run | wc -l -> 3
clean --url redis="$URL" --key orders/7 | wc -l -> 3
redis --scan -> orders/77
redis del orders/77 -> 1

== nodes of etcd that people named are removed by their names
with etcd-mutex
etcd put orders/7/12ab 1 -> OK
etcd put orders/7 1 -> OK
etcd put orders/77 1 -> OK
clean --url etcd="$URL" --key orders/7 --dry-run | wc -l -> 3
clean --url etcd="$URL" --key orders/7 | wc -l -> 3
etcd get --prefix --keys-only '' | grep . -> orders/77

== rows that people named are removed by their names
psql -c 'create table lockbench_version (name text)' -c "insert into lockbench_version values ('orders/7'), ('orders/77')" -c "comment on table lockbench_version is 'made by lockbench'" ->
clean --url postgres="$URL" --key orders/7 --dry-run | wc -l -> 2
clean --url postgres="$URL" --key orders/7 | wc -l -> 2
psql -c 'select name from lockbench_version' -> orders/77
psql -c 'drop table lockbench_version' ->

# The server's encoding is the connection's, and the bytes of a name are two letters there.
== a name in another encoding is removed
sh echo "$URL" | sed 's,//lockbench:,//postgres:,' => ADMIN
sh psql -XAtq "$ADMIN" -c "create database latin template template0 encoding 'LATIN1' locale 'C' owner lockbench" ->
sh echo "${URL%/*}/latin" => LATIN
sh psql -XAtq "$LATIN" -c 'create table lockbench_version (name text)' -c "insert into lockbench_version values ('zü')" -c "comment on table lockbench_version is 'made by lockbench'" ->
clean --url postgres="$LATIN" --key zü | wc -l -> 2
sh psql -XAtq "$LATIN" -c 'select count(*) from lockbench_version' -> 0
sh psql -XAtq "$ADMIN" -c 'drop database latin' ->

# Without the prefix the server refuses each key.
== a tenant uses names with its prefix
with redis-setnx
redis acl setuser tenant on '>pass' '~team1:*' '+@all' -> OK
run smoke --lock redis-setnx --url redis=redis://tenant:pass@127.0.0.1:$PORT -> / [1-9]$/
run smoke --lock redis-setnx --url redis=redis://tenant:pass@127.0.0.1:$PORT --set load.key_prefix=team1: >$DIR/said; tail -n 1 $DIR/said -> 0
sh grep -c 'team1:lockbench-XXXXXXXX-N' $DIR/said; grep -c 'left on ' $DIR/said -> 1 0
run smoke --lock redis-fair --url redis=redis://tenant:pass@127.0.0.1:$PORT --set load.key_prefix=team1: -> /redis-fair: load.key_prefix = team1: can't be kept.* 1$/
redis acl deluser tenant -> 1

# etcd lists keys by their beginning, so clean is told it.
== keys behind a prefix are found on etcd
with etcd-mutex
etcd put team1/lockbench-01234567-0 1 -> OK
clean --url etcd="$URL" --key-prefix team1/ -> /key team1/lockbench-01234567-0: removed.* 0$/

# More keys than could be prepared one by one in the time that clients have to connect.
== many keys are made ready and removed
with pg-advisory LOCKS=pg-row BACKEND=postgres WORKLOAD=smoke KEYS=200000
with mysql-getlock LOCKS=mysql-optimistic BACKEND=mariadb WORKLOAD=smoke KEYS=200000
with redis-setnx LOCKS=redis-semaphore BACKEND=redis WORKLOAD=semaphore KEYS=50000
define left_postgres psql -XAtq "$URL" -c "select count(*) from pg_class where relname like 'lockbench%'"
define left_mariadb mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root -e 'show databases' | grep -c lockbench
define left_redis redis-cli -p $PORT --raw dbsize
run $WORKLOAD --lock $LOCKS --url $BACKEND="$URL" --set load.keys=$KEYS --set load.clients=2 --set run.duration=200ms >$DIR/said; tail -n 1 $DIR/said; grep -c ' left ' $DIR/said -> 0 0
sh eval eval "\"\$left_$BACKEND\"" -> 0

== a guest asks for its own names only
with redis-setnx on redis
redis config resetstat -> OK
run smoke --lock redis-fair --url redis="$URL" -> / 0$/
redis info commandstats | grep -c cmdstat_scan -> 0

# Its tables would be gone, and all that it then measures wrong.
== a run that goes on is not cleaned away
sh "$LOCKBENCH_PROGRAM" run smoke --lock pg-lease --url postgres="$URL" --set load.clients=2 --set run.duration=10m --no-page --out $DIR/on >/dev/null 2>&1 & echo $! => PID
soon sh grep -vc '^[#"]' $DIR/on/000-pg-lease-c2-r0.hlog 2>/dev/null -> > 0
clean --url postgres="$URL" 2>&1 -> /postgres: sessions of lockbench that work on this server: .* 2$/
sh kill $PID ->
soon sh kill -0 $PID 2>/dev/null; echo $? -> 1
clean --url postgres="$URL" -> / 0$/

== a server must be named
clean 2>&1 -> /which server[?].* 1$/
