#!/usr/bin/python3
"""redis-py's Lock as a client of lockbench's lock `exec` (../README.md). Debian: python3-redis.
usage: /usr/bin/python3 redis_py.py

Three things are ours, not the library's: the moment before each SET is noted, since a lease counts from there; a wait
that redis-py gives up early (it does not sleep beyond its deadline) is slept to its end; a lost connection is an
outcome in doubt.
"""
import json
import os
import sys
import time

import redis
from redis.exceptions import LockError
from redis.lock import Lock


class Timed(Lock):
    def do_acquire(self, token):
        self.asked = time.monotonic()
        return super().do_acquire(token)


class Client:
    def __init__(self):
        self.redis = None
        self.held = {}

    def open(self, _):
        self.redis = redis.Redis.from_url(os.environ["LOCKBENCH_URL"], socket_timeout=4)
        server = self.redis.info("server")["redis_version"]
        return {"outcome": "ok", "version": f"redis-py {redis.__version__} on Redis {server}"}

    def take(self, asked, wait_ms):
        began = time.monotonic()
        lock = Timed(self.redis, asked["key"], timeout=asked["lease"] / 1000, sleep=0.01, thread_local=False)
        wait = None if wait_ms is None else wait_ms / 1000
        if not lock.acquire(blocking=wait != 0, blocking_timeout=wait):
            if wait == 0:
                return {"outcome": "busy"}
            time.sleep(max(0, began + wait - time.monotonic()))
            return {"outcome": "timeout"}
        self.held[asked["key"]] = lock
        return {"outcome": "ok", "lease": (lock.asked - began) * 1000 + asked["lease"]}

    def acquire(self, asked):
        return self.take(asked, asked["deadline"])

    def attempt(self, asked):
        return self.take(asked, 0)

    def release(self, asked):
        lock = self.held.pop(asked["key"], None)
        if lock is None:
            return {"outcome": "lost"}
        lock.release()
        return {"outcome": "ok"}

    def renew(self, asked):
        lock = self.held.get(asked["key"])
        if lock is None:
            return {"outcome": "lost"}
        lock.extend(asked["lease"] / 1000, replace_ttl=True)
        return {"outcome": "ok", "lease": asked["lease"]}

    def ping(self, _):
        self.redis.ping()
        return {"outcome": "ok"}

    def residue(self, asked):
        if "count" in asked:
            left = [asked["prefix"] + str(i) for i in range(asked["count"])]
            left = [key for key in left if self.redis.exists(key)]
        else:
            left = [key.decode() for key in self.redis.scan_iter(asked["prefix"] + "*", 1000)]
        return {"outcome": "ok", "count": len(left), "example": f"key {left[0]}" if left else ""}


def main():
    client = Client()
    calls = {"try": client.attempt}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "close":
            break
        try:
            answer = (calls.get(asked["do"]) or getattr(client, asked["do"]))(asked)
        except LockError:
            answer = {"outcome": "lost"}
        except redis.RedisError as error:
            answer = {"outcome": "unknown", "why": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
