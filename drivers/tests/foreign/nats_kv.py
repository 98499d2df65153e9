#!/usr/bin/python3
"""NATS's own client, libnats, told line by line what to do with the keys of a bucket; the server's URL is the argument. "create" and
"update" answer with the new revision, or 0, "get" with the value and its revision."""
import ctypes
import ctypes.util
import sys

nats = ctypes.CDLL(ctypes.util.find_library("nats"))
nats.kvEntry_ValueString.restype = nats.natsStatus_GetText.restype = ctypes.c_char_p
nats.kvEntry_Revision.restype = ctypes.c_uint64


def text(status):
    return nats.natsStatus_GetText(status).decode() if status else "ok"


def new(function, *words):
    made = ctypes.c_void_p()
    status = function(ctypes.byref(made), *words)
    return made if status == 0 else sys.exit(text(status))


def do(word, key, revision=0):
    if word in ("create", "update"):
        made, last = ctypes.c_uint64(), [ctypes.c_uint64(int(revision))] if word == "update" else []
        write = nats.kvStore_UpdateString if last else nats.kvStore_CreateString
        return made.value if write(ctypes.byref(made), bucket, key, b"theirs", *last) == 0 else 0
    if word == "get":
        entry = new(nats.kvStore_Get, bucket, key)
        return "%s %d" % (nats.kvEntry_ValueString(entry).decode(), nats.kvEntry_Revision(entry))
    return text(nats.kvStore_Delete(bucket, key) if word == "delete" else nats.kvStore_Purge(bucket, key, None))


jetstream = new(nats.natsConnection_JetStream, new(nats.natsConnection_ConnectTo, sys.argv[1].encode()), None)
print("ready", flush=True)
for line in sys.stdin:
    word, key, *revision = line.split()
    if word == "bucket":
        bucket = new(nats.js_KeyValue, jetstream, key.encode())
        print("ok", flush=True)
    else:
        print(do(word, key.encode(), *revision), flush=True)
