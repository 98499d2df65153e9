# etcd-mutex and etcd-lock against etcdctl, which is the Go client.
needs command -v etcdctl >/dev/null | etcd-client
define ETCDCTL_API 3
program etcdctl drivers/tests/foreign/etcd_lock.sh $PORT
tool ctl etcdctl --endpoints=127.0.0.1:$PORT
tool keys etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only "$ODD/" | grep -c . #
with etcd-mutex
with etcd-lock
key ODD orders/7 "odd" é
ours has key=ODD

== etcdctl holds, ours waits
etcdctl lock $ODD -> /^orders.7 "odd" é.[0-9a-f]{9,}$/
etcdctl says ->
ours try -> busy
ours wait 30ms -> timeout
keys -> 1
ours begin
soon keys -> 2
etcdctl unlock -> freed
ours end -> ok
keys -> 1
ours release -> ok
ours release -> lost
keys -> 0

# The key is the one that the Go client would have made: it hangs on our lease, and is named by it. A foreign client that dies
# frees it when its lease ends, which is revoked here. A session that ends takes its key along, at once.
== ours holds, etcdctl waits
ours acquire -> ok
ours token => TOKEN
ctl get "$ODD/" --prefix -w fields >$DIR/fields ->
sh sed -n 's/^"CreateRevision" : //p' $DIR/fields -> $TOKEN
sh printf '%x' $(sed -n 's/^"Lease" : //p' $DIR/fields) => LEASE
ctl get "$ODD/" --prefix --keys-only | head -n 1 -> $ODD/$LEASE
sh grep '"Value"' $DIR/fields -> "Value" : ""
etcdctl tell lock $ODD
soon keys -> 2
sleep 50ms
etcdctl is silent
ours release -> ok
etcdctl says => THEIRS
etcdctl says ->
ours try -> busy
ctl lease revoke "${THEIRS##*/}" -> /revoked/
ours acquire -> ok
ours token -> > $TOKEN
ours close
keys -> 0

# A grant that the server sent before must not count.
== a process that was away
with etcd-mutex
sessions 2s
late has key=ODD
late release -> lost
late away 2500ms 1 -> broken
late close
late open -> ok
late acquire -> ok
late release -> ok

# Its lease ends while it is in the queue, before the holder releases.
== the dead are not granted
sessions 60s
holder has key=ODD
waiter has key=ODD
holder acquire -> ok
waiter begin
soon keys -> 2
ctl get "$ODD/" --prefix --keys-only --sort-by=CREATE --order=DESCEND | head -n 1 => PLACE_OF
ctl lease revoke "${PLACE_OF##*/}" -> /revoked/
keys -> 1
holder release -> ok
waiter end -> broken
ours try -> ok
ours release -> ok

# The reason why the driver looks the key up: etcd 3.4 grants the lock to a waiter whose lease has ended, while another can hold it.
== the bare service grants to the dead
with etcd-lock recheck=no
sessions 60s
holder has key=ODD
waiter has key=ODD
holder acquire -> ok
waiter begin
soon keys -> 2
ctl get "$ODD/" --prefix --keys-only --sort-by=CREATE --order=DESCEND | head -n 1 => PLACE_OF
ctl lease revoke "${PLACE_OF##*/}" -> /revoked/
holder release -> ok
waiter end => GRANTED
ctl endpoint status | grep -c ', 3[.]4[.]' => FLAWED
sh [ $GRANTED = ok ] && echo 1 || echo 0 -> $FLAWED
ours try -> ok
ours release -> ok

# A wrong password is among the cases of TLS. Without accounts: as after a loss of all data, until they are made again.
== accounts
with etcd-mutex
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool run run() { rm -rf $DIR/run; "$LOCKBENCH_PROGRAM" run smoke etcd-mutex -c 1 -d 50ms --url "$1" --no-page --out $DIR/run 2>&1 >/dev/null; echo $?; }; run
tool root ETCDCTL_USER=root:$SECRET etcdctl --endpoints=127.0.0.1:$PORT
run "$URL" -> /(^| )0$/
run etcd://lockbench:wr0ng@127.0.0.1:$PORT -> /[1-9]$/
run etcd://lockbench:wr0ng@127.0.0.1:$PORT | grep -c wr0ng -> 0
run etcd://127.0.0.1:$PORT -> /[1-9]$/
ctl user list 2>&1 -> /permission denied/
root auth disable -> /Disabled/
run etcd://127.0.0.1:$PORT -> /(^| )0$/
run "$URL" -> /not enabled.* [1-9][0-9]*$/
root auth enable -> /Enabled/

# One lock for all, whatever member they ask. `ours` is the first.
== clients are shared out among the members
with etcd-mutex on etcd-3
fact members -> 3
two has key=ODD
three has key=ODD
four has key=ODD
ours at -> $PORT0
two at -> $PORT1
three at -> $PORT2
four at -> $PORT0
ours try -> ok
two try -> busy
ours token => TOKEN
ours release -> ok
two try -> ok
three try -> busy
two token -> > $TOKEN
two token => TOKEN
two release -> ok
three try -> ok
four try -> busy
three token -> > $TOKEN
three release -> ok

# The holder still has the lock, and frees it as soon as there is a new leader. A client whose member is gone moves on.
== a lock outlives the leader's death
with etcd-mutex on etcd-3
two has key=ODD
three has key=ODD
server leader => LEADER
sh set -- ours two three ours two; shift $LEADER; echo $1 => ORPHAN
sh set -- ours two three ours two; shift $LEADER; echo $2 => HOLDER
sh set -- ours two three ours two; shift $LEADER; echo $3 => WAITER
sh set -- $PORTS $PORTS; shift $LEADER; echo $1 => PORT_OF
sh set -- $PORTS $PORTS; shift $LEADER; echo $2 => NEXT_PORT
$ORPHAN at -> $PORT_OF
$HOLDER acquire -> ok
server kill $LEADER
$WAITER wait 3s -> /timeout|unknown|broken/
$WAITER close
soon $WAITER open -> ok
$WAITER try -> busy
$HOLDER release -> ok
$WAITER acquire -> ok
$WAITER release -> ok
$ORPHAN try -> /unknown|broken/
$ORPHAN close
soon $ORPHAN open -> ok
$ORPHAN at -> $NEXT_PORT
$ORPHAN acquire -> ok
$ORPHAN release -> ok
server restart $LEADER

# A member without a leader answers that it could not do it in time; it may still be done.
== without a majority a call is in doubt
with etcd-mutex on etcd-3 command_timeout=15s
ours acquire -> ok
server kill 1
server kill 2
ours release -> unknown
ours error -> /request timed out/

# Each has asked, and watches the key. A second release of the earlier grant deletes nothing. The end of the run ends the waits.
== a release wakes every waiter and serves one
with etcd-key
holder acquire -> ok
one commands => ONE
two commands => TWO
three commands => THREE
one begin
two begin
three begin
soon one commands -> > $ONE+1
soon two commands -> > $TWO+1
soon three commands -> > $THREE+1
holder release -> ok
soon one wakeups -> > 0
soon two wakeups -> > 0
soon three wakeups -> > 0
holder release -> lost
holder try -> busy
cutoff now
one end => ONE
two end => TWO
three end => THREE
sh printf '%s\n' $ONE $TWO $THREE | grep -cx ok -> 1
cutoff never
