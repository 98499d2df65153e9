# nats-kv beside NATS's own client: its kv.Create and kv.Update and ours exclude each other, both ways.
program they /usr/bin/python3 drivers/tests/foreign/nats_kv.py $URL
needs /usr/bin/python3 -c 'import ctypes.util, sys; sys.exit(not ctypes.util.find_library("nats"))' | libnats-dev
with nats-kv poll=100ms
key O orders/7.open
ours has key=O lease=10s

== theirs holds
they bucket lockbench_10000ms -> ok
they create $O => REVISION
they get $O -> theirs $REVISION
ours try -> busy
ours wait 50ms -> timeout
ours release -> lost
they get $O -> theirs $REVISION
ours begin
ours waits
they delete $O -> ok
ours end -> ok
ours token -> > $REVISION
ours release -> ok
they create $O => REVISION
they get $O -> theirs $REVISION
ours begin
ours waits
they purge $O -> ok
ours end -> ok
ours token -> > $REVISION
ours release -> ok

# A renewal is no new grant, but makes a new entry.
== ours holds
they bucket lockbench_10000ms -> ok
ours try -> ok
ours token => TOKEN
they get $O => ENTRY
sh echo "$ENTRY" | grep -Ec "^[0-9a-f]{16} $TOKEN$" -> 1
they create $O -> 0
sh echo $((TOKEN - 1)) => EARLIER
they update $O $EARLIER -> 0
ours renew 10s -> ok
ours token -> $TOKEN
they get $O => RENEWED
sh [ "${RENEWED% *}" = "${ENTRY% *}" ] && echo ${RENEWED#* } -> > $TOKEN
they create $O -> 0
ours release -> ok
ours release -> lost
they create $O => REVISION
they get $O -> theirs $REVISION
sh echo $REVISION -> > $TOKEN
ours try -> busy
they update $O $REVISION -> > $REVISION
ours try -> busy
they delete $O -> ok

# The reason why our delete states the sequence: theirs does not, and so frees a lock that we hold. Our next call reports the loss.
== their delete frees anybody's
they bucket lockbench_10000ms -> ok
other has key=O lease=10s
ours try -> ok
they delete $O -> ok
other try -> ok
ours renew 10s -> lost
ours release -> lost
ours try -> busy
other release -> ok

# The bucket's MaxAge is the lease: an entry of ours ages out, and they get in; theirs does too, without a message.
== ours ages out
sessions 1s
late has key=O lease=1s
they bucket lockbench_1000ms -> ok
late try -> ok
soon they create $O -> /^[1-9]/
late release -> lost
late acquire -> ok
late release -> ok
