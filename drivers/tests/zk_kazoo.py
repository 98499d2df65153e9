"""zk_kazoo: kazoo's Lock, for tests. Lines on stdin: "ACTOR acquire KIND PATH WAIT_S" and "ACTOR release"; answers
as ZkForeign.java's, at once and in order (an actor that waits holds up the others).

KIND: lock = kazoo's own names, told to respect Curator's (extra_lock_patterns); named = the same recipe with
Curator's node name in the place of kazoo's.

usage: zk_kazoo.py HOST:PORT
"""
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock


class Named(Lock):
    _NODE_NAME = "lock-"
    _EXCLUDE_NAMES = ["lock-"]


def acquire(client, kind, path, wait_s):
    if kind == "lock":
        lock = Lock(client, path, extra_lock_patterns=("lock-",))
    else:
        lock = Named(client, path)
    try:
        if wait_s == 0:
            return lock if lock.acquire(blocking=False) else None
        return lock if lock.acquire(timeout=wait_s) else None
    except LockTimeout:
        return None


def main():
    client = KazooClient(hosts=sys.argv[1])
    client.start()
    held = {}
    print("ready", flush=True)
    for line in sys.stdin:
        actor, what, *rest = line.split()
        if what == "release":
            held.pop(actor).release()
            print(actor, "released", flush=True)
            continue
        lock = acquire(client, rest[0], rest[1], float(rest[2]))
        if lock:
            held[actor] = lock
        print(actor, "acquired" if lock else "busy", flush=True)


main()
