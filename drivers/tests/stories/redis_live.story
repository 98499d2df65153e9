# Sessions on Redis topologies while these change: a slot moves between the nodes of a cluster, Sentinels or somebody by hand
# promote a replica, replicas and servers of five hang or die.
needs command -v redis-cli >/dev/null | redis-tools
# on NODE WORDS: redis-cli told to one node. at PORT WORDS: the same. all WORDS: the different answers of all nodes.
tool on on() { eval port=\$PORT$1; shift; redis-cli --raw -p $port "$@"; }; on
tool at at() { port=$1; shift; redis-cli --raw -p $port "$@"; }; at
tool all all() { for port in $PORTS; do redis-cli --raw -p $port "$@"; done | sort -u; }; all
# As the topology's script has it.
tool node_of node_of() { slot=$(redis-cli -p $PORT0 cluster keyslot $1); echo $((slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2)); }; node_of
with redis-setnx on redis-cluster

# On its way: ASK; then at its new place: MOVED. The key is not there, so the old node sends whoever asks for it to the new one.
== a slot moves, and holder and waiter go with it
on 0 cluster keyslot $K => SLOT
node_of $K => FROM
sh echo $(((FROM + 1) % 3)) => TO
on $FROM cluster myid => FROM_ID
on $TO cluster myid => TO_ID
on $TO cluster setslot $SLOT importing $FROM_ID -> OK
on $FROM cluster setslot $SLOT migrating $TO_ID -> OK
holder acquire -> ok
waiter try -> busy
on $TO cluster countkeysinslot $SLOT -> 1
on $FROM cluster countkeysinslot $SLOT -> 0
holder renew 30s -> ok
waiter begin
on $TO cluster setslot $SLOT node $TO_ID -> OK
on $FROM cluster setslot $SLOT node $TO_ID -> OK
sleep 50ms
waiter waits
holder release -> ok
waiter end -> ok
waiter commands => BEFORE
waiter release -> ok
waiter commands -> $BEFORE+1

# The replica may not know the last grants of the dead primary, so this is about the driver's reconnecting, not about exclusion. A
# replica that has never had its primary's data is not promoted.
== a cluster promotes the replica of a primary that died, which comes back as a replica
node_of $K => PRIMARY
sh echo $((PRIMARY + 3)) => REPLICA
ours acquire -> ok
ours release -> ok
on $PRIMARY wait 1 60000 -> 1
server kill $PRIMARY
ours somehow
on $REPLICA role | head -n 1 -> master
on $REPLICA exists $K -> 1
ours release -> ok
server restart $PRIMARY
soon on $PRIMARY role | head -n 1 -> slave
ours close
ours somehow
on $REPLICA exists $K -> 1
ours release -> ok

# A Sentinel that has not heard of the failover may still lead clients to node 0, once that is back. Sentinels make it a replica,
# and nobody is led to it meanwhile.
== Sentinels promote a replica
with redis-setnx on redis-sentinel
ours acquire -> ok
server kill 0
ours release -> /unknown|broken/
ours close
key L
ours has key=L
ours somehow
sh echo $(($(redis-cli -p $PORT1 exists $L) + $(redis-cli -p $PORT2 exists $L))) -> > 0
ours release -> ok
soon sh for port in $PORT3 $PORT4 $PORT5; do redis-cli --raw -p $port sentinel master mymaster | sed -n '/^port$/{n;p}'; done | grep -vc "^$PORT0$" -> 3
server restart 0
ours close
ours somehow
sh [ "$(redis-cli -p $PORT0 exists $L)" = 1 ] && redis-cli --raw -p $PORT0 role | head -n 1 | grep -v slave ->
ours release -> ok
sleep 300ms
ours close
ours somehow
sh [ "$(redis-cli -p $PORT0 exists $L)" = 1 ] && redis-cli --raw -p $PORT0 role | head -n 1 | grep -v slave ->
ours release -> ok
sleep 700ms
ours close
ours somehow
sh [ "$(redis-cli -p $PORT0 exists $L)" = 1 ] && redis-cli --raw -p $PORT0 role | head -n 1 | grep -v slave ->
ours release -> ok

# The renewal is not counted, since no replica has it; but the grant is not lost either.
== no grant of redis-wait without a replica
with redis-wait on redis-replicas
ours acquire -> ok
ours release -> ok
server stop 1
ours acquire -> ok
server stop 2
ours ends => END
ours renew 60s -> ok
ours ends -> $END
ours release -> ok
other try -> busy
other wait 300ms -> timeout
on 0 exists $K -> 0
other begin
sleep 50ms
other waits
server go 2
other end -> ok
other release -> ok
server go 1

# A client of the old primary finds the new one, whether the old one is gone or has become a replica. By the first release the old
# connection is known to be closed, and the new primary may be asked: it has the key, or has not.
== somebody promotes a replica by hand
with redis-setnx on redis-replicas
key L
ours acquire -> ok
server kill 0
server promote 1
ours release -> /^(ok|lost|unknown|broken)$/
ours close
ours has key=L
ours somehow
on 1 exists $L -> 1
ours release -> ok
server promote 2
ours try -> broken
ours close
ours somehow
on 2 exists $L -> 1
ours release -> ok
server restart 0

# The second server of five hangs.
== redis-redlock asks all servers at once
with redis-redlock on redis-independents node_timeout=60s
server stop 1
ours begin
soon on 4 exists $K -> 1
ours waits
server go 1
ours end -> ok
soon all exists $K -> 1
other try -> busy
ours renew 10s -> ok
ours release -> ok
other acquire -> ok
other release -> ok

# Dead or hanging; a third one may not: with two answers the outcome is unknown. Servers that come back are asked again. The late
# server had been sent the release after the acquire, so it holds nothing.
== two of five servers may be gone
with redis-redlock on redis-independents node_timeout=200ms
ours acquire -> ok
server kill 0
server stop 3
other try -> busy
ours renew 10s -> ok
ours release -> ok
other acquire -> ok
ours try -> busy
other release -> ok
server stop 4
ours try -> unknown
ours settle -> unknown
ours close
ours open -> /majority/
server go 4
soon ours open -> ok
ours settle -> ok
ours acquire -> ok
ours release -> ok
server go 3
server restart 0
soon ours holds all exists $K -> 1
all dbsize -> 0
