# A cluster of three NATS servers: clients are spread over them and move on when theirs is gone; the bucket has three replicas, what
# is held outlives the leader, and who has no password is refused.
with nats-kv on nats-3
# NATS's elections take up to 9 s.
sessions 120s

# A server may be a little behind in what it reads. One that does not answer in time is passed over for the next one.
== clients are shared out among the servers
fact cluster -> /^lockbench-/
fact replicas -> 3
guarantee -> majority
soon one redial -> $PORT0
soon two redial -> $PORT1
soon three redial -> $PORT2
soon four redial -> $PORT0
one acquire -> ok
two try -> busy
one token => TOKEN
one release -> ok
two acquire -> ok
three try -> busy
two token -> > $TOKEN
two token => TOKEN
two release -> ok
three acquire -> ok
four try -> busy
three token -> > $TOKEN
three release -> ok

# Nor another server of the cluster.
== without the password nobody is a client
tool greet greet() { bash -c "exec 3<>/dev/tcp/127.0.0.1/$1; printf 'CONNECT {}\r\nPING\r\n' >&3; timeout 20 sed '/Violation/q' <&3" | grep -c 'Authorization Violation'; }; greet
greet $PORT0 -> 1
greet $PEERS0 -> 1

# A client whose server is gone moves on to one that serves, and finds the lock held; the holder's session stands, and frees it.
== a lock outlives the leader's death
server leader => LEADER
sh set -- one two three one; shift $LEADER; echo $1 => ORPHAN
sh set -- one two three one; shift $LEADER; echo $2 => HOLDER
sh set -- $PORTS; shift $LEADER; echo $1 => PORT_OF
one has lease=120s
two has lease=120s
three has lease=120s
soon $ORPHAN redial -> $PORT_OF
$HOLDER acquire -> ok
server kill $LEADER
$ORPHAN try -> /unknown|broken/
$ORPHAN close
soon $ORPHAN open -> ok
soon $ORPHAN try -> busy
$ORPHAN at => NOW_AT
sh [ $NOW_AT != $PORT_OF ] && echo moved -> moved
soon server leader -> /^[012]$/
$HOLDER release -> ok
$ORPHAN somehow
$ORPHAN release -> ok
server restart $LEADER
