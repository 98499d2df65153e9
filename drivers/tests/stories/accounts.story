# Servers of the user's own whose account has few rights: what the locks do not need may be refused, and what they need is named.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
needs command -v redis-server && command -v mariadbd && command -v etcd && command -v etcdctl | redis-server, mariadb-server, etcd-server and etcd-client
program redis drivers/tests/foreign/own_server.sh redis $DIR/redis
program replica env primary=$PRIMARY drivers/tests/foreign/own_server.sh redis $DIR/replica
program postgres drivers/tests/foreign/own_server.sh postgres $DIR/postgres
program mariadb drivers/tests/foreign/own_server.sh mariadb $DIR/mariadb
program etcd drivers/tests/foreign/own_server.sh etcd $DIR/etcd
program nats drivers/tests/foreign/own_server.sh nats $DIR/nats
# run LOCKS URL [SET]: the exit code; said: what it said. doctor LOCK URL: what it says, its exit code, and the lines of keys left.
tool run run() { rm -rf $DIR/out; "$LOCKBENCH_PROGRAM" run smoke --lock "$1" --url "$2" --no-page --set load.clients=2 --set run.warmup=0 --set run.duration=50ms --set "${3:-load.keys=1}" --out $DIR/out >/dev/null 2>$DIR/err; echo $?; }; run
tool said cat $DIR/err
tool clean clean() { "$LOCKBENCH_PROGRAM" clean --url "$1" >/dev/null 2>&1; echo $?; }; clean
tool doctor doctor() { "$LOCKBENCH_PROGRAM" doctor "$1" --json --url "$2" 2>&1; echo $?; "$LOCKBENCH_PROGRAM" clean --dry-run --url "$2" 2>/dev/null | grep -c lockbench-; }; doctor
define ACCOUNT me:Secret1Word@127.0.0.1
# What bench/OWN-SERVERS.md says that an account needs.
define RIGHTS +@read +@write +@scripting +@pubsub +@connection -@dangerous
with mem-mutex

== an account of Redis without INFO
redis start ~* &* +@all -@dangerous => P
define U redis=redis://$ACCOUNT:$P
run redis-setnx $U -> 0
sh /usr/bin/python3 -c "import json; s = json.load(open('$DIR/out/run.json'))['servers'][0]; print(s['facts']['version'], s['durability'])" -> /^[0-9]+[.][^ ]* .*not told/
clean $U -> 0
doctor redis $U -> /"url redis".*redis:..me:[*][*][*]@127.0.0.1.*TLS: no/

== a wrong password is told by every command
redis start ~* &* +@all -@dangerous => P
define WRONG redis=redis://me:wrong@127.0.0.1:$P
sh "$LOCKBENCH_PROGRAM" doctor --url $WRONG --url memcached=memcached://127.0.0.1:1 >$DIR/said 2>&1; echo $?; grep -c -e WRONGPASS -e 'url memcached' $DIR/said; grep -c 'locks can run here' $DIR/said -> /^1 [2-9] 0$/
sh for command in "run smoke --lock redis-setnx" "check redis-setnx" "capacity redis-setnx"; do "$LOCKBENCH_PROGRAM" $command --url $WRONG --out $DIR/refused >/dev/null 2>$DIR/said; echo $?; grep -o WRONGPASS $DIR/said | head -n 1; rm -rf $DIR/refused; done -> 1 WRONGPASS 1 WRONGPASS 1 WRONGPASS
sh "$LOCKBENCH_PROGRAM" clean --url $WRONG >$DIR/said 2>&1; echo $?; grep -c WRONGPASS $DIR/said -> 1 1

# Redisson counts the replicas by INFO before it waits for one of them.
== a primary without INFO and ROLE
redis start ~* &* +@all -@dangerous => PRIMARY
replica start ~* &* +@all -@dangerous => P
define U redis=redis+replicas://$ACCOUNT:$P,127.0.0.1:$PRIMARY
run redis-setnx $U -> 0
run redis-reentrant $U -> /./
sh grep -c -F -e "-@dangerous +info '&*'" $DIR/out/run.json -> > 0

