#!/usr/bin/python3
"""`etcdctl lock` as a client of lockbench's lock `exec-session` (../README.md). Debian: etcd-client.
usage: etcdctl_lock.py [--command]

Each grant is a process of its own, `etcdctl lock NAME`. It prints a line once it holds, keeps its lease alive, frees the
lock when it is interrupted, and ends by itself when its lease has ended. With --command it is `etcdctl lock NAME COMMAND`,
as scripts use it: the lock is freed when COMMAND ends, and nobody ends or tells COMMAND when the lease has ended.

etcdctl has no try and no limit for a wait. A try looks first whether anybody is there. A wait is ended by an interrupt,
after which etcdctl leaves the queue, unless its request for a place was still on the way: then its key stays there until
its lease ends. Its key has no name that we know: so an interrupted wait is in doubt if the queue has a new key.
"""
import json
import math
import os
import select
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import quote, unquote

WITH_COMMAND = "--command" in sys.argv
BOUND = ["setpriv", "--pdeathsig", "KILL"]  # it dies with this program
ANSWER_S = 4  # etcdctl must end within this time
TRY_S = 3  # within this time etcdctl gets a lock that is free
writing = threading.Lock()


def say(words):
    with writing:
        print(json.dumps(words), flush=True)


class Doubt(Exception):
    pass


class Grant:
    """One `etcdctl lock` process, which waits for the lock, and then holds it."""

    def __init__(self, name, ttl_s):
        call = [*BOUND, "etcdctl", "lock", f"--ttl={ttl_s}", "--", name]
        if WITH_COMMAND:  # the command prints a line, and ends when the pipe is closed
            self.pipe, self.end_of_pipe = os.pipe()
            call += ["sh", "-c", f"echo held; exec cat /proc/{os.getpid()}/fd/{self.pipe}"]
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        self.process = subprocess.Popen(call, stdin=null, stdout=pipe, stderr=pipe, text=True)
        self.held = self.ending = False

    def holds(self, wait_s):
        if not select.select([self.process.stdout], [], [], wait_s)[0]:
            return False
        if not self.process.stdout.readline():
            raise Doubt(self.process.stderr.read().strip())
        self.held = True
        threading.Thread(target=self.watch, daemon=True).start()
        return True

    def watch(self):
        self.process.wait()
        if not self.ending:
            say({"event": "lost"})

    def end(self):
        """Frees the lock, or leaves the queue."""
        self.ending = True
        if WITH_COMMAND:
            os.close(self.end_of_pipe)
            os.close(self.pipe)
        if not self.held or not WITH_COMMAND:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Doubt("etcdctl does not end") from None
        said = self.process.stderr.read().strip()
        asked = code != -signal.SIGINT  # else it was ended before it asked for the lock
        if code != 0 and (self.held or asked and "context canceled" not in said):
            raise Doubt(said)


def etcdctl(*words):
    done = subprocess.run([*BOUND, "etcdctl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Doubt(done.stderr.strip().splitlines()[-1] if done.stderr else f"etcdctl {words[0]} failed")
    return done.stdout


def name_of(key):
    return quote(key, safe="")


def keys_of(prefix):
    return etcdctl("get", "--prefix", "--keys-only", "--", prefix).split()


class Client:
    def __init__(self):
        self.held = {}

    def open(self, asked):
        url = os.environ["LOCKBENCH_URL"]
        scheme, rest = url.split("://", 1)
        account, _, hosts = rest.rpartition("@")
        if account:
            os.environ["ETCDCTL_USER"] = unquote(account)
        secure = "s" if scheme in ("etcds", "https") else ""
        os.environ["ETCDCTL_ENDPOINTS"] = ",".join(f"http{secure}://{host}" for host in hosts.split(","))
        if "LOCKBENCH_CA" in os.environ:
            os.environ["ETCDCTL_CACERT"] = os.environ["LOCKBENCH_CA"]
        os.environ["ETCDCTL_API"] = "3"
        self.ping(asked)
        version = etcdctl("version").split()[2]
        self.ttl_s = math.ceil(asked["lease"] / 1000)
        # etcd looks for ended leases twice a second.
        return {"outcome": "ok", "version": f"etcdctl {version}", "lease": self.ttl_s * 1000 + 1000}

    def acquire(self, asked):
        if asked["deadline"] is None:
            return self.take(asked, None, [])
        end = time.monotonic() + asked["deadline"] / 1000
        return self.take(asked, end, keys_of(name_of(asked["key"]) + "/"))

    def attempt(self, asked):
        if keys_of(name_of(asked["key"]) + "/"):
            return {"outcome": "busy"}
        answer = self.take(asked, time.monotonic() + TRY_S, [])
        if answer["outcome"] != "ok":
            raise Doubt("etcdctl is not granted what nobody has")
        return answer

    def take(self, asked, end, before):
        """Waits until `end`. `before` has the keys that were in the queue before that."""
        grant = Grant(name_of(asked["key"]), self.ttl_s)
        if grant.holds(end and max(0, end - time.monotonic())):
            self.held[asked["key"]] = grant
            return {"outcome": "ok"}
        grant.end()
        if set(keys_of(name_of(asked["key"]) + "/")) - set(before):
            raise Doubt("etcdctl was interrupted, and a key that is new in the queue may be its own")
        return {"outcome": "timeout"}

    def release(self, asked):
        grant = self.held.pop(asked["key"], None)
        if not grant or grant.process.poll() is not None:
            return {"outcome": "lost"}
        grant.end()
        return {"outcome": "ok"}

    def ping(self, _):
        etcdctl("get", "lockbench")
        return {"outcome": "ok"}

    def residue(self, asked):
        left = keys_of(name_of(asked["prefix"]))
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
        except Doubt as doubt:
            answer = {"outcome": "unknown", "why": str(doubt)}
        say(answer)
    for grant in client.held.values():
        if grant.process.poll() is None:
            grant.end()


main()
