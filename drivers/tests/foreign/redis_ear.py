#!/usr/bin/python3
"""What others do on a Redis server; its port is the argument. Lines: "anew" empties the server and forgets all; "heard" answers
with all that was published since the last time; "seen PART" with the next command with this in it that the server has run."""
import os
import socket
import sys


class Connection:
    def __init__(self):
        self.file = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rwb")
        self.ask("AUTH", os.environ["REDISCLI_AUTH"])

    def ask(self, *words):
        self.file.write(b"*%d\r\n" % len(words))
        for word in words:
            self.file.write(b"$%d\r\n%s\r\n" % (len(word), word.encode()))
        self.file.flush()
        return self.read()

    def read(self):
        line = self.file.readline()[:-2].decode()
        if line[0] == "*":
            return [self.read() for _ in range(int(line[1:]))]
        return self.file.read(int(line[1:]) + 2)[:-2].decode() if line[0] == "$" else line[1:]


def heard():
    hand.ask("PUBLISH", mark, "x")
    messages = iter(lambda: "=".join(ear.read()[2:]), mark + "=x")
    return " ".join(messages)


def seen(part):
    hand.ask("ECHO", mark)
    commands = iter(eye.read, None)
    return next(command for command in commands if mark in command or part in command)


hand, ear, eye = Connection(), Connection(), Connection()
ear.ask("PSUBSCRIBE", "*")
eye.ask("MONITOR")
print("ready", flush=True)
for number, line in enumerate(sys.stdin):
    word, _, part = line.rstrip("\n").partition(" ")
    mark = "end-of-%d-" % number
    if word == "heard":
        answer = heard()
    elif word == "seen":
        answer = seen(part)
        answer = "" if mark in answer else answer
    else:
        hand.ask("FLUSHALL")
        heard()
        seen(mark)
        answer = "ok"
    print(answer, flush=True)
