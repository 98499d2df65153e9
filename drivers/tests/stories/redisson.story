# Redisson's locks on a real server: the state that each script leaves there, field by field, and another client, played by
# hand. Debian has no Redisson; so the other client types Redisson's scripts, as its sources have them.
program ear /usr/bin/python3 drivers/tests/foreign/redis_ear.py $PORT
tool redis redis-cli --raw -p $PORT
tool names redis-cli --raw -p $PORT KEYS '*' | sort #
define THEM 8743c9c0-0795-4907-87fd-6c719a6b4586:1
# The lock of Redisson 3 and 4; the unlock of older clients, without the unlock latch, which may use the same server.
define THEIR_LOCK if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return 'got'; end; return redis.call('pttl', KEYS[1]);
define THEIR_UNLOCK if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return 'not theirs'; end; local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; else redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return 1; end;
define HOLDER_OF for _,f in ipairs(redis.call('hkeys',KEYS[1])) do if f~='mode' then return f end end
tool they_lock redis-cli --raw -p $PORT EVAL "$THEIR_LOCK" 1 "$K"
tool they_unlock redis-cli --raw -p $PORT EVAL "$THEIR_UNLOCK" 2 "$K" "redisson_lock__channel:{$K}" 0 30000 $THEM
# RedissonFairLock's own queueing, where it can't have the lock.
define THEY_QUEUE local last = redis.call('lindex', KEYS[2], -1); local ttl; if last ~= false and last ~= ARGV[2] then ttl = tonumber(redis.call('zscore', KEYS[3], last)) - tonumber(ARGV[4]); else ttl = redis.call('pttl', KEYS[1]); end; local timeout = ttl + tonumber(ARGV[3]) + tonumber(ARGV[4]); if redis.call('zadd', KEYS[3], timeout, ARGV[2]) == 1 then redis.call('rpush', KEYS[2], ARGV[2]); end; return ttl;
tool they_queue redis-cli --raw -p $PORT EVAL "$THEY_QUEUE" 3 $K "redisson_lock_queue:{$K}" "redisson_lock_timeout:{$K}" 30000 $THEM
ear anew -> ok
with redis-reentrant

== RLock: what is on the server
ours has lease=60s
ours acquire -> ok
names -> $K
redis TYPE $K -> hash
redis PTTL $K -> 50000 to 60000
redis HKEYS $K -> /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[1-9][0-9]*$/
redis HKEYS $K => HOLDER
redis HGET $K $HOLDER -> 1
# Once more, and half of it back: no message, and the lease begins anew.
ours has held=1
ours acquire -> ok
redis HGET $K $HOLDER -> 2
redis PEXPIRE $K 20000 -> 1
ours release -> ok
redis HGET $K $HOLDER -> 1
redis PTTL $K -> 50000 to 60000
ear heard ->
# The watchdog's renewal.
ours renew 120s -> ok
redis PTTL $K -> 110000 to 120000
ours has held=0
ours release -> ok
ear heard -> redisson_lock__channel:{$K}=0
soon names ->
# What the keys of a name with a brace are called.
key TAGGED a{b}c
ours has key=TAGGED
ours acquire -> ok
ours release -> ok
ear heard -> redisson_lock__channel:a{b}c=0

# Each unlock notes its answer under a name of its own, which is deleted after it.
== RLock: the latch of an unlock
ours acquire -> ok
ours release -> ok
ear seen "set" "redisson_unlock_latch:{$K}: -> /"redisson_unlock_latch:[{].*[}]:[0-9a-f]{32}" "1" "px" "18000"/
ours ping -> ok
ear seen "DEL" "redisson_unlock_latch:{$K}: => FIRST
ours acquire -> ok
ours release -> ok
ours ping -> ok
ear seen "DEL" "redisson_unlock_latch:{$K}: => SECOND
sh echo "$FIRST" -> /latch/
sh [ "${FIRST##*latch}" != "${SECOND##*latch}" ] && echo another -> another
names ->

