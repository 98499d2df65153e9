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
