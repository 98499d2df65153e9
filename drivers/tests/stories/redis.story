# redis-setnx and redis-redlock against the clients whose protocol they speak: redis-cli as redis.io tells it, redis-py's Lock
# and node-redlock (drivers/tests/foreign). Each excludes the other, both ways, by release and by the end of a lease; and the
# key is as the documentation says.
tool redis redis-cli --raw -p $PORT
program theirs $THEIRS $PORTS
needs command -v redis-cli >/dev/null | redis-tools
needs /usr/bin/python3 -c 'import redis' | python3-redis
needs sh drivers/exec/examples/node_modules.sh | node-redlock: nodejs and npm
before redis-cli -p $PORT FLUSHALL
with redis-setnx THEIRS=drivers/tests/foreign/redis_cli.sh
with redis-setnx THEIRS=drivers/tests/foreign/redis_py.py
with redis-setnx THEIRS=drivers/tests/foreign/node_redlock.mjs
with redis-redlock THEIRS=drivers/tests/foreign/node_redlock.mjs

== theirs holds, ours waits
theirs acquire $K 60000 -> ok
ours try -> busy
ours wait 100ms -> timeout
ours release -> lost
ours renew 1s -> lost
ours begin
ours waits
theirs extend 90000 -> ok
theirs release -> ok
ours end -> ok
ours release -> ok

== ours holds, theirs waits
ours has lease=60s
ours acquire -> ok
theirs acquire $K 60000 -> busy
theirs tell wait $K 60000
sleep 200ms
theirs is silent
ours renew 60s -> ok
ours release -> ok
theirs says -> ok
ours try -> busy
theirs release -> ok
ours try -> ok
ours release -> ok

# A late release never frees the next holder's lock, whichever of the two clients is late.
== a lease ends
ours has lease=60s
theirs acquire $K 300 -> ok
ours acquire -> ok
theirs release -> lost
theirs acquire $K 60000 -> busy
ours release -> ok
ours has lease=300ms
ours acquire -> ok
theirs wait $K 60000 -> ok
ours release -> lost
ours try -> busy
theirs release -> ok

== the key is as documented
with redis-setnx
ours has lease=60s
ours acquire -> ok
redis TYPE $K -> string
redis GET $K -> /^[0-9a-f]{40}$/
redis PTTL $K -> 1 to 60000
ours renew 120s -> ok
redis PTTL $K -> 60001 to 120000
ours release -> ok
redis EXISTS $K -> 0

# A key of another type is no lock, and the error says so.
== a key that somebody deletes by hand is lost to its holder
with redis-setnx
ours acquire -> ok
redis DEL $K -> 1
redis SET $K by-hand NX PX 60000 -> OK
ours renew 1s -> lost
ours release -> lost
redis GET $K -> by-hand
redis DEL $K -> 1
ours acquire -> ok
redis DEL $K -> 1
redis RPUSH $K x -> 1
ours release -> refused
ours error -> /WRONGTYPE/

# The additional command is counted.
== a script that the server has forgotten is sent again
with redis-setnx
ours acquire -> ok
redis SCRIPT FLUSH -> OK
ours commands => BEFORE
ours release -> ok
ours commands -> $BEFORE+2
