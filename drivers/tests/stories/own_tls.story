# Servers that lockbench starts with TLS.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets

# Redisson asks a primary's replicas whether they have the lock, encrypted or not.
== replicas are asked over TLS
with redis-reentrant on redis-replicas tls
server stop 1
server stop 2
ours try -> broken
ours error -> /no replica/
server go 1
server go 2

# Without the authority each connection is refused: that is the reason, and not that time was over at last.
== several servers of Redis are verified
with redis-setnx on redis-cluster tls LOCK=redis-setnx FAULTS=conformance,none CELLS=2
with redis-setnx on redis-sentinel tls LOCK=redis-setnx FAULTS=none CELLS=1
with redis-redlock on redis-independents tls LOCK=redis-redlock FAULTS=none CELLS=1
sh "$LOCKBENCH_PROGRAM" run smoke --lock $LOCK --url redis="$URL" --no-page --out $DIR/refused 2>&1 >/dev/null; echo $? -> /certificate.* 2$/
sh rm -rf $DIR/refused $DIR/check; "$LOCKBENCH_PROGRAM" check $LOCK --url redis="$URL" --set redis.tls_ca=$CA --fault $FAULTS --out $DIR/check >/dev/null 2>&1; echo $?; drivers/tests/foreign/verdicts.py $DIR/check | grep -c "^$LOCK=safe " -> 0 $CELLS

# OpenSSL keeps its errors in one queue for each thread, and takes what it finds there for the next connection's. The release fails,
# unless its answer is there by now; the waiter's answer is not there yet, so OpenSSL is asked why. A lease outlives its victim.
== one client's connection ends, and its neighbours go on
with mysql-getlock tls
with pg-advisory tls
with redis-setnx tls
key L
key M
key N
holder acquire -> ok
waiter try -> busy
victim has key=L
victim acquire -> ok
victim breaks reading
victim release => IGNORED
waiter wait 100ms -> timeout
victim close
victim open -> ok
victim has key=M
victim acquire -> ok
victim breaks reading
victim release => IGNORED
waiter wait 100ms -> timeout
victim close
victim open -> ok
victim has key=N
victim acquire -> ok
victim breaks reading
victim release => IGNORED
waiter wait 100ms -> timeout
victim close
holder release -> ok
