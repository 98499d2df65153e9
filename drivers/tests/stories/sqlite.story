# The SQLite locks against another connection to the same file, which begins transactions and uses the rows by hand.
program sqlite drivers/tests/foreign/sqlite_shell.py $PLACE/key-$K_INDEX.db
define NOW CAST(strftime('%s', 'now') AS INTEGER) * 1000

== a transaction of theirs and ours exclude each other
with sqlite-immediate journal=wal
with sqlite-immediate journal=delete
ours try -> ok
sqlite BEGIN IMMEDIATE -> database is locked
ours try -> busy
ours release -> ok
ours release -> lost
sqlite BEGIN IMMEDIATE -> ok
ours try -> busy
ours wait 10ms -> timeout
ours begin
ours waits
sqlite COMMIT -> ok
ours end -> ok
# A session that ends frees its lock.
ours close
sqlite BEGIN IMMEDIATE -> ok
sqlite COMMIT -> ok

== the row of a table
with sqlite-table journal=wal
with sqlite-table journal=delete
ours has lease=10s
ours try -> ok
sqlite SELECT owner || '/' || CASE WHEN expire_at BETWEEN $NOW AND $NOW + 11000 THEN 'held' ELSE 'odd' END FROM lockbench_table WHERE name = '$K' -> /^[^/]+/held$/
sqlite INSERT INTO lockbench_table VALUES ('$K', 'stranger', $NOW + 3600000) -> /UNIQUE constraint failed/
ours release -> ok
ours release -> lost
sqlite INSERT INTO lockbench_table VALUES ('$K', 'stranger', $NOW + 3600000) -> ok
ours try -> busy
ours wait 30ms -> timeout
ours release -> lost
ours renew 1s -> lost
sqlite SELECT owner FROM lockbench_table -> stranger
sqlite DELETE FROM lockbench_table -> ok

== the client that wants the lock sweeps a dead owner's row
with sqlite-table
ours acquire -> ok
ours release -> ok
sqlite INSERT INTO lockbench_table VALUES ('$K', 'stranger', $NOW - 1000) -> ok
ours try -> ok
ours release -> ok
sqlite SELECT count(*) FROM lockbench_table -> 0

== the version of a row
with sqlite-optimistic journal=wal
with sqlite-optimistic journal=delete
define ROW SELECT version || '/' || value FROM lockbench_version WHERE name = '$K'
ours has key=K
sqlite $ROW -> 1/0
ours try -> ok
ours release -> ok
sqlite $ROW -> 2/1
ours try -> ok
sqlite UPDATE lockbench_version SET value = 70, version = 3 -> ok
ours release -> busy
sqlite $ROW -> 3/70
ours try -> ok
ours release -> ok
ours token -> 4
sqlite $ROW -> 4/71

# Each key has a database of its own, and so a row of its own to remove.
== no row of several keys is left
with sqlite-optimistic
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
sh "$LOCKBENCH_PROGRAM" run smoke --lock sqlite-optimistic --set load.keys=2 --no-page --out $DIR/run >/dev/null 2>&1; echo $? -> 0
sh /usr/bin/python3 -c "import json; s = json.load(open('$DIR/run/run.json'))['stages'][0]; print(s['residue']['count'], s['grants'] > 0)" -> 0 True
