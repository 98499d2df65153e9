/* test_pg_tls: PostgreSQL over TLS with accounts, against real servers: what is right grants, and each wrong
 * certificate, password or URL ends with one line that says what to do. Never unencrypted instead.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "drivers/tests/tls_help.h"

enum { SERVER, EXPIRED, WRONGHOST, PLAIN, BYNAME };

#define URL "postgres://" ACCOUNT "localhost:%d/postgres"
#define URL_CERTIFIED "postgres://certified:" TLS_SECRET "@localhost:%d/postgres"
#define VERIFY_FULL "?sslmode=verify-full"

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
    static const struct tls_case cases[] = {
        {"by name", SERVER, URL, SIGNED, 0, {"\"tls\": \"TLSv1.", BOTH_VERIFIED}},
        {"client certificate",
         SERVER,
         "postgres://certified:" TLS_SECRET "@127.0.0.1:%d/postgres",
         FILES,
         0,
         {CERTIFIED}},
        {"URL and options agree", SERVER, URL VERIFY_FULL, SIGNED, 0, {BOTH_VERIFIED}},
        {"authority alone", WRONGHOST, URL, SIGNED " tls_verify=ca", 0, {AUTHORITY_VERIFIED}},
        {"nothing verified", EXPIRED, URL, OTHER_CA " tls_verify=none", 0, {NOTHING_VERIFIED}},
        {"libpq's default", SERVER, URL, NULL, 0, {"\"tls\": \"TLSv1.", NOTHING_VERIFIED}},
        {"unencrypted", PLAIN, URL "?sslmode=disable", NULL, 0, {"\"tls\": \"no\""}},
    };
    TLS_RUN("postgres", "pg-advisory", cases);
}

TEST(what_is_wrong_has_its_line) {
    static const struct tls_case cases[] = {
        {"other authority",
         SERVER,
         URL,
         OTHER_CA,
         2,
         {"certificate verify failed", "other-ca.pem signed the server's certificate"}},
        {"no authority", SERVER, URL VERIFY_FULL, NULL, 2, {"set tls_ca"}},
        {"no authority, by the option alone", SERVER, URL, "tls_verify=full", 2, {"set tls_ca"}},
        {"other host", WRONGHOST, URL, FILES, 2, {"\"localhost\"", ASKS_FOR_HOST}},
        {"expired", EXPIRED, URL, FILES, 2, {"or it has expired"}},
        {"no client certificate", SERVER, URL_CERTIFIED, SIGNED, 1, {"set tls_cert"}},
        {"a stranger's certificate", SERVER, URL_CERTIFIED, STRANGER, 2, {"tls_cert"}},
        {"wrong password",
         SERVER,
         "postgres://me:" TLS_SECRET "x@localhost:%d/postgres",
         FILES,
         1,
         {"check the user and password"}},
        {"plain URL",
         SERVER,
         URL "?sslmode=disable",
         NULL,
         1,
         {"no encryption", "sslmode=verify-full"}},
        {"plain server", PLAIN, URL, FILES, 2, {"does not support SSL", "switch TLS on"}},
        {"URL against options",
         SERVER,
         URL "?sslmode=prefer",
         FILES,
         1,
         {"sslmode=prefer", "leave one of them out"}},
        {"an unknown parameter", SERVER, URL "?sslmod=x", FILES, 1, {"does not take the URL"}},
    };
    TLS_RUN("postgres", "pg-advisory", cases);
}

/* The password comes from ~/.pgpass, and everything from a service file. */
TEST(files_of_libpq_are_read) {
    static const struct tls_case cases[] = {
        {"a password file", SERVER, "postgres://me@localhost:%d/postgres", SIGNED, 0, {"TLSv1."}},
        {"a service", SERVER, "postgres:///?service=ours&port=%d", SIGNED, 0, {BOTH_VERIFIED}},
    };
    cli_write(cli_path("pass"), "localhost:*:postgres:me:" TLS_SECRET "\n");
    chmod(cli_path("pass"), 0600);
    setenv("PGPASSFILE", cli_path("pass"), 1);
    cli_write(cli_path("services"), "[ours]\nhost=localhost\nuser=me\ndbname=postgres\n");
    setenv("PGSERVICEFILE", cli_path("services"), 1);
    TLS_RUN("postgres", "pg-advisory", cases);
}

/* `verify` on this server, as its user runs it. */
TEST(verify_passes) {
    tls_verify("postgres", "pg-advisory", BYNAME, URL, SIGNED, TLS_CONFORMS);
}

TEST_MAIN(start_servers, tls_teardown)
