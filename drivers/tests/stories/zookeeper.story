# The ZooKeeper locks against the real clients whose protocols they speak: Curator's recipes (ZkForeign.java),
# kazoo's Lock (zk_kazoo.py). One holds, the other one waits and then gets it.
define JARS /usr/share/java
define CP $JARS/curator-recipes.jar:$JARS/curator-framework.jar:$JARS/curator-client.jar:$JARS/guava.jar:$JARS/zookeeper.jar:$JARS/slf4j-api.jar:$JARS/slf4j-nop.jar
define P /lockbench/$K
program java java -XX:-UsePerfData -cp $CP drivers/tests/ZkForeign.java 127.0.0.1:$PORT
program kazoo /usr/bin/python3 drivers/tests/zk_kazoo.py 127.0.0.1:$PORT
# A third connection.
program eye /usr/bin/python3 drivers/tests/zk_kazoo.py 127.0.0.1:$PORT eye
needs test -r /usr/share/java/curator-recipes.jar && command -v javac >/dev/null | libcurator-recipes-java and default-jdk-headless
needs /usr/bin/python3 -c 'import kazoo' | python3-kazoo
with zk-lock

== Curator's mutex and ours, first come, first served
java A acquire mutex $P -1 -> A acquired
ours try -> busy
ours wait 30ms -> timeout
eye nodes $P -> /^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-lock-[0-9]{10}$/
ours begin
soon eye nodes $P -> /^(_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-lock-[0-9]{10} ?){2}$/
ours waits
java A release -> A released
ours end -> ok
java A acquire mutex $P 50 -> A busy
java tell B acquire mutex $P -1
soon eye nodes $P -> /^(_c_[^ ]* ?){2}$/
second begin
soon eye nodes $P -> /^(_c_[^ ]* ?){3}$/
java tell C acquire mutex $P -1
soon eye nodes $P -> /^(_c_[^ ]* ?){4}$/
second waits
second wakeups => WOKEN
ours release -> ok
java says -> B acquired
# It was not woken by what is not before it.
second waits
second wakeups -> $WOKEN
java B release -> B released
second end -> ok
second release -> ok
java says -> C acquired
java C release -> C released
eye nodes $P ->

== Curator sees the first acquire and the last release
with zk-reentrant
ours acquire -> ok
ours commands => COMMANDS
ours has held=1
ours acquire -> ok
ours has held=2
java tell A acquire mutex $P -1
soon eye nodes $P -> /^(_c_[^ ]* ?){2}$/
ours release -> ok
ours commands -> $COMMANDS
eye nodes $P -> /^(_c_[^ ]* ?){2}$/
ours has held=1
ours release -> ok
java says -> A acquired
# And Curator's re-entry, seen by ours.
java A acquire mutex $P -1 -> A acquired
java A release -> A released
ours has held=0
ours try -> busy
java A release -> A released
ours try -> ok
ours release -> ok

== readers and writers of both
with zk-rwlock
reader has shared=1
late has shared=1
java R acquire read $P -1 -> R acquired
reader try -> ok
eye nodes $P -> /^(_c_[0-9a-f-]{36}-__READ__[0-9]{10} ?){2}$/
writer try -> busy
java W acquire write $P 50 -> W busy
# Our writer waits for both; who reads later waits for it, on both sides.
writer begin
soon eye nodes $P -> /^(_c_[^ ]* ?){3}$/
late try -> busy
java tell L acquire read $P -1
soon eye nodes $P -> /^(_c_[^ ]* ?){4}$/
reader release -> ok
writer waits
java R release -> R released
writer end -> ok
eye nodes $P -> /_c_[0-9a-f-]{36}-__WRIT__[0-9]{10}/
writer release -> ok
java says -> L acquired
java L release -> L released
# Curator's writer holds: our readers wait, and go in together.
java W acquire write $P -1 -> W acquired
eye nodes $P -> /^_c_[0-9a-f-]{36}-__WRIT__[0-9]{10}$/
reader begin
soon eye nodes $P -> /^(_c_[^ ]* ?){2}$/
late wait 30ms -> timeout
java W release -> W released
reader end -> ok
late try -> ok
late release -> ok
reader release -> ok