== the rights that Redis needs
redis start ~lockbench-* ~{lockbench-* ~redisson*{lockbench-* &* $RIGHTS => P
define U redis=redis://$ACCOUNT:$P
run redis-setnx,redis-fenced,redis-reentrant,redis-fair,redis-rwlock,redis-permit $U -> 0
said | grep -c -e 'lockbench: ' -e 'left on' -> 0
clean $U -> 0

# Nothing was made, and nobody could ask whether it was.
== what is left is not known where Redis refuses the keys, and what to set is told
redis start ~ours:* &* +@all => P
define U redis=redis://$ACCOUNT:$P
run redis-setnx $U -> /[1-9]/
said | grep -c -e 'left on ' -e 'removes it' -> 0
said -> /could not ask [^ ]* whether keys are left there .redis: NOPERM.*[)]; to look: `lockbench clean --dry-run --url redis=env:LOCKBENCH_URL_REDIS`/
said -> /lockbench: no request of a measured window was granted: redis-setnx: redis: NOPERM.*with --set load.key_prefix=PREFIX, ~PREFIX[*], and/
run redis-setnx $U load.key_prefix=theirs- -> /[1-9]/
said -> /to look: `lockbench clean --dry-run --url redis=env:LOCKBENCH_URL_REDIS --key-prefix theirs-`/
run redis-setnx $U load.key_prefix=ours: -> 0

# Locks are granted, and no release is allowed: no figure is of a working lock.
== requests that mostly fail are no success
redis start ~* &* +@read +@connection +set => P
sh "$LOCKBENCH_PROGRAM" run contended redis-setnx -c 2 -d 1s --set acquire.lease=200ms --url redis=redis://$ACCOUNT:$P --no-page --out $DIR/mostly >/dev/null 2>$DIR/err; echo $? -> 2
said -> /requests failed: redis: NOPERM/

== the rights that PostgreSQL needs
postgres start grant usage, create on schema public to me => P
define U postgres=postgres://$ACCOUNT:$P/postgres
run pg-advisory,pg-advisory-xact,pg-row,pg-nowait,pg-table,pg-flag,pg-lease,pg-optimistic,pg-update $U -> 0
said | grep -c -e 'lockbench: ' -e 'left on' -> 0
clean $U -> 0
doctor postgres $U -> /taken and freed.* 0 0$/

== nothing is left where PostgreSQL refuses the table
postgres start revoke create on schema public from public => P
define U postgres=postgres://$ACCOUNT:$P/postgres
run pg-table $U -> /[1-9]/
said -> /permission denied for schema public.*GRANT USAGE, CREATE ON SCHEMA public/
said | grep -c -e 'could not ask ' -e 'left on ' -> 0
doctor pg-row $U -> /GRANT USAGE, CREATE ON SCHEMA public.* 2 0$/
doctor pg-advisory $U -> /taken and freed.* 0 0$/

== the rights that MariaDB needs
mariadb start grant create, drop, index, select, insert, update, delete on locks.* => P
define U mariadb=mysql://$ACCOUNT:$P/locks
run mysql-getlock,mysql-row,mysql-nowait,mysql-table,mysql-flag,mysql-lease,mysql-optimistic,mysql-update $U -> 0
said | grep -c -e 'lockbench: ' -e 'left on' -> 0
clean $U -> 0

# One message has all of them: whoever grants these needs no second try.
== doctor names the right that Redis refuses
define ALL +@read +@write +@scripting +@pubsub +@connection -@dangerous
redis start ~* &* +@read +@connection => P
doctor redis-setnx redis=redis://$ACCOUNT:$P -> /ACL SETUSER me [+]@read [+]@write [+]@scripting [+]@pubsub [+]@connection -@dangerous [+]set '&[*]' ~[*] .or.* 2 0$/
redis start +@read +@connection +@write => P
doctor redis-reentrant redis=redis://$ACCOUNT:$P -> /ACL SETUSER me [+]@read [+]@write [+]@scripting [+]@pubsub [+]@connection -@dangerous [+]evalsha '&[*]' ~[*].* 2 0$/
redis start ~* resetchannels +@all => P
doctor redis-reentrant redis=redis://$ACCOUNT:$P -> /ACL SETUSER me '&[*]' ~[*].* 2 0$/
redis start ~ours:* &* +@all => P
doctor redis-setnx redis=redis://$ACCOUNT:$P -> /ACL SETUSER me '&[*]' ~[*].* 2 0$/
redis start $ALL +set +evalsha &* ~* => P
doctor redis-setnx,redis-reentrant redis=redis://$ACCOUNT:$P -> /taken and freed.* 0 0$/
redis start ~lockbench-* ~{lockbench-* ~redisson*{lockbench-* &* $RIGHTS => P
doctor redis redis=redis://$ACCOUNT:$P -> /taken and freed.* 0 0$/
sh "$LOCKBENCH_PROGRAM" doctor redis-setnx 2>&1; echo $? -> /is tried on a server of yours: --url redis=URL.* 1$/

== doctor names the right that MariaDB refuses
mariadb start grant select, insert, update, delete on locks.* => P
doctor mysql-lease mariadb=mysql://$ACCOUNT:$P/locks -> /GRANT CREATE, DROP, INDEX, SELECT, INSERT, UPDATE, DELETE ON locks.[*] TO 'me'@'127.0.0.1'.* 2 0$/
doctor mysql-getlock mariadb=mysql://$ACCOUNT:$P/locks -> /taken and freed.* 0 0$/
doctor mysql-lease mariadb=mysql://$ACCOUNT:$P -> /ON lockbench.[*] TO 'me'@'127.0.0.1'.* 2 0$/

== doctor names the right that etcd refuses
etcd start => P
tool ctl ETCDCTL_API=3 etcdctl --endpoints 127.0.0.1:$P
soon ctl endpoint health 2>&1 -> /is healthy/
sh ctl() { ETCDCTL_API=3 etcdctl --endpoints 127.0.0.1:$P "$@" >/dev/null; }; ctl user add root:x; ctl user add me:Secret1Word; ctl role add ours; ctl role grant-permission ours --prefix=true readwrite other; ctl user grant-role me ours; ctl user grant-role root root; ctl auth enable; echo $? -> 0
doctor etcd-key etcd=etcd://$ACCOUNT:$P -> /etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX.* 2 0$/

== doctor names the right that NATS refuses
nats start publish: ["other.>"], subscribe: "_INBOX.>" => P
doctor nats-kv nats=nats://$ACCOUNT:$P -> /permissions [{] publish: .* 2 0$/
define D $
nats start publish: ["${D}JS.API.>", "${D}KV.>"], subscribe: "_INBOX.>" => P
doctor nats-kv nats=nats://$ACCOUNT:$P -> /taken and freed.* 0 0$/

# The nodes above the keys are those of the account that came first.
== doctor names the right that ZooKeeper refuses
with zk-lock
run zk-lock zookeeper=zookeeper://first:x@127.0.0.1:$PORT load.key_names=k -> 0
doctor zk-lock zookeeper=zookeeper://second:x@127.0.0.1:$PORT -> /setAcl -R .NODE auth::cdrwa.* 2 0$/
