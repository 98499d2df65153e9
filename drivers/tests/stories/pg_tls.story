# PostgreSQL over TLS with accounts: what is right grants, and each wrong certificate, password or URL ends with one line that says what
# to do. Never unencrypted instead.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
tool tls drivers/tests/foreign/tls.py
# verify BACKEND LOCK URL SCENARIOS SETS: the exit code and the verdicts of `check`, as a user runs it, and whether it shows the secret.
# Connections lead through a wire, but the certificate is the server's. The exact verdicts after a reset and a cut are tested without TLS.
tool verify verify() { lock=$2 url=$1=$3 faults=$4; shift 4; rm -rf $DIR/verified; "$LOCKBENCH_PROGRAM" check $lock --url "$url" --fault $faults --jobs 4 --out $DIR/verified "$@" >/dev/null 2>$DIR/err; echo $?; drivers/tests/foreign/verdicts.py $DIR/verified; grep -c Secret1Word $DIR/err; }; verify
before [ -d $DIR/certs ] || { mkdir -m 755 $DIR/certs; compose/certificates $DIR/certs wrong; }
define ACCOUNT me:Secret1Word@
define CA tls_ca=$DIR/certs/ca.pem
needs command -v pg_isready >/dev/null | postgresql
program postgres drivers/tests/foreign/tls_server.sh postgres
with mem-mutex

== it is verified as a lock
postgres start 4 byname => P4
verify postgres pg-advisory postgres://${ACCOUNT}localhost:$P4/postgres conformance,wire-reset,wire-cut --set postgres.$CA -> /^0 pg-advisory=safe .* pg-advisory=(safe|expired) .* pg-advisory=(safe|expired) .* 0$/

# At last the password comes from ~/.pgpass, and everything from a service file.
== what is right grants
postgres start 0 server => P0
postgres start 1 expired => P1
postgres start 2 wronghost => P2
postgres start 3 none => P3
tls postgres pg-advisory postgres right -> /^[1-9][0-9]* passed$/
tls postgres pg-advisory postgres wrong -> /^[1-9][0-9]* passed$/
define PGPASSFILE $DIR/pass
define PGSERVICEFILE $DIR/services
sh echo "localhost:*:postgres:$ACCOUNT" | sed 's/@$//' >$DIR/pass; chmod 600 $DIR/pass ->
sh printf '%s\n' '[ours]' host=localhost user=me dbname=postgres >$DIR/services ->
tls postgres pg-advisory postgres files -> /^[1-9][0-9]* passed$/