# Curator's readers come in, its writers do not. A reader that also wants to write would wait for itself.
== a writer of ours reads as well and stops writing
with zk-rwlock
ours acquire -> ok
java tell W acquire write $P -1
soon eye nodes $P -> /^(_c_[^ ]* ?){2}$/
ours has held=1 shared=1
ours try -> ok
eye nodes $P -> /^(_c_[^ ]* ?){3}$/
ours has held=2 shared=0
ours release -> ok
eye nodes $P -> /^(_c_[^ ]* ?){2}$/
# W has not come in either, or its line would have come first.
java X acquire write $P 50 -> X busy
eye nodes $P -> /^(_c_[^ ]* ?){2}$/
ours has held=1 shared=1
ours release -> ok
java says -> W acquired
java W release -> W released
ours has held=0
ours acquire -> ok
ours has held=1 shared=0
ours try -> refused
ours has shared=1
ours release -> ok
eye nodes $P ->

== Curator's semaphore and ours
with zk-semaphore
one has bound=3 permits=1
two has bound=3 permits=2
java A acquire semaphore2 $P -1 3 -> A acquired
one acquire -> ok
eye nodes $P/leases -> /^(_c_[0-9a-f-]{36}-lease-[0-9]{10} ?){3}$/
eye nodes $P/locks ->
two try -> busy
two wait 30ms -> timeout
java B acquire semaphore $P 50 3 -> B busy
eye nodes $P/leases -> /^(_c_[^ ]* ?){3}$/
# Ours wants two permits: it holds the semaphore's inner lock while it waits, and the next client of Curator waits for that.
two begin
soon eye nodes $P/leases -> /^(_c_[^ ]* ?){4}$/
eye nodes $P/locks -> /^_c_[0-9a-f-]{36}-lock-[0-9]{10}$/
java tell B acquire semaphore $P -1 3
soon eye nodes $P/locks -> /^(_c_[^ ]* ?){2}$/
two waits
java A release -> A released
# Two are free again; ours takes one, asks for the second behind B, who gets that.
java says -> B acquired
soon eye nodes $P/leases -> /^(_c_[^ ]* ?){4}$/
java B release -> B released
two end -> ok
eye nodes $P/leases -> /^(_c_[^ ]* ?){3}$/
java tell C acquire semaphore $P -1 3
soon eye nodes $P/leases -> /^(_c_[^ ]* ?){4}$/
two release -> ok
java says -> C acquired
java C release -> C released
one release -> ok
one release -> lost
eye nodes $P/leases ->
eye nodes $P/locks ->

# Its own node names differ from Curator's. If it gets Curator's names as a pattern, it respects Curator's clients, but they do
# not see its nodes. If it uses Curator's node name itself, each sees the other.
== kazoo and ours, as far as it goes
ours acquire -> ok
kazoo A acquire lock $P 0 -> A busy
kazoo A acquire named $P 0.05 -> A busy
kazoo tell A acquire lock $P 20
soon eye nodes $P -> /^[^ ]+ [^ ]+$/
ours release -> ok
kazoo says -> A acquired
ours try -> ok
ours release -> ok
kazoo A release -> A released
kazoo B acquire named $P 20 -> B acquired
ours try -> busy
ours begin
soon eye nodes $P -> /^[^ ]+ [^ ]+$/
kazoo B release -> B released
ours end -> ok
kazoo tell B acquire named $P 20
soon eye nodes $P -> /^[^ ]+ [^ ]+$/
ours release -> ok
kazoo says -> B acquired
kazoo B release -> B released

== a release wakes one of a queue
ours acquire -> ok
one begin
soon eye nodes $P -> /^[^ ]+ [^ ]+$/
two begin
soon eye nodes $P -> /^[^ ]+ [^ ]+ [^ ]+$/
two waits
one wakeups => ONE
two wakeups => TWO
ours release -> ok
one end -> ok
one wakeups -> $ONE+1
two waits
two wakeups -> $TWO
one release -> ok
two end -> ok
two release -> ok

# Curator sorts the nodes of its read-write lock behind those of the mutex, and so must our driver.
== the nodes are those that Curator would make
define P /lockbench/orders%2F7%20%22odd%22%20%C3%A9
key ODD orders/7 "odd" é
ours has key=ODD
ours acquire -> ok
ours token => TOKEN
eye nodes $P => NODE
eye get $P/$NODE -> 127.0.0.1 $TOKEN ephemeral
eye container $P -> yes
eye container /lockbench -> yes
ours release -> ok
eye nodes $P ->
eye make $P/_c_6f7b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b-__READ__ -> made
ours try -> ok
ours release -> ok
eye drop $P -> gone