== they hold, ours waits
with redis-reentrant
with redis-fenced
they_lock 60000 $THEM -> got
ours try -> busy
redis PUBSUB CHANNELS ->
ours wait 50ms -> timeout
soon redis PUBSUB CHANNELS ->
ours release -> lost
ours wakeups => WAKEUPS
ours commands => COMMANDS
ours begin
soon redis PUBSUB NUMSUB "redisson_lock__channel:{$K}" -> redisson_lock__channel:{$K} 1
ours waits
# It asks, subscribes, and asks again, for it may have been freed in between.
ours commands -> $COMMANDS+3
they_unlock -> 1
ours end -> ok
ours wakeups -> $WAKEUPS+1
soon redis PUBSUB CHANNELS ->
# Without a message the waiter gets the lock when their lease ends.
ours release -> ok
they_lock 300 $THEM -> got
ours acquire -> ok
ours release -> ok

== RLock: ours holds, they wait
ours has lease=60s
ours acquire -> ok
they_lock 30000 $THEM -> 50001 to 60000
they_unlock -> not theirs
ear heard ->
ours release -> ok
ear heard -> redisson_lock__channel:{$K}=0
they_lock 30000 $THEM -> got
ours release -> lost
ours renew 1s -> lost
redis PTTL $K -> 20000 to 30000
# Another type under the same name is no lock.
redis SET $K x -> OK
ours try -> refused
ours error -> /WRONGTYPE/

== RFencedLock: the token
with redis-fenced
ours acquire -> ok
ours token -> 1
names -> $K redisson_lock_token:{$K}
redis GET "redisson_lock_token:{$K}" -> 1
redis PTTL "redisson_lock_token:{$K}" -> -1
other try -> busy
redis GET "redisson_lock_token:{$K}" -> 1
ours has held=1
ours acquire -> ok
ours token -> 2
ours release -> ok
ours has held=0
ours release -> ok
ear heard -> redisson_lock__channel:{$K}=0
other try -> ok
other token -> 3
other release -> ok
soon names -> redisson_lock_token:{$K}

== RSemaphore
with redis-semaphore
one has bound=3
two has bound=3 permits=2
three has bound=3
one acquire -> ok
ear heard -> redisson_sc:{$K}=3
names -> $K
redis TYPE $K -> string
redis GET $K -> 2
redis PTTL $K -> -1
two acquire -> ok
redis GET $K -> 0
three try -> busy
three release -> lost
redis GET $K -> 0
two release -> ok
redis GET $K -> 2
ear heard -> redisson_sc:{$K}=2
two release -> lost
redis GET $K -> 2
# They take all that is left, and give it back while ours waits.
redis DECRBY $K 2 -> 0
two begin
soon redis PUBSUB NUMSUB "redisson_sc:{$K}" -> redisson_sc:{$K} 1
two waits
redis EVAL "redis.call('publish', KEYS[2], redis.call('incrby', KEYS[1], ARGV[1]))" 2 $K "redisson_sc:{$K}" 2 ->
two end -> ok
two release -> ok
one release -> ok
redis GET $K -> 3
soon redis PUBSUB CHANNELS ->
names -> $K

== RPermitExpirableSemaphore: what is on the server
with redis-permit
one has bound=3 lease=60s
two has bound=3 lease=90s permits=2
one acquire -> ok
ear heard -> redisson_sc:{$K}=3
names -> $K {$K}:timeout
redis GET $K -> 2
redis TYPE "{$K}:timeout" -> zset
redis PTTL "{$K}:timeout" -> -1
redis EVAL "return #redis.call('zrange',KEYS[1],0,0)[1]" 1 "{$K}:timeout" -> 16
redis EVAL "return redis.call('zrange',KEYS[1],0,0,'withscores')[2]" 1 "{$K}:timeout" -> $WALL+50000 to $WALL+60001
two acquire -> ok
redis GET $K -> 0
redis ZCARD "{$K}:timeout" -> 3
# Renewed, it is the last to end.
one renew 300s -> ok
redis ZCOUNT "{$K}:timeout" $((WALL + 290000)) $((WALL + 300500)) -> 1
two release -> ok
redis GET $K -> 2
ear heard -> redisson_sc:{$K}=2
redis ZCARD "{$K}:timeout" -> 1
two release -> lost
one release -> ok
ear heard -> redisson_sc:{$K}=3
names -> $K
one release -> lost
one renew 1s -> lost
redis GET $K -> 3

