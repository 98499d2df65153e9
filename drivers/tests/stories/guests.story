# However a run at --url ends, after `lockbench clean` the server holds exactly what it held before, also other people's keys with
# similar names; a run that could tidy up itself needs no clean. Objects that keys share stay on NATS, and the run says so.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool guest drivers/tests/foreign/guest.sh

== the server holds what it held before
with redis-setnx on redis KIND=REDIS BACKEND=redis LOCKS=redis-setnx,redis-reentrant,redis-fair,redis-fenced,redis-rwlock,redis-incr
with redis-semaphore on redis KIND=REDIS BACKEND=redis LOCKS=redis-semaphore,redis-permit WORK=semaphore
with redis-wait on redis-replicas KIND=REDIS BACKEND=redis LOCKS=redis-wait,redis-setnx WORK=contended
with redis-setnx on redis-sentinel KIND=REDIS BACKEND=redis LOCKS=redis-setnx,redis-fair,redis-fenced
with redis-setnx on redis-cluster KIND=REDIS BACKEND=redis LOCKS=redis-setnx,redis-fair,redis-fenced
with redis-redlock on redis-independents KIND=REDIS BACKEND=redis LOCKS=redis-redlock
with etcd-mutex on etcd KIND=ETCD BACKEND=etcd LOCKS=etcd-mutex,etcd-lock,etcd-key
with pg-advisory on postgres KIND=PG BACKEND=postgres WORK=guarded-update LOCKS=pg-advisory,pg-advisory-xact,pg-row,pg-lease,pg-table,pg-optimistic,pg-update,pg-nowait,pg-flag
with mysql-getlock on mariadb KIND=MY BACKEND=mariadb WORK=contended LOCKS=mysql-getlock,mysql-row,mysql-lease,mysql-table,mysql-optimistic,mysql-update,mysql-nowait,mysql-flag
with zk-lock on zookeeper KIND=ZOO BACKEND=zookeeper LOCKS=zk-lock,zk-semaphore,zk-reentrant,zk-rwlock
with nats-kv on nats KIND=NATS BACKEND=nats LOCKS=nats-kv
# One client at a time: several on three servers of Debian's version are not kept apart.
with nats-kv on nats-3 KIND=NATS BACKEND=nats LOCKS=nats-kv WORK=uncontended
# Its keys can't be listed by lockbench, so all of them must expire by themselves.
with memcached-add on memcached KIND=MEMCACHED BACKEND=memcached LOCKS=memcached-add WORK=contended
with file-flock KIND=FILE BACKEND=file LOCKS=file-flock,file-ofd
sh [ $KIND = FILE ] && echo file://$DIR/guests || echo "$URL" => URL
guest keep
guest clean -> cleaned
soon sh [ $KIND = ZOO ] || drivers/tests/foreign/guest.sh list | grep -c mine -> /^([1-9]|$)/
guest list => BEFORE
sh echo "$BEFORE" -> /./
guest end 0 -> 0
sh grep -c 'will be made there' $DIR/err -> > 0
# With several servers, one of them may not know of the bucket yet.
sh [ "$KIND $PORTS" != "NATS $PORT" ] || grep -q 'left on ' $DIR/err; echo $? -> 0
soon guest after -> $BEFORE
guest end KILL -> /^[0-9]+$/
soon guest after -> $BEFORE
guest end INT -> /^(130|0)$/
soon guest after -> $BEFORE
