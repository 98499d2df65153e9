#!/usr/bin/python3
"""redis-py's Lock, told line by line what to do; see node_redlock.mjs. Its server's port is the argument."""
import os
import sys

import redis

client = redis.Redis(port=int(sys.argv[1]), password=os.environ["REDISCLI_AUTH"], socket_timeout=20)
held = None


def obey(word, *rest):
    global held
    if word in ("acquire", "wait"):
        lock = client.lock(rest[0], timeout=int(rest[1]) / 1000, sleep=0.02)
        if not lock.acquire(blocking=word == "wait"):
            return "busy"
        held = lock
        return "ok"
    try:
        if word == "extend":
            held.extend(int(rest[0]) / 1000, replace_ttl=True)
        if word == "release":
            held.release()
        return "ok"
    except redis.exceptions.LockError:
        return "lost"


client.ping()
print("ready", flush=True)
for line in sys.stdin:
    print(obey(*line.split()), flush=True)