# Theirs is out, and ends soon: ours is told when, and waits for no message.
== RPermitExpirableSemaphore: permits end
with redis-permit
ours has lease=60s key=K
ear heard -> redisson_sc:{$K}=1
redis DECR $K -> 0
sh echo $((WALL + 300)) => END
redis ZADD "{$K}:timeout" $END 0123456789abcdef -> 1
ours try -> busy
ours acquire -> ok
sh echo $WALL -> > $END-1
redis GET $K -> 0
redis ZCARD "{$K}:timeout" -> 1
redis ZSCORE "{$K}:timeout" 0123456789abcdef ->
ear heard -> redisson_sc:{$K}=1
# A permit of ours that has ended is freed by the next client that asks, and is not ours any more.
ours release -> ok
ours has lease=200ms
ours acquire -> ok
next acquire -> ok
ours release -> lost
redis GET $K -> 0
next release -> ok
redis GET $K -> 1
# A permit without an end has no nearest one: only a message helps.
redis DECR $K -> 0
redis ZADD "{$K}:timeout" 922337203685477 0123456789abcdef -> 1
ours begin
soon redis PUBSUB NUMSUB "redisson_sc:{$K}" -> redisson_sc:{$K} 1
redis ZREM "{$K}:timeout" 0123456789abcdef -> 1
redis INCR $K -> 1
redis PUBLISH "redisson_sc:{$K}" 1 -> 2
ours end -> ok
ours release -> ok
names -> $K

# A client that does not want to wait is in no queue.
== RFairLock: three wait in their order
with redis-fair
define CHANNEL redisson_lock__channel
holder has lease=60s
holder acquire -> ok
names -> $K
redis PTTL $K -> 50000 to 60000
first try -> busy
names -> $K
first begin
soon redis LLEN "redisson_lock_queue:{$K}" -> 1
redis LINDEX "redisson_lock_queue:{$K}" 0 => A
soon redis PUBSUB NUMSUB "$CHANNEL:{$K}:$A" -> $CHANNEL:{$K}:$A 1
second begin
soon redis LLEN "redisson_lock_queue:{$K}" -> 2
redis LINDEX "redisson_lock_queue:{$K}" 1 => B
soon redis PUBSUB NUMSUB "$CHANNEL:{$K}:$B" -> $CHANNEL:{$K}:$B 1
third begin
soon redis LLEN "redisson_lock_queue:{$K}" -> 3
redis LINDEX "redisson_lock_queue:{$K}" 2 => C
soon redis PUBSUB NUMSUB "$CHANNEL:{$K}:$C" -> $CHANNEL:{$K}:$C 1
names -> $K redisson_lock_queue:{$K} redisson_lock_timeout:{$K}
sh echo $A -> /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[1-9][0-9]*$/
redis TYPE "redisson_lock_queue:{$K}" -> list
redis TYPE "redisson_lock_timeout:{$K}" -> zset
redis ZRANGE "redisson_lock_timeout:{$K}" 0 -1 -> $A $B $C
# Each waiter counts as alive until its wait (30 s) after the time of the waiter before it; the first one until its wait after
# the lease.
redis ZSCORE "redisson_lock_timeout:{$K}" $A -> $WALL+70000 to $WALL+90000
redis ZSCORE "redisson_lock_timeout:{$K}" $B -> $WALL+100000 to $WALL+120000
redis ZSCORE "redisson_lock_timeout:{$K}" $C => BEFORE
# Only the head of the queue gets a message, on a channel of its own; the times of the others become shorter by its wait.
holder release -> ok
first end -> ok
ear heard -> $CHANNEL:{$K}:$A=0
redis LRANGE "redisson_lock_queue:{$K}" 0 -1 -> $B $C
redis ZSCORE "redisson_lock_timeout:{$K}" $C -> $BEFORE-31000 to $BEFORE-29000
second waits
third waits
first release -> ok
second end -> ok
third waits
second release -> ok
third end -> ok
ear heard -> $CHANNEL:{$K}:$B=0 $CHANNEL:{$K}:$C=0
third release -> ok
ear heard ->
soon names ->
soon redis PUBSUB CHANNELS ->

