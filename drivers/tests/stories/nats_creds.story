# Clients that come to a NATS server with a credentials file: the right one grants; each wrong one ends with one line that says what to
# do, and no line has its seed.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
needs PATH=$PATH:/usr/sbin command -v nats-server >/dev/null && command -v openssl >/dev/null | nats-server and openssl
program nats drivers/tests/foreign/tls_server.sh nats
with mem-mutex

== credentials let in whom they name
sh mkdir $DIR/certs; drivers/tests/foreign/nats_creds.py $DIR/certs >$DIR/accounts; echo $? -> 0
sh sed -n 6p $DIR/certs/right => HIDDEN
sh echo ${#HIDDEN} -> 58
nats start 0 none include '../accounts' => P0
sh drivers/tests/foreign/tls.py nats nats-kv nats credentials -> 6 passed
