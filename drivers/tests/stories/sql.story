# Our SQL locks against people who take the same lock by hand, through psql and the mariadb shell. Then what only these locks
# have: rows as they should look, a dead owner's row that is swept, a flag that nothing but a release clears.
# DB: pg or my. WAY: how a stranger takes a lock by hand if it is free, which gives 1, or else 0; and frees it.
program shell drivers/tests/foreign/sql_shell.sh $DB $PORT
# its NAME: the text of this name for the database, and for the way.
tool its its() { eval printf %s "\"\$${DB}_$1\""; }; its
define pg_NOW now()
define my_NOW UTC_TIMESTAMP(6)
define pg_HOUR '1 h'
define my_HOUR 1 HOUR
define pg_DONE WITH done AS (
define my_DONE
define pg_COUNT RETURNING 1) SELECT count(*) FROM done;
define my_COUNT ; SELECT ROW_COUNT();
its NOW => NOW
its HOUR => HOUR
its DONE => DONE
its COUNT => COUNT
define take_ROW BEGIN; SELECT count(*) FROM (SELECT 1 FROM lockbench_row WHERE name = '$K' FOR UPDATE SKIP LOCKED) AS found;
define undo_ROW COMMIT;
define free_ROW COMMIT;
define take_XACT BEGIN; SELECT pg_try_advisory_xact_lock($K_NUMBER)::int;
define undo_XACT COMMIT;
define free_XACT COMMIT;
define take_SESSION SELECT pg_try_advisory_lock($K_NUMBER)::int;
define free_SESSION SELECT pg_advisory_unlock($K_NUMBER) \g /dev/null
define take_GET_LOCK SELECT GET_LOCK('$K', 0);
define free_GET_LOCK DO RELEASE_LOCK('$K');
define take_TABLE ${DONE}INSERT INTO lockbench_table SELECT '$K', 'stranger', $NOW + interval $HOUR WHERE NOT EXISTS (SELECT 1 FROM lockbench_table WHERE name = '$K') $COUNT
define free_TABLE DELETE FROM lockbench_table WHERE owner = 'stranger';
define take_LEASE ${DONE}UPDATE lockbench_lease SET owner = 'stranger', fence = fence + 1, expire_at = $NOW + interval $HOUR WHERE name = '$K' AND expire_at <= $NOW $COUNT
define free_LEASE UPDATE lockbench_lease SET expire_at = '2001-01-01' WHERE name = '$K';
define take_FLAG ${DONE}UPDATE lockbench_flag SET locked = true, owner = 'stranger' WHERE name = '$K' AND NOT locked $COUNT
define free_FLAG UPDATE lockbench_flag SET locked = false WHERE name = '$K';

== a stranger and ours exclude each other
with pg-advisory DB=pg WAY=SESSION
with pg-advisory-xact DB=pg WAY=XACT
with pg-row DB=pg WAY=ROW
with pg-nowait DB=pg WAY=ROW
with pg-table DB=pg WAY=TABLE
with pg-lease DB=pg WAY=LEASE
with pg-flag DB=pg WAY=FLAG
with mysql-getlock DB=my WAY=GET_LOCK
with mysql-row DB=my WAY=ROW
with mysql-nowait DB=my WAY=ROW
with mysql-table DB=my WAY=TABLE
with mysql-lease DB=my WAY=LEASE
with mysql-flag DB=my WAY=FLAG
sh eval printf %s "\"\$take_$WAY\"" => TAKE
sh eval printf %s "\"\$undo_$WAY\"" => UNDO
sh eval printf %s "\"\$free_$WAY\"" => FREE
ours try -> ok
ours token => TOKEN
shell $TAKE -> 0
shell tell $UNDO
shell SELECT 'done'; -> done
ours release -> ok
shell $TAKE -> 1
ours try -> busy
ours wait 30ms -> timeout
ours release -> lost
other begin
other waits
shell tell $FREE
shell SELECT 'done'; -> done
other end -> ok
other token -> /./
other release -> ok