== RFairLock: ours behind them
with redis-fair
holder acquire -> ok
they_queue 60000 $WALL
ours begin
soon redis LLEN "redisson_lock_queue:{$K}" -> 2
redis LINDEX "redisson_lock_queue:{$K}" 1 => MINE
soon redis PUBSUB NUMSUB "redisson_lock__channel:{$K}:$MINE" -> redisson_lock__channel:{$K}:$MINE 1
holder release -> ok
ear heard -> redisson_lock__channel:{$K}:$THEM=0
# Free, but it is their turn, not ours nor the holder's.
holder try -> busy
ours waits
redis EXISTS $K -> 0
# They take it and free it, as their scripts do, and tell us.
redis LPOP "redisson_lock_queue:{$K}" -> $THEM
redis ZREM "redisson_lock_timeout:{$K}" $THEM -> 1
redis HSET $K $THEM 1 -> 1
redis DEL $K -> 1
redis PUBLISH "redisson_lock__channel:{$K}:$MINE" 0 -> 2
ours end -> ok
ours release -> ok
soon names ->

== RFairLock: a dead head keeps its place until the end of the wait that it stated
with redis-fair
holder has lease=200ms
holder acquire -> ok
they_queue 400 $WALL
redis ZSCORE "redisson_lock_timeout:{$K}" $THEM => OVER
ours acquire -> ok
sh echo $WALL -> > $OVER-1
names -> $K
ours release -> ok
soon names ->

# They move up, and their time becomes shorter.
== RFairLock: ours waits in front of them and gives up
with redis-fair
holder acquire -> ok
ours begin 300ms
soon redis LLEN "redisson_lock_queue:{$K}" -> 1
they_queue 60000 $WALL
redis ZSCORE "redisson_lock_timeout:{$K}" $THEM => BEFORE
ours end -> timeout
redis LRANGE "redisson_lock_queue:{$K}" 0 -1 -> $THEM
redis ZRANGE "redisson_lock_timeout:{$K}" 0 -1 -> $THEM
redis ZSCORE "redisson_lock_timeout:{$K}" $THEM -> $BEFORE-300 to $BEFORE-1
soon redis PUBSUB CHANNELS ->
redis DEL "redisson_lock_queue:{$K}" "redisson_lock_timeout:{$K}" -> 2
ours wait 20ms -> timeout
names -> $K
holder release -> ok

# The real client is told that it freed a lock which had expired. Ours gets LOST, and sends the head of the queue its message.
== RFairLock: what had expired
with redis-fair
ours acquire -> ok
redis RPUSH "redisson_lock_queue:{$K}" $THEM -> 1
redis ZADD "redisson_lock_timeout:{$K}" $((WALL + 90000)) $THEM -> 1
redis DEL $K -> 1
ours renew 1s -> lost
ours release -> lost
ear heard -> redisson_lock__channel:{$K}:$THEM=0
ear seen "set" "redisson_unlock_latch: -> /"1" "px" "18000"/

