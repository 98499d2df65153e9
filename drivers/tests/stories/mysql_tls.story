# MariaDB over TLS with accounts: what is right grants, and each wrong certificate, password or URL ends with one line that says what to
# do. Never unencrypted instead.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool tls drivers/tests/foreign/tls.py
# verify BACKEND LOCK URL SCENARIOS SETS: the exit code and the verdicts of `check`, as a user runs it, and whether it shows the secret.
# Connections lead through a wire, but the certificate is the server's. The exact verdicts after a reset and a cut are tested without TLS.
tool verify verify() { lock=$2 url=$1=$3 faults=$4; shift 4; rm -rf $DIR/verified; "$LOCKBENCH_PROGRAM" check $lock --url "$url" --fault $faults --jobs 4 --out $DIR/verified "$@" >/dev/null 2>$DIR/err; echo $?; drivers/tests/foreign/verdicts.py $DIR/verified; grep -c Secret1Word $DIR/err; }; verify
before [ -d $DIR/certs ] || { mkdir -m 755 $DIR/certs; compose/certificates $DIR/certs wrong; }
define ACCOUNT me:Secret1Word@
define CA tls_ca=$DIR/certs/ca.pem
needs command -v mariadbd >/dev/null | mariadb-server
program mariadb drivers/tests/foreign/tls_server.sh mariadb
program liar drivers/tests/foreign/tls_server.sh liar
with mem-mutex

== what is right grants
mariadb start 0 server => P0
mariadb start 1 expired => P1
mariadb start 2 wronghost => P2
mariadb start 3 none => P3
mariadb start 4 byname --require-secure-transport=on => P4
tls mariadb mysql-getlock mariadb right -> /^[1-9][0-9]* passed$/
tls mariadb mysql-getlock mariadb wrong -> /^[1-9][0-9]* passed$/

# Several times: the greeting may be there before anybody waits for it.
== nothing is said to a server that offers no TLS
liar start 5 none => P5
tls mariadb mysql-getlock mariadb liar -> 2 passed
tls mariadb mysql-getlock mariadb liar -> 2 passed
tls mariadb mysql-getlock mariadb liar -> 2 passed
tls mariadb mysql-getlock mariadb liar -> 2 passed
tls mariadb mysql-getlock mariadb liar -> 2 passed
sh cat $DIR/liar5/heard ->

== it is verified as a lock
mariadb start 4 byname --require-secure-transport=on => P4
verify mariadb mysql-getlock mysqls://${ACCOUNT}localhost:$P4 conformance,wire-reset,wire-cut --set mariadb.$CA -> /^0 mysql-getlock=safe .* mysql-getlock=(safe|expired) .* mysql-getlock=(safe|expired) .* 0$/
