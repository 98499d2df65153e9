/* test_pg_tls: PostgreSQL over TLS with accounts, against real servers: what is right grants, and each wrong
 * certificate, password or URL ends with one line that says what to do. Never unencrypted instead.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "drivers/tests/tls_help.h"

enum { SERVER, EXPIRED, WRONGHOST, PLAIN, BYNAME };

#define URL "postgres://" ACCOUNT "localhost:%d/postgres"

/* The server refuses to run as root, so it has an account's copy of its key. */
#define PG(more)                                                                                     \
    "chmod 755 $DIR; cp $CERTS/ca.pem $DIR; [ -z \"$CERT\" ] || cp $CERTS/$CERT.* $DIR\n"            \
    "as=; if [ $(id -u) = 0 ]; then who=postgres; id $who >/dev/null 2>&1 || who=nobody\n"           \
    "chown -R $who $DIR; as=\"setpriv --reuid $who --clear-groups --pdeathsig KILL\"; fi\n"          \
    "command -v initdb >/dev/null || PATH=$(echo /usr/lib/postgresql/*/bin | sed 's/.* //'):$PATH\n" \
    "cd $DIR; $as initdb -D data --username postgres --auth trust --no-sync\n"                       \
    "cat >data/pg_hba.conf <<END\n"                                                                  \
    "hostssl all certified 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n"                        \
    "$([ -z \"$CERT\" ] && echo host || echo hostssl) all all 127.0.0.1/32 scram-sha-256\nEND\n"     \
    "printf \"create role me login password '" TLS_SECRET "'\\n"                                     \
    "create role certified login password '" TLS_SECRET "'\\n\" | "                                  \
    "$as postgres --single -D data -c fsync=off postgres\n"                                          \
    "exec $as postgres -D data -p $PORT -c listen_addresses=127.0.0.1 -c unix_socket_directories= "  \
    "-c fsync=off -c dynamic_shared_memory_type=mmap " more
#define PG_TLS                                                                                     \
    PG("-c ssl=on -c ssl_cert_file=$DIR/$CERT.pem -c ssl_key_file=$DIR/$CERT.key "                 \
       "-c ssl_ca_file=$DIR/ca.pem")

static int start_servers(void **state) {
    if (tls_setup(state) != 0) return -1;
    tls_start(SERVER, "server", PG_TLS);
    tls_start(EXPIRED, "expired", PG_TLS);
    tls_start(WRONGHOST, "wronghost", PG_TLS);
    tls_start(PLAIN, "", PG(""));
    tls_start(BYNAME, "byname", PG_TLS);
    setenv("HOME", cli_path("home"), 1); /* no ~/.postgresql and no ~/.pgpass of this machine */
    for (int i = SERVER; i <= BYNAME; i++)
        tls_await_postgres(tls_text("postgres=" URL, tls_servers[i].port));
    return 0;
}

TEST(what_is_right_grants) {
    tls_play("postgres", "pg-advisory", "postgres right");
}

TEST(what_is_wrong_has_its_line) {
    tls_play("postgres", "pg-advisory", "postgres wrong");
}

/* The password comes from ~/.pgpass, and everything from a service file. */
TEST(files_of_libpq_are_read) {
    cli_write(cli_path("pass"), "localhost:*:postgres:me:" TLS_SECRET "\n");
    chmod(cli_path("pass"), 0600);
    setenv("PGPASSFILE", cli_path("pass"), 1);
    cli_write(cli_path("services"), "[ours]\nhost=localhost\nuser=me\ndbname=postgres\n");
    setenv("PGSERVICEFILE", cli_path("services"), 1);
    tls_play("postgres", "pg-advisory", "postgres files");
}

/* `verify` on this server, as its user runs it. */
TEST(verify_passes) {
    tls_verify("postgres", "pg-advisory", BYNAME, URL, SIGNED, TLS_CONFORMS);
}

TEST_MAIN(start_servers, tls_teardown)
