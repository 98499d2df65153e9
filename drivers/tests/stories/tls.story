# Redis, memcached and NATS over TLS, with accounts, on real servers with right and wrong certificates: a run succeeds and says what it
# was encrypted with, or ends with one line that says what to do. No connection is made unencrypted instead, and no line has the secret.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool tls drivers/tests/foreign/tls.py
# verify BACKEND LOCK URL SCENARIOS SETS: the exit code and the verdicts of `check`, as a user runs it, and whether it shows the secret.
# Connections lead through a wire, but the certificate is the server's. The exact verdicts after a reset and a cut are tested without TLS.
tool verify verify() { lock=$2 url=$1=$3 faults=$4; shift 4; rm -rf $DIR/verified; "$LOCKBENCH_PROGRAM" check $lock --url "$url" --fault $faults --jobs 4 --out $DIR/verified "$@" >/dev/null 2>$DIR/err; echo $?; drivers/tests/foreign/verdicts.py $DIR/verified; grep -c Secret1Word $DIR/err; }; verify
before [ -d $DIR/certs ] || { mkdir -m 755 $DIR/certs; compose/certificates $DIR/certs wrong; }
define ACCOUNT me:Secret1Word@
define CA tls_ca=$DIR/certs/ca.pem
program redis drivers/tests/foreign/tls_server.sh redis
program sentinel drivers/tests/foreign/tls_server.sh sentinel
program memcached drivers/tests/foreign/tls_server.sh memcached
program nats drivers/tests/foreign/tls_server.sh nats
with mem-mutex

== Redis
needs command -v redis-server >/dev/null | redis-server
redis start 0 server => P0
redis start 1 wronghost => P1
redis start 2 expired => P2
redis start 3 server tls-auth-clients yes => P3
redis start 4 none => P4
redis start 5 server bind 127.0.0.1 ::1 => P5
tls redis redis-setnx redis -> /^[1-9][0-9]* passed$/
redis start 0 byname => P0
verify redis redis-setnx rediss://worker:Secret1Word@localhost:$P0 conformance,wire-reset,wire-cut --set redis.$CA -> /^0 redis-setnx=safe .* redis-setnx=(safe|expired) .* redis-setnx=(safe|expired) .* 0$/

# Sentinels may have another login than the servers that they watch.
== Sentinels have a login of their own
redis start 0 none => P0
sentinel start 1 none $P0 => P1
sh cd $DIR/certs; echo :SentinelWord >default-login; echo worker:SentinelWord >user-login; echo worker:Secret1Word >wrong-login; echo Secret1Word >no-login; echo worker:$(printf %05000d 0) >long-login ->
tls redis redis-setnx sentinel -> /^[1-9][0-9]* passed$/

== memcached
needs command -v memcached >/dev/null | memcached
memcached start 0 server => P0
memcached start 1 wronghost => P1
memcached start 2 server ,ssl_verify_mode=2 => P2
memcached start 3 none => P3
tls memcached memcached-add memcached -> /^[1-9][0-9]* passed$/
memcached start 0 byname => P0
verify memcached memcached-add memcacheds://worker:Secret1Word@localhost:$P0 wire-reset --set memcached.$CA -> /^0 memcached-add=(safe|expired) .* 0$/

# The key is the example of NATS's documentation.
== NATS
needs PATH=$PATH:/usr/sbin command -v nats-server >/dev/null | nats-server
nats start 0 server => P0
nats start 1 wronghost => P1
nats start 2 server , verify: true => P2
nats start 3 none authorization { token: Secret1Word } => P3
nats start 4 none authorization { users: [ { nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 } ] } => P4
sh cd $DIR/certs; echo SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY >seed; echo SUACSecret1Word >other-seed ->
tls nats nats-kv nats -> /^[1-9][0-9]* passed$/
nats start 0 byname => P0
verify nats nats-kv tls://worker:Secret1Word@localhost:$P0 wire-reset --set nats.$CA -> /^0 nats-kv=(safe|expired) .* 0$/

# The addresses that cluster nodes give of each other are reached by TLS, too. Own_tls has the other topologies.
== a run's own servers have TLS
with mem-mutex ON=redis LOCK=redis-setnx
with mem-mutex ON=redis-cluster LOCK=redis-fenced
with mem-mutex ON=memcached LOCK=memcached-add
with mem-mutex ON=nats LOCK=nats-kv
with mem-mutex ON=etcd LOCK=etcd-mutex
sh rm -rf $DIR/own; env -u CI "$LOCKBENCH_PROGRAM" run smoke --no-page --lock $LOCK --set servers.topology=$ON --set servers.tls=yes --set load.think=10ms --out $DIR/own 2>&1 >/dev/null; echo $? -> /(^| )0$/
sh grep -c 'host name and authority verified' $DIR/own/run.json -> > 0
sh grep -c "\"$ON+tls\"" $DIR/own/run.json -> > 0
