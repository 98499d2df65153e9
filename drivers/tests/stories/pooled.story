# PostgreSQL's locks behind a real PgBouncer: in transaction mode locks of a session do not exclude, and locks of a transaction or a
# row do; in session mode all exclude.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool check check() { rm -rf $DIR/check; "$LOCKBENCH_PROGRAM" check "$@" --out $DIR/check 2>&1 >/dev/null; echo $?; }; check
tool run run() { rm -rf $DIR/run; "$LOCKBENCH_PROGRAM" run "$@" --no-page --out $DIR/run 2>&1 >/dev/null; echo $?; }; run
tool clean clean() { "$LOCKBENCH_PROGRAM" clean --url "postgres=$URL" "$@"; echo $?; }; clean
# later KEY URL: holds beside the story; holders KEY: how many hold it.
tool later later() { rm -rf $DIR/late; ("$LOCKBENCH_PROGRAM" run smoke pg-advisory -c 1 -d 10m --hold 10m --key $1 --url "postgres=$2" --no-page --out $DIR/late </dev/null >/dev/null 2>$DIR/err & echo $! >$DIR/pid) >/dev/null; }; later
tool holders holders() { psql -XAtq "$URL" -c "select count(*) from pg_locks where locktype = 'advisory' and objid = $1"; }; holders
with pg-advisory on postgres-pgbouncer

# The worst of three rounds counts: a session lock behind the pooler may also get stuck before two clients hold it, if it stays in a
# server session that the pooler gives to no client.
== transaction mode voids session locks
run check/pooled --lock pg-advisory --url "postgres=$URL" --set run.repeat=3 --set run.duration=2s -> / 3$/
sh grep -o '"verdict": "[a-z]*"' $DIR/run/run.json | head -n 1 -> "verdict": "violated"
run check/pooled --lock pg-advisory-xact,pg-row,pg-nowait,pg-lease,pg-table,pg-optimistic,pg-flag,pg-update --url "postgres=$URL" --set run.duration=1s -> /(^| )0$/
sh python3 -c "import json; print(*sorted({s['lock'] + '=' + s['exclusion']['verdict'] for s in json.load(open('$DIR/run/run.json'))['stages']}))" -> pg-advisory-xact=clean pg-flag=clean pg-lease=clean pg-nowait=clean pg-optimistic=clean pg-row=clean pg-table=clean pg-update=clean

# Another database of the same server; its facts say that there is a pooler. A run says which locks transaction mode voids.
== session mode keeps them
run smoke pg-advisory -c 1 -d 50ms --url "postgres=$URL" | grep -c 'gives out sessions by transaction' -> > 0
run smoke pg-advisory-xact -c 1 -d 50ms --url "postgres=$URL" | grep -c 'gives out sessions by transaction' -> 0
run check/none --lock pg-advisory --url "postgres=${URL%/*}/sessions" -> /(^| )0$/
sh grep -c '"pooler": "yes' $DIR/run/run.json -> > 0

# A dead client left it to a session of the pooler's, and waits for it.
== what is stranded behind a pooler is found by its number
later 4711 "$URL" ->
soon holders 4711 -> 1
sh kill -9 $(cat $DIR/pid) ->
clean --key 4711 --dry-run -> /advisory lock 4711, held by session.* 0$/
clean --key 4711 -> /: removed.* 0$/
clean --key 4711 --dry-run -> /nothing is left.* 0$/
run contended --lock pg-advisory --url "postgres=$URL" --set load.clients=6 --set run.duration=1s --set run.drain=2s -> /[1-9]$/
sh python3 -c "import json; print(json.load(open('$DIR/run/run.json'))['stages'][0]['residue']['count'])" -> > 0
clean --key 4711 --dry-run -> /nothing is left.* 0$/

# A URL may carry the name of the user's own program, whose sessions are not lockbench's.
== sessions of another name are left
with pg-advisory
later 12 "$URL?application_name=mine" ->
soon holders 12 -> 1
clean >$DIR/said; tail -n 1 $DIR/said; grep -c 'advisory lock' $DIR/said -> 0 0
holders 12 -> 1
sh kill $(cat $DIR/pid) ->
soon sh kill -0 $(cat $DIR/pid) 2>/dev/null; echo $? -> 1
sh grep -c lost $DIR/err -> 0

# Its database in session mode is none that the scenario is about.
== a scenario without its kind of server tests nothing
check pg-advisory --fault pooled --url "postgres=${URL%/*}/sessions" -> /pooled needs a pooler that gives out sessions by transaction.* 2$/
run check/pooled --lock pg-advisory --url "postgres=${URL%/*}/sessions" -> /it would not put the lock to the test.* 1$/
run check/multi-primary --lock mysql-getlock --set servers.topology=mariadb -> /multi-primary needs several nodes of one cluster.* 1$/
