# PostgreSQL's locks on a primary with a synchronous and an asynchronous standby: when the primary dies, the promoted synchronous
# standby has each row that was acknowledged, and the asynchronous one, behind on purpose, has not; what lives in a session is lost
# in both cases. Then the loss of one of the three servers without a failover. Verdicts are as their driver states, or better.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
# begin NAME WORDS: a check beside others, since most of it is waiting; found NAME: its exit code and verdicts, once all have ended, so
# that none goes on beside the next case.
tool begin begin() { name=$1; shift; rm -rf $DIR/$name $DIR/$name.*; (timeout --foreground 300 "$LOCKBENCH_PROGRAM" check "$@" --set servers.topology=postgres-replicas --out $DIR/$name; echo $? >$DIR/$name.new; mv $DIR/$name.new $DIR/$name.code) >/dev/null 2>&1 & echo $! >$DIR/$name.pid; }; begin
tool found found() { for begun in $DIR/*.pid; do until [ -e ${begun%.pid}.code ] || ! kill -0 $(cat $begun); do sleep 0.2; done; done 2>/dev/null; cat $DIR/$1.code; drivers/tests/foreign/verdicts.py $DIR/$1; }; found
with pg-advisory on postgres-replicas

# Those who hold when the primary is killed do so for long after a busy machine has promoted the standby; the holders' grants began
# while the asynchronous standby was away.
== the synchronous standby keeps rows and no sessions, and the asynchronous one loses rows
begin sessions pg-advisory --fault primary-lost --set load.hold=7s --set fault.for=20s ->
begin lost pg-lease --fault standby-behind ->
begin kept pg-lease --fault standby-behind --set fault.3.target=1 ->
found sessions -> /^0 pg-advisory=expired /
found lost -> /^0 pg-lease=violated hit /
found kept -> /^0 pg-lease=safe hit again /

# Without the synchronous standby no commit returns, and locks that commit nothing go on. Without the asynchronous one all go on, and
# without the primary nothing is granted until somebody acts.
== a commit waits for the synchronous standby alone
begin session pg-advisory --fault minority-lost --set fault.target=1 --set load.hold=8s ->
begin commit pg-lease --fault minority-lost --set fault.target=1 ->
begin spare pg-lease --fault minority-lost --set fault.target=2 --set load.hold=8s --set acquire.lease=10s ->
begin primary pg-advisory --fault minority-lost --set fault.target=primary ->
found session -> /^0 pg-advisory=safe /
found commit -> /^0 pg-lease=stuck /
found spare -> /^0 pg-lease=safe /
found primary -> /^0 pg-advisory=stuck /

# A standby has advisory locks of its own, and grants them beside the primary's.
== a standby is no place for a lock
define STANDBY postgres=postgres://lockbench:$SECRET@127.0.0.1:$PORT1/postgres
sh "$LOCKBENCH_PROGRAM" run smoke pg-advisory -c 1 -d 50ms --url $STANDBY --no-page --out $DIR/standby 2>&1 >/dev/null -> /a standby/
sh "$LOCKBENCH_PROGRAM" doctor --url $STANDBY -> /a standby/