# The session outlives its connections: a request whose sending finds the connection broken goes out over the next one.
== a connection breaks
ours acquire -> ok
ours breaks
ours release -> ok
eye nodes $P ->
ours breaks
ours acquire -> ok
eye nodes $P -> /^[^ ]+$/
ours breaks
ours release -> ok
eye nodes $P ->

# Curator's protected creation: the server has made the node, its answer is lost, the session lives on over a new connection. The
# node must be found again, not made twice; and a deletion in doubt likewise.
== answers are lost within a session
with zk-lock BYTES=0
with zk-lock BYTES=1
with zk-lock BYTES=2
far acquire -> ok
far release -> ok
wire cut after $BYTES
far begin
soon wire struck -> 1
wire heal
far end -> ok
far token => TOKEN
eye nodes $P => NODE
eye get $P/$NODE -> 127.0.0.1 $TOKEN ephemeral
wire cut after $BYTES
far free
soon wire struck -> 1
wire heal
far end -> ok
eye nodes $P ->

== a chroot is made when it is missing, and keeps its locks apart
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
ours acquire -> ok
sh "$LOCKBENCH_PROGRAM" run smoke zk-lock --key $K -c 1 -d 50ms --set acquire.mode=try --url zookeeper://127.0.0.1:$PORT/team/app/ --no-page --out $DIR/run >/dev/null 2>&1; echo $? -> 0
eye nodes /team/app/lockbench -> $K
ours release -> ok

# The whole process stands still for longer than its sessions last: a holder learns of its loss before its sleep is over, and a
# grant that the server sent before must not count.
== a process that was away
sessions 4s
key L
maker has key=L
maker acquire -> ok
maker release -> ok
maker close
holder acquire -> ok
ours has key=L
ours away 8s 2 -> broken
told -> 2
ours close
ours open -> ok
ours acquire -> ok
ours release -> ok
other acquire -> ok
holder release -> lost
other release -> ok

# That a holder is told is a check of the conformance suite.
== a program that does not listen to its session sees no loss
with unsafe-zk-ignores-session-loss
sessions 4s
ours acquire -> ok
server stop 0
sleep 5s
ours losses -> 0
ours release -> ok
server go 0

== an ensemble says what it is
with zk-lock on zookeeper-3
fact mode -> /^(leader|follower)$/
fact session_timeout_ms -> /^10000 /
fact connected_to -> /^127.0.0.1:/
fact version -> /./

# The leader's, or that of the server which its session talks to. First all must serve, or none would be left that do.
== a lock outlives a server's death
with zk-lock on zookeeper-3 VICTIM=leader
with zk-lock on zookeeper-3 VICTIM=own
tool serving serving() { for p in $PORTS; do bash -c "exec 3<>/dev/tcp/127.0.0.1/$p; printf srvr >&3; cat <&3" 2>/dev/null; done | grep -c ^Mode:; }; serving
sessions 30s
soon serving -> 3
other try -> ok
other release -> ok
holder acquire -> ok
holder token => TOKEN
holder at => AT
server leader => LEADER
sh i=0; for p in $PORTS; do [ $p = $AT ] && echo $i; i=$((i + 1)); done => OWN
sh [ $VICTIM = leader ] && echo $LEADER || echo $OWN => NODE
other close
server kill $NODE
soon other open -> ok
# While they elect, a server may close the connection of a client that it had accepted a moment before.
other try -> /busy|unknown|broken/
other close
soon other open -> ok
other try -> busy
holder release -> ok
other acquire -> ok
other token -> > $TOKEN
other release -> ok
server restart $NODE
soon serving -> 3

== without a majority there is no lock, and the holder learns by its own clock that its session is over
with zk-lock on zookeeper-3
sessions 4s
other close
holder acquire -> ok
server kill 0
server kill 1
soon holder losses -> 1
connects 1s
other open -> /^zookeeper/
holder close
connects 20s
server restart 0
server restart 1
soon other open -> ok
other somehow
other release -> ok
