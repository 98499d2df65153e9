#!/usr/bin/python3
"""SQLite by hand, told statements line by line; the file is the argument. Answers with a row's first column, "ok" or the error."""
import sqlite3
import sys

db = None
print("ready", flush=True)
for line in sys.stdin:
    try:
        db = db or sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
        row = db.execute(line).fetchone()
        print("ok" if row is None else row[0], flush=True)
    except sqlite3.Error as error:
        print(error, flush=True)
