#!/usr/bin/python3
"""Types at a command on a terminal of its own, which answers each line that it reads: a line, Ctrl-Z, another line, Ctrl-C. Prints the
command's exit code, after it has shown "ready" and both answers; the command is the argument."""
import os
import pty
import sys
import time


def until_shown(text):
    shown = ""
    while text not in shown:
        shown += os.read(terminal, 4096).decode()


pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
until_shown("ready")
os.write(terminal, b"one\n")
until_shown("got.one")
os.write(terminal, b"\x1a")
time.sleep(0.1)
os.write(terminal, b"two\n")
until_shown("got.two")
os.write(terminal, b"\x03")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
