#!/usr/bin/python3
"""Plays a section of tls.cases: tls.py BACKEND LOCK SECTION. The servers' ports are in the environment, P0 to P5, and the certificates
in $DIR/certs. Prints how many passed, or what is wrong with the first that did not. The words of $HIDDEN must be in no output."""
import os
import subprocess
import sys
from string import Template

backend, lock, *words = sys.argv[1:]
folder, wanted, section = os.environ["DIR"], " ".join(words), None
environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"HOME": folder}
names = {}


def play(name, server, url, sets, code, *words):
    args = [os.environ["LOCKBENCH_PROGRAM"], "run", "smoke", "--lock", lock, "--no-page", "--out", folder + "/out"]
    args += ["--set", "load.clients=2", "--set", "load.think=10ms"]
    args += ["--url", "%s=%s" % (backend, url.replace("%d", os.environ["P" + server]))]
    for option in sets.split():
        if option != "-":
            option = option if option.startswith("tls_verify=") else option.replace("=", "=%s/certs/" % folder, 1)
            args += ["--set", "%s.%s" % (backend, option)]
    subprocess.run(["rm", "-rf", folder + "/out"], check=True)
    ran = subprocess.run(args, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    said = open(folder + "/out/run.json").read() if ran.returncode == 0 else ran.stderr
    problems = [line for line in ran.stderr.split("\n") if line.startswith("lockbench: ")]
    missing = [word for word in words if word not in said]
    shown = [word for word in [names["SECRET"]] + os.environ.get("HIDDEN", "").split() if word in said + ran.stdout + ran.stderr]
    if ran.returncode != int(code) or missing or shown or (code != "0" and len(problems) != 1):
        sys.exit(print("%s: exit code %d, lacks %s, shows %d secrets: %s" % (name, ran.returncode, missing, len(shown), ran.stderr)))


played = 0
for line in open("drivers/tests/tls.cases"):
    line = Template(line.rstrip("\n")).safe_substitute(names)
    if line.startswith("== "):
        section = line[3:]
    elif section is None and not line.startswith("#") and " = " in line:
        name, text = line.split(" = ", 1)
        names[name] = text
    elif section == wanted and " | " in line:
        play(*line.split(" | "))
        played += 1
print(played, "passed")