== RReadWriteLock: readers
with redis-rwlock
one has shared=1 lease=60s
two has shared=1 lease=20s
one acquire -> ok
redis EVAL "$HOLDER_OF" 1 $K => A
sh echo $A -> /^[0-9a-f-]{36}:[1-9][0-9]*$/
redis HGET $K mode -> read
redis HLEN $K -> 2
redis HGET $K $A -> 1
names -> $K {$K}:$A:rwlock_timeout:1
redis GET "{$K}:$A:rwlock_timeout:1" -> 1
redis PTTL "{$K}:$A:rwlock_timeout:1" -> 50000 to 60000
redis PTTL $K -> 50000 to 60000
# A second reader, for less time, and the first once more.
two acquire -> ok
redis HLEN $K -> 3
redis PTTL $K -> 50000 to 60000
one has held=1
one acquire -> ok
redis HGET $K $A -> 2
redis GET "{$K}:$A:rwlock_timeout:2" -> 1
writer try -> busy
writer wait 20ms -> timeout
one release -> ok
redis EXISTS "{$K}:$A:rwlock_timeout:2" -> 0
redis EXISTS "{$K}:$A:rwlock_timeout:1" -> 1
one has held=0
one release -> ok
# What is left is the second reader's time; nobody was told yet.
redis EXISTS "{$K}:$A:rwlock_timeout:1" -> 0
redis HLEN $K -> 2
redis PTTL $K -> 10000 to 20000
ear heard ->
two renew 90s -> ok
redis PTTL $K -> 80000 to 90000
# The writer is told by the last one.
writer begin
soon redis PUBSUB NUMSUB "redisson_rwlock:{$K}" -> redisson_rwlock:{$K} 1
two release -> ok
writer end -> ok
ear heard -> redisson_rwlock:{$K}=0
writer release -> ok
ear heard -> redisson_rwlock:{$K}=1
soon names ->
two release -> lost
writer release -> lost

== RReadWriteLock: a writer
with redis-rwlock
reader has shared=1
ours has lease=60s
ours acquire -> ok
redis EVAL "$HOLDER_OF" 1 $K => A
sh echo $A -> /^[0-9a-f-]{36}:[1-9][0-9]*:write$/
redis HGET $K mode -> write
names -> $K
reader try -> busy
# Once more: the leases add up.
ours has held=1
ours acquire -> ok
redis HGET $K $A -> 2
redis PTTL $K -> 110000 to 120000
ours release -> ok
redis PTTL $K -> 50000 to 60000
ear heard ->
# It reads as well, and lets go of writing: the mode is read then, and nobody is told.
reader begin 400ms
soon redis PUBSUB NUMSUB "redisson_rwlock:{$K}" -> redisson_rwlock:{$K} 1
ours has shared=1 held=0
ours acquire -> ok
redis HGET $K mode -> write
redis HLEN $K -> 3
ours has shared=0
ours release -> ok
redis HGET $K mode -> read
redis HLEN $K -> 2
ear heard ->
reader end -> timeout
# A new reader gets in.
reader try -> ok
reader release -> ok
ours has shared=1
ours release -> ok
ear heard -> redisson_rwlock:{$K}=0
soon names ->

