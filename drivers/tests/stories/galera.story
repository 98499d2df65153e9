# The locks of MariaDB on three real nodes of one Galera cluster: a lock that belongs to a node does not exclude clients of other
# nodes, and a lock that is a written row excludes everywhere; through one node all exclude. Then the loss of a node, or of the other
# nodes. Verdicts are as their driver states, or better.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool check check() { rm -rf $DIR/check; "$LOCKBENCH_PROGRAM" check "$@" --set servers.topology=mariadb-galera --out $DIR/check >/dev/null 2>$DIR/err; echo $?; drivers/tests/foreign/verdicts.py $DIR/check; }; check
with mysql-getlock on mariadb-galera

# Of each way to be held one lock: by the server, by a transaction, by a written row. Through one node all exclude: test_conform
# shows it. On a busy machine, clients of two nodes meet once in some seconds.
== through all nodes only what is written excludes
sh "$LOCKBENCH_PROGRAM" run check/multi-primary --lock mysql-getlock,mysql-row,mysql-lease --url mariadb="$URL" --set run.duration=8s --no-page --out $DIR/run >/dev/null 2>&1; echo $? -> 3
sh python3 -c "import json; print(*sorted(s['lock'] + '=' + s['exclusion']['verdict'] for s in json.load(open('$DIR/run/run.json'))['stages']))" -> mysql-getlock=violated mysql-lease=clean mysql-row=violated

== a run says that a user lock is of one node
sh "$LOCKBENCH_PROGRAM" run smoke mysql-getlock -c 1 -d 50ms --url mariadb="$URL" --no-page --out $DIR/one 2>&1 >/dev/null -> /a node of Galera: each node has user locks of its own/

# The two others are a majority, and clients go on there.
== the node that clients use is lost
check mysql-getlock,mysql-lease --fault minority-lost -> /^0 mysql-getlock=expired .*mysql-lease=safe /

== the node that clients use loses the others
check mysql-getlock,mysql-lease --fault split -> /^0 mysql-getlock=violated .*mysql-lease=safe /
