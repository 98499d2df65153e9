"""zk_kazoo: kazoo's Lock, for tests. Lines on stdin: "ACTOR acquire KIND PATH WAIT_S" and "ACTOR release"; answers
as ZkForeign.java's, at once and in order (an actor that waits holds up the others). And what is there: "nodes PATH" (the
names of its children, in their order), "get PATH", "container PATH" (whether it was made as one), "make PATH", "drop PATH".

KIND: lock = kazoo's own names, told to respect Curator's (extra_lock_patterns); named = the same recipe with
Curator's node name in the place of kazoo's.

usage: zk_kazoo.py HOST:PORT [NAME]
"""
import glob
import re
import struct
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout, NoNodeError
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


def nodes(client, path):
    try:
        return " ".join(sorted(client.get_children(path)))
    except NoNodeError:
        return ""


def get(client, path):
    data, stat = client.get(path)
    return "%s %d %s" % (data.decode(), stat.czxid, "ephemeral" if stat.ephemeralOwner else "stays")


def container(client, path):
    """No answer of the server's tells containers from other nodes: its log has the creation (type 19) and the path's length."""
    folder = re.search("dataLogDir=(.*)", client.command(b"conf")).group(1)
    record = struct.pack(">ii", 19, len(path)) + path.encode()
    return "yes" if any(record in open(name, "rb").read() for name in glob.glob(folder + "/log.*")) else "no"


def make(client, path):
    client.create(path, ephemeral=True, sequence=True)
    return "made"


def drop(client, path):
    client.delete(path, recursive=True)
    return "gone"


def main():
    client = KazooClient(hosts=sys.argv[1])
    client.start()
    held = {}
    print("ready", flush=True)
    for line in sys.stdin:
        actor, what, *rest = line.split()
        if not rest and what != "release":
            print(globals()[actor](client, what), flush=True)
            continue
        if what == "release":
            held.pop(actor).release()
            print(actor, "released", flush=True)
            continue
        lock = acquire(client, rest[0], rest[1], float(rest[2]))
        if lock:
            held[actor] = lock
        print(actor, "acquired" if lock else "busy", flush=True)


main()