# A session that ends frees what it holds in a transaction, or as its own.
== what a stranger held is free when its shell is gone
with pg-advisory DB=pg WAY=SESSION
with pg-row DB=pg WAY=ROW
with mysql-getlock DB=my WAY=GET_LOCK
with mysql-row DB=my WAY=ROW
sh eval printf %s "\"\$take_$WAY\"" => TAKE
ours acquire -> ok
ours release -> ok
shell $TAKE -> 1
ours begin
ours waits
shell dies
ours end -> ok
ours release -> ok

== tokens of strangers and of ours are one sequence
with pg-lease DB=pg
with mysql-lease DB=my
ours try -> ok
ours token => TOKEN
ours release -> ok
shell $take_LEASE -> 1
ours renew 1s -> lost
shell tell $free_LEASE
ours acquire -> ok
ours token -> $TOKEN+2
ours release -> ok

== the row of a table
with pg-table DB=pg
with mysql-table DB=my
define pg_ROW SELECT owner || '/' || CASE WHEN expire_at > now() AND expire_at <= now() + interval '11 s' THEN 'held' ELSE 'odd' END FROM lockbench_table WHERE name = '$K';
define my_ROW SELECT CONCAT(owner, '/', IF(expire_at > UTC_TIMESTAMP(6) AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL 11 SECOND, 'held', 'odd')) FROM lockbench_table WHERE name = '$K';
its ROW => ROW
ours has lease=10s
ours try -> ok
shell $ROW -> /^[^/]+/held$/
shell $take_TABLE -> 0
ours release -> ok
shell SELECT count(*) FROM lockbench_table WHERE name = '$K'; -> 0
# A row that others delete is lost to us, and our calls say so.
ours acquire -> ok
shell tell DELETE FROM lockbench_table WHERE name = '$K';
shell SELECT 'done'; -> done
ours renew 1s -> lost
ours release -> lost

== the client that wants the lock sweeps a dead owner's row
with pg-table DB=pg
with mysql-table DB=my
shell INSERT INTO lockbench_table VALUES ('$K', 'stranger', '2001-01-01'); SELECT 'done'; -> done
ours try -> ok
ours release -> ok
shell SELECT count(*) FROM lockbench_table WHERE name = '$K'; -> 0

# The row stays: it has the fence.
== the row of a lease
with pg-lease DB=pg
with mysql-lease DB=my
define pg_ROW SELECT owner || '/' || fence || '/' || CASE WHEN expire_at > now() THEN 'held' ELSE 'free' END FROM lockbench_lease WHERE name = '$K';
define my_ROW SELECT CONCAT(owner, '/', fence, '/', IF(expire_at > UTC_TIMESTAMP(6), 'held', 'free')) FROM lockbench_lease WHERE name = '$K';
its ROW => ROW
ours try -> ok
ours token -> 1
shell $ROW -> /^[^/]+/1/held$/
ours renew 10s -> ok
shell $ROW -> /^[^/]+/1/held$/
ours release -> ok
shell $ROW -> /^[^/]+/1/free$/

== the version of a row
with pg-optimistic DB=pg
with mysql-optimistic DB=my
define pg_ROW SELECT version || '/' || value FROM lockbench_version WHERE name = '$K';
define my_ROW SELECT CONCAT(version, '/', value) FROM lockbench_version WHERE name = '$K';
its ROW => ROW
ours has key=K
shell $ROW -> 1/0
ours try -> ok
ours release -> ok
shell $ROW -> 2/1
ours try -> ok
ours token -> 2
shell UPDATE lockbench_version SET value = 70, version = version + 1 WHERE name = '$K' AND version = 2; SELECT 'done'; -> done
ours release -> busy
shell $ROW -> 3/70
ours try -> ok
ours release -> ok
ours token -> 4
shell $ROW -> 4/71

# One write between a read and its write is noticed, two are not: of four updates two are lost.
== a value that comes back is not noticed
with unsafe-sql-aba DB=pg
define ROW SELECT version || '/' || value FROM lockbench_version WHERE name = '$K';
slow try -> ok
quick try -> ok
quick release -> ok
shell $ROW -> 2/1
slow release -> busy
slow try -> ok
quick try -> ok
quick release -> ok
quick try -> ok
quick release -> ok
shell $ROW -> 4/1
slow release -> ok
shell $ROW -> 3/0

