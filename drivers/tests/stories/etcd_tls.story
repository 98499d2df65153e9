# etcd over TLS with an account: what is right grants, and each wrong certificate, password or scheme ends with one line that says what
# to do. Never unencrypted instead.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool tls drivers/tests/foreign/tls.py
# verify BACKEND LOCK URL SCENARIOS SETS: the exit code and the verdicts of `check`, as a user runs it, and whether it shows the secret.
# Connections lead through a wire, but the certificate is the server's. The exact verdicts after a reset and a cut are tested without TLS.
tool verify verify() { lock=$2 url=$1=$3 faults=$4; shift 4; rm -rf $DIR/verified; "$LOCKBENCH_PROGRAM" check $lock --url "$url" --fault $faults --jobs 4 --out $DIR/verified "$@" >/dev/null 2>$DIR/err; echo $?; drivers/tests/foreign/verdicts.py $DIR/verified; grep -c Secret1Word $DIR/err; }; verify
before [ -d $DIR/certs ] || { mkdir -m 755 $DIR/certs; compose/certificates $DIR/certs wrong; }
define ACCOUNT me:Secret1Word@
define CA tls_ca=$DIR/certs/ca.pem
needs command -v etcd >/dev/null && command -v etcdctl >/dev/null | etcd-server and etcd-client
program etcd drivers/tests/foreign/tls_server.sh etcd
define SETS --set etcd.$CA --set etcd.tls_cert=$DIR/certs/client.pem --set etcd.tls_key=$DIR/certs/client.key
with mem-mutex

# The server forgets a token after two seconds without use; here that is between two attempts. `clean` has no plan: its --set leads
# there.
== what is right grants
etcd start 0 server => P0
etcd start 1 expired => P1
etcd start 2 wronghost => P2
etcd start 3 none => P3
tls etcd etcd-mutex etcd right -> /^[1-9][0-9]* passed$/
tls etcd etcd-mutex etcd wrong -> /^[1-9][0-9]* passed$/
sh "$LOCKBENCH_PROGRAM" run smoke --lock etcd-mutex --url etcd=etcds://${ACCOUNT}localhost:$P0 $SETS --set load.clients=1 --set load.think=4s --set acquire.lease=60s --set run.duration=9s --set run.warmup=0 --no-page --out $DIR/renewed >/dev/null 2>$DIR/err; echo $? -> 0
sh /usr/bin/python3 -c "import json; of = json.load(open('$DIR/renewed/run.json'))['stages'][0]['outcomes']; print(of['ok'] >= 2, of['refused'])" -> True 0
sh "$LOCKBENCH_PROGRAM" clean --url etcd=etcds://${ACCOUNT}localhost:$P0 $SETS; echo $? -> /nothing is left.* 0$/

== it is verified as a lock
etcd start 4 byname => P4
verify etcd etcd-mutex etcds://${ACCOUNT}localhost:$P4 conformance,wire-reset,wire-cut $SETS -> /^0 etcd-mutex=safe .* etcd-mutex=(safe|expired) .* etcd-mutex=(safe|expired) .* 0$/
