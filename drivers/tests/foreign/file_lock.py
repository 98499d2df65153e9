#!/usr/bin/python3
"""Programs that lock files, told line by line: "take WAY FILE" answers held or busy, then "free" or "kill" ends the holder."""
import subprocess
import sys

LOCKF = ("import fcntl, sys; file = open(sys.argv[1], 'a+'); fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB); "
         "print('held', flush=True); sys.stdin.read()")
WAYS = {
    "flock": ["flock", "--nonblock", "FILE", "sh", "-c", "echo held; cat"],
    "fcntl": ["/usr/bin/python3", "-c", LOCKF, "FILE"],
}

holder = None
print("ready", flush=True)
for line in sys.stdin:
    word, *rest = line.split()
    if word == "take":
        words = [rest[1] if word == "FILE" else word for word in WAYS[rest[0]]]
        holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        answer = "held" if holder.stdout.readline() else "busy"
    else:
        if word == "kill":
            holder.kill()
        holder.stdin.close()
        holder.wait()
        answer = "gone"
    print(answer, flush=True)