# Nor does the end of its holder.
== no time clears a flag
with pg-flag DB=pg
with mysql-flag DB=my
define pg_ROW SELECT owner || '/' || CASE WHEN locked THEN 'set' ELSE 'free' END FROM lockbench_flag WHERE name = '$K';
define my_ROW SELECT CONCAT(owner, '/', IF(locked, 'set', 'free')) FROM lockbench_flag WHERE name = '$K';
its ROW => ROW
ours has key=K
shell $ROW -> /free
ours acquire -> ok
shell $ROW -> /^[^/]+/set$/
ours close
other wait 300ms -> timeout
shell $ROW -> /^[^/]+/set$/
ours open -> ok
ours settle -> ok
other acquire -> ok
ours release -> lost
other release -> ok

# An outcome must not claim more than the client knows, and a new session works. A waiter may have been granted a moment before its
# own session died.
== a killed session says so, and a new one works
with pg-advisory DB=pg
with pg-row DB=pg
with mysql-getlock DB=my
with mysql-row DB=my
define pg_KILL DO 'BEGIN PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ''lockbench''; END';
define my_KILL KILL USER lockbench@'127.0.0.1';
define pg_LEFT SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockbench';
define my_LEFT SELECT count(*) FROM information_schema.processlist WHERE user = 'lockbench';
its KILL => KILL
its LEFT => LEFT
key L
idle has key=L
holder acquire -> ok
waiter begin
waiter waits
shell tell $KILL
soon shell $LEFT -> 0
waiter end -> /^(ok|lost|unknown|broken)$/
waiter release -> /^(lost|unknown|broken)$/
holder release -> /^(lost|unknown|broken)$/
holder error -> /./
holder release -> /^(lost|broken)$/
idle acquire -> /^(unknown|broken)$/
holder ping -> broken
holder close
waiter close
idle close
soon holder open -> ok
holder acquire -> ok
holder release -> ok
waiter open -> ok
waiter acquire -> ok
waiter release -> ok
idle open -> ok
idle acquire -> ok
idle release -> ok

# Such as a role's lock_timeout. A timed wait of mysql-row sets its limit itself.
== a limit of the server's own is no deadline of ours
with pg-advisory DB=pg LIMIT=lock_timeout FOR=ever
with pg-advisory DB=pg LIMIT=statement_timeout FOR=20s
with pg-row DB=pg LIMIT=lock_timeout FOR=ever
with pg-row DB=pg LIMIT=statement_timeout FOR=20s
with mysql-getlock DB=my FOR=ever
with mysql-getlock DB=my FOR=20s
with mysql-row DB=my FOR=ever
define pg_SET ALTER DATABASE postgres SET $LIMIT = '300ms';
define my_SET SET GLOBAL max_statement_time = 0.3;
define pg_RESET ALTER DATABASE postgres RESET $LIMIT;
define my_RESET SET GLOBAL max_statement_time = 0;
its SET => SET
its RESET => RESET
shell tell $SET
shell SELECT 'done'; -> done
holder acquire -> ok
ours wakeups => WAKEUPS
ours begin $FOR
shell tell $RESET
shell SELECT 'done'; -> done
sleep 1s
ours waits
holder release -> ok
ours end -> ok
ours wakeups -> > $WAKEUPS
ours release -> ok
ours try -> ok
ours release -> ok
ours release -> lost

# The server cancels it before it acts: our client still holds. A function is found before the server's own, in sessions from now
# on. After an unknown outcome the session is closed, and then the lock is free.
== a cancelled release is unknown
with pg-advisory DB=pg
define D $
shell tell CREATE FUNCTION public.pg_advisory_unlock(bigint) RETURNS boolean LANGUAGE plpgsql AS ${D}x${D} BEGIN RAISE EXCEPTION 'canceling statement' USING ERRCODE = 'query_canceled'; END ${D}x${D}; ALTER DATABASE postgres SET search_path = public, pg_catalog;
shell SELECT 'done'; -> done
holder acquire -> ok
holder release -> unknown
holder error -> /./
next try -> busy
holder close
next acquire -> ok
next close
shell tell DROP FUNCTION public.pg_advisory_unlock(bigint); ALTER DATABASE postgres RESET search_path;
shell SELECT 'done'; -> done
