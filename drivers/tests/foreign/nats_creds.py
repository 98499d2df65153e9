#!/usr/bin/python3
"""Credentials files for clients of NATS, right and wrong, in the folder that is the argument, and on standard output the settings of a
server that lets in the right one: keys and JWTs as NATS's tool nsc makes them (github.com/nats-io/jwt, version 2)."""
import base64
import binascii
import json
import subprocess
import sys

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3
HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}
NO_LIMITS = {name: -1 for name in ("subs", "data", "payload", "imports", "exports", "conn", "leaf")} | {"wildcards": True}
JETSTREAM = {name: -1 for name in ("mem_storage", "disk_storage", "streams", "consumer")}
folder = sys.argv[1]


def openssl(*words):
    return subprocess.run(["openssl", *words], check=True, capture_output=True).stdout


def sealed(data):
    return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).rstrip(b"=").decode()


def part(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """Of somebody: the same in each test run."""
    def __init__(self, who, digit):
        raw = bytes([digit]) * 32
        self.file = folder + "/key%d.der" % digit
        open(self.file, "wb").write(bytes.fromhex("302e020100300506032b657004220420") + raw)
        self.name = sealed(bytes([who]) + openssl("pkey", "-inform", "DER", "-in", self.file, "-pubout", "-outform", "DER")[-32:])
        self.seed = sealed(bytes([SEED | who >> 5, (who & 31) << 3]) + raw)

    def states(self, subject, nats):
        """A JWT."""
        claims = {"jti": "1", "iat": 1600000000, "iss": self.name, "name": "lockbench test", "sub": subject.name,
                  "nats": nats | {"version": 2}}
        text = ".".join(part(json.dumps(of).encode()) for of in (HEADER, claims))
        open(folder + "/signed", "w").write(text)
        return text + "." + part(openssl("pkeyutl", "-sign", "-inkey", self.file, "-keyform", "DER", "-rawin", "-in", folder + "/signed"))


def write(name, jwt, seed):
    open(folder + "/" + name, "w").write("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
                                         "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n" % (jwt, seed))


operator, account, system, user, other = (Key(who, digit + 1) for digit, who in enumerate((OPERATOR, ACCOUNT, ACCOUNT, USER, USER)))
may_all = {"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user"}
write("right", account.states(user, may_all), user.seed)
write("wrong-seed", account.states(user, may_all), other.seed)
write("no-seed", account.states(user, may_all), "")
write("wrong-issuer", other.states(user, may_all), user.seed)
print("operator:", operator.states(operator, {"type": "operator"}))
print("system_account:", system.name)
print("resolver: MEMORY\nresolver_preload: {")
print(account.name + ":", operator.states(account, {"limits": NO_LIMITS | JETSTREAM, "type": "account"}))
print(system.name + ":", operator.states(system, {"limits": NO_LIMITS, "type": "account"}))
print("}")
