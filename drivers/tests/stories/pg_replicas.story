# PostgreSQL's locks on a primary with a synchronous and an asynchronous standby: when the primary dies, the promoted synchronous
# standby has each row that was acknowledged, and the asynchronous one, behind on purpose, has not; what lives in a session is lost
# in both cases. Then the loss of one of the three servers without a failover. Verdicts are as their driver states, or better.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool check check() { rm -rf $DIR/check; "$LOCKBENCH_PROGRAM" check "$@" --set servers.topology=postgres-replicas --out $DIR/check >/dev/null 2>$DIR/err; echo $?; drivers/tests/foreign/verdicts.py $DIR/check; }; check
with pg-advisory on postgres-replicas

# One cell at a time: where nine servers start at once, the new primary may come when the holders are gone. The worst of the seeds
# counts.
== the synchronous standby keeps rows and no sessions
check pg-advisory --fault primary-lost --seed 1..2 --jobs 1 --set load.clients=6 -> /^0 pg-advisory=expired /
check pg-lease --fault primary-lost --jobs 1 --set load.clients=6 -> /^0 pg-lease=safe (hit)? again /

# The holders' grants began while the asynchronous standby was away.
== what the asynchronous standby loses the synchronous one keeps
check pg-lease --fault standby-behind --seed 1..2 --jobs 4 --set load.clients=6 -> /^0 pg-lease=violated hit /
check pg-lease --fault standby-behind --jobs 1 --set fault.3.target=1 -> /^0 pg-lease=safe hit /

# Without the synchronous standby no commit returns, and locks that commit nothing go on. Without the asynchronous one all go on.
== a commit waits for the synchronous standby alone
check pg-advisory,pg-lease --fault minority-lost --jobs 4 --set fault.target=1 -> /^0 pg-advisory=safe .*pg-lease=stuck /
check pg-lease --fault minority-lost --jobs 1 --set fault.target=2 -> /^0 pg-lease=safe /

== without the primary nothing is granted until somebody acts
check pg-advisory --fault minority-lost --jobs 1 --set fault.target=primary -> /^0 pg-advisory=stuck /

# A standby has advisory locks of its own, and grants them beside the primary's.
== a standby is no place for a lock
define STANDBY postgres=postgres://lockbench:$SECRET@127.0.0.1:$PORT1/postgres
sh "$LOCKBENCH_PROGRAM" hold pg-advisory 42 --url $STANDBY -- true 2>&1; echo $? -> /a standby.* 125$/
sh "$LOCKBENCH_PROGRAM" doctor --url $STANDBY -> /a standby/