== RReadWriteLock: they write
with redis-rwlock
define THEY_WRITE if redis.call('hget', KEYS[1], 'mode') == false then redis.call('hset', KEYS[1], 'mode', 'write'); redis.call('hset', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return 'got'; end; return redis.call('pttl', KEYS[1]);
one has shared=1
two has shared=1
redis EVAL "$THEY_WRITE" 1 $K 60000 $THEM:write -> got
one begin
two begin
soon redis PUBSUB NUMSUB "redisson_rwlock:{$K}" -> redisson_rwlock:{$K} 2
one waits
two waits
redis DEL $K -> 1
redis PUBLISH "redisson_rwlock:{$K}" 1 -> 3
one end -> ok
two end -> ok
redis EVAL "$THEY_WRITE" 1 $K 60000 $THEM:write -> 1 to 60000
one release -> ok
two release -> ok
redis EVAL "$THEY_WRITE" 1 $K 60000 $THEM:write -> got
one try -> busy

# What comes only once, as scripts and the second connection, comes before. Then two waiters send four tries and a SUBSCRIBE.
== RLock: the waiters of a session share a subscription
define CHANNEL redisson_lock__channel:{$K}
they_lock 60000 $THEM -> got
one wait 50ms -> timeout
soon redis PUBSUB CHANNELS ->
ear seen "UNSUBSCRIBE" "$CHANNEL" -> /UNSUBSCRIBE/
two on one
one commands => COMMANDS
one begin
two begin
soon redis PUBSUB NUMSUB $CHANNEL -> $CHANNEL 1
sleep 50ms
one waits
two waits
one commands -> $COMMANDS+5
they_unlock -> 1
one end -> ok
one release -> ok
two end -> ok
two release -> ok
soon redis PUBSUB CHANNELS ->
ear seen "UNSUBSCRIBE" "$CHANNEL" -> /UNSUBSCRIBE/
ear seen "UNSUBSCRIBE" ->
soon names ->

== RFairLock: who gives up at once leaves the queue
with redis-fair
holder acquire -> ok
ours try -> busy
ours wait_in_vain -> timeout
names -> $K
holder release -> ok

# The cut-off of a run leaves no time for answers. A waiter that just asked once more may be in doubt.
== RFairLock: the cut-off leaves no place in the queue, and no subscription
with redis-fair
holder acquire -> ok
ours begin
soon redis LLEN "redisson_lock_queue:{$K}" -> 1
redis LINDEX "redisson_lock_queue:{$K}" 0 => MINE
soon redis PUBSUB NUMSUB "redisson_lock__channel:{$K}:$MINE" -> redisson_lock__channel:{$K}:$MINE 1
sleep 50ms
cutoff now
ours end -> /timeout|broken/
cutoff never
soon names -> $K
soon redis PUBSUB CHANNELS ->

# A cluster would tell a plain message to every node.
== RLock: a cluster's channel is that of a shard
with redis-reentrant on redis-cluster
tool ears ears() { for port in $PORTS; do redis-cli --raw -p $port PUBSUB $1 "redisson_lock__channel:{$K}" | tail -n 1; done | awk '{ sum += $1 } END { print sum }'; }; ears
holder has lease=600s
holder acquire -> ok
waiter begin
soon ears SHARDNUMSUB -> 1
ears NUMSUB -> 0
holder release -> ok
waiter end -> ok
waiter release -> ok
soon ears SHARDNUMSUB -> 0

# The old node drops its channels' subscribers: a waiter would hear nothing any more, and must notice that.
== RLock: the slot moves while somebody waits
with redis-reentrant on redis-cluster
tool ears ears() { for port in $PORTS; do redis-cli --raw -p $port PUBSUB $1 "redisson_lock__channel:{$K}" | tail -n 1; done | awk '{ sum += $1 } END { print sum }'; }; ears
tool on on() { eval port=\$PORT$1; shift; redis-cli --raw -p $port "$@"; }; on
holder has lease=600s
holder acquire -> ok
waiter begin
soon ears SHARDNUMSUB -> 1
sleep 50ms
redis CLUSTER KEYSLOT $K => SLOT
sh echo $((SLOT <= 5460 ? 0 : SLOT <= 10922 ? 1 : 2)) => FROM
sh echo $(((FROM + 1) % 3)) => TO
on $FROM CLUSTER MYID => FROM_ID
on $TO CLUSTER MYID => TO_ID
on $TO CLUSTER SETSLOT $SLOT IMPORTING $FROM_ID -> OK
on $FROM CLUSTER SETSLOT $SLOT MIGRATING $TO_ID -> OK
on $FROM MIGRATE 127.0.0.1 $(eval echo \$PORT$TO) $K 0 5000 AUTH $REDISCLI_AUTH -> OK
on $TO CLUSTER SETSLOT $SLOT NODE $TO_ID -> OK
on $FROM CLUSTER SETSLOT $SLOT NODE $TO_ID -> OK
waiter end -> broken
holder release -> ok

== RLock: what no replica acknowledges is not acquired
with redis-reentrant on redis-replicas
ours acquire -> ok
ear seen "WAIT" "2" "1000" -> /WAIT/
ours release -> ok
server stop 1
server stop 2
ours try -> broken
ours error -> /no replica/
server go 1
server go 2
redis EXISTS $K -> 0
