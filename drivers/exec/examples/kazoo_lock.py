#!/usr/bin/python3
"""kazoo's Lock as a client of lockbench's lock `exec-session` (../README.md). Debian: python3-kazoo.
usage: /usr/bin/python3 kazoo_lock.py

A grant lives as long as the ZooKeeper session, so it has no lease. kazoo tells that its session is over (LOST) only when
it is connected again; its documentation says to listen for the end of the connection (SUSPENDED) too, and so we do. Its
release deletes the node by whatever session there is then, and says yes where there was none: so we ask whether it told.
kazoo's acquire also returns False where its connection is lost and its node may be left in the queue: that is an outcome
in doubt.
"""
import json
import os
import sys
import threading
import time
from urllib.parse import quote, unquote

import kazoo
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, LockTimeout
from kazoo.handlers.threading import KazooTimeoutError

ROOT = "/lockbench-exec"
writing = threading.Lock()
lost = threading.Event()


def say(words):
    with writing:
        print(json.dumps(words), flush=True)


def watch(state):
    if state in (KazooState.SUSPENDED, KazooState.LOST) and not lost.is_set():
        lost.set()
        say({"event": "lost"})


def path_of(key):
    return f"{ROOT}/k{quote(key, safe='')}"


class Client:
    def __init__(self):
        self.zk = None
        self.held = {}

    def open(self, asked):
        hosts = os.environ["LOCKBENCH_URL"].split("://", 1)[1]
        account, _, hosts = hosts.rpartition("@")
        self.zk = KazooClient(hosts, timeout=asked["lease"] / 1000, auth_data=[("digest", unquote(account))] if account else None)
        self.zk.start(timeout=4)
        self.zk.ensure_path(ROOT)
        self.zk.add_listener(watch)
        # The servers look for ended sessions once a tick, which is 2 s unless they are told otherwise.
        return {
            "outcome": "ok",
            "version": f"kazoo {kazoo.__version__}",
            "lease": self.zk._session_timeout + 2000,
        }

    def take(self, asked, wait_ms):
        began = time.monotonic()
        lock = self.zk.Lock(path_of(asked["key"]))
        try:
            got = lock.acquire(blocking=wait_ms != 0, timeout=wait_ms / 1000 if wait_ms else None)
        except LockTimeout:
            got = False
        if got:
            self.held[asked["key"]] = lock
            return {"outcome": "ok"}
        if not self.zk.connected:
            return {"outcome": "unknown", "why": "not connected"}
        if wait_ms == 0:
            return {"outcome": "busy"}
        time.sleep(max(0, began + wait_ms / 1000 - time.monotonic()))
        return {"outcome": "timeout"}

    def acquire(self, asked):
        return self.take(asked, asked["deadline"])

    def attempt(self, asked):
        return self.take(asked, 0)

    def release(self, asked):
        lock = self.held.pop(asked["key"], None)
        return {"outcome": "ok" if lock and lock.release() and not lost.is_set() else "lost"}

    def ping(self, _):
        self.zk.exists("/")
        return {"outcome": "ok"}

    def residue(self, asked):
        begin = "k" + quote(asked["prefix"], safe="")
        left = []
        for name in self.zk.get_children(ROOT):
            if name.startswith(begin):
                left += [f"{ROOT}/{name}/{child}" for child in self.zk.get_children(f"{ROOT}/{name}")]
        return {"outcome": "ok", "count": len(left), "example": f"znode {left[0]}" if left else ""}


def main():
    client = Client()
    calls = {"try": client.attempt}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "close":
            break
        try:
            answer = (calls.get(asked["do"]) or getattr(client, asked["do"]))(asked)
        except (KazooException, KazooTimeoutError) as error:
            answer = {"outcome": "unknown", "why": f"{type(error).__name__} {error}"}
        say(answer)
    if client.zk:
        client.zk.remove_listener(watch)
        client.zk.stop()


main()
