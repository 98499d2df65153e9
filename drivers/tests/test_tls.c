/* test_tls: Redis, memcached and NATS over TLS, with accounts, on real servers with right and wrong certificates: a
 * run succeeds and says what it was encrypted with, or ends with one line that says what to do. No connection is made
 * unencrypted instead, and no line has the secret.
 * Needs: servers, 3 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "drivers/tests/tls_help.h"

/* --- redis --- */

#define REDIS                                                                                             \
    "exec redis-server - >/dev/null <<END\nbind 127.0.0.1\nport 0\ntls-port $PORT\ndir $DIR\nsave \"\"\n" \
    "tls-cert-file $CERTS/$CERT.pem\ntls-key-file $CERTS/$CERT.key\ntls-ca-cert-file $CERTS/ca.pem\n"     \
    "user default on >" TLS_SECRET " ~* &* +@all\nuser worker on >" TLS_SECRET " ~* &* +@all\n"

#define REDIS_URL "rediss://:" TLS_SECRET "@127.0.0.1:%d"

TEST(redis_over_tls) {
    need_program("redis-server", "redis-server");
    tls_start(0, "server", REDIS "tls-auth-clients optional\nEND");
    tls_start(1, "wronghost", REDIS "tls-auth-clients optional\nEND");
    tls_start(2, "expired", REDIS "tls-auth-clients optional\nEND");
    tls_start(3, "server", REDIS "tls-auth-clients yes\nEND");
    tls_start(4, "server", "exec redis-server --bind 127.0.0.1 --port $PORT --dir $DIR --save ''");
    tls_start(5, "server", REDIS "tls-auth-clients optional\nbind 127.0.0.1 ::1\nEND");
    static const struct tls_case cases[] = {
        {"right", 0, REDIS_URL, SIGNED, 0, {"\"tls\": \"TLSv1.3\"", BOTH_VERIFIED}},
        {"a user", 0, "rediss://worker:" TLS_SECRET "@localhost:%d", SIGNED, 0, {"TLSv1.3"}},
        {"an address of IPv6", 5, "rediss://:" TLS_SECRET "@[::1]:%d", SIGNED, 0, {BOTH_VERIFIED}},
        {"no authority", 0, REDIS_URL, NULL, 2, {"set tls_ca"}},
        {"wrong authority", 0, REDIS_URL, OTHER_CA, 2, {NOT_SIGNED}},
        {"wrong host", 1, REDIS_URL, SIGNED, 2, {ASKS_FOR_HOST}},
        {"wrong host's name",
         1,
         "rediss://:" TLS_SECRET "@localhost:%d",
         SIGNED,
         2,
         {ASKS_FOR_HOST}},
        {"wrong host, by wish", 1, REDIS_URL, SIGNED " tls_verify=ca", 0, {AUTHORITY_VERIFIED}},
        {"expired", 2, REDIS_URL, SIGNED, 2, {"expired", "new certificate"}},
        {"not verified, by wish", 2, REDIS_URL, "tls_verify=none", 0, {NOTHING_VERIFIED}},
        {"a client certificate", 3, REDIS_URL, FILES, 0, {CERTIFIED}},
        {"no client certificate", 3, REDIS_URL, SIGNED, 2, {"set tls_cert"}},
        {"a stranger's certificate", 3, REDIS_URL, STRANGER, 2, {"trust the client certificate"}},
        {"a key of another certificate",
         3,
         REDIS_URL,
         SIGNED " tls_cert=client.pem tls_key=server.key",
         1,
         {"tls_key is not the key of tls_cert"}},
        {"wrong password",
         0,
         "rediss://:" TLS_SECRET "x@127.0.0.1:%d",
         SIGNED,
         1,
         {"WRONGPASS", "is disabled: check the user and password of the URL"}},
        {"a user without a password",
         0,
         "rediss://worker@127.0.0.1:%d",
         SIGNED,
         1,
         {"without a password"}},
        {"not encrypted, at a port with TLS",
         0,
         "redis://:" TLS_SECRET "@127.0.0.1:%d",
         NULL,
         2,
         {"rediss://"}},
        {"not encrypted, a cluster's port with TLS",
         0,
         "redis+cluster://:" TLS_SECRET "@127.0.0.1:%d",
         NULL,
         2,
         {"write rediss+cluster://"}},
        {"encrypted, at a port without TLS",
         4,
         "rediss://127.0.0.1:%d",
         SIGNED,
         2,
         {"does the server speak TLS"}},
        {"options without TLS", 4, "redis://127.0.0.1:%d", SIGNED, 1, {"rediss://"}},
        {"verification without TLS",
         4,
         "redis://127.0.0.1:%d",
         "tls_verify=full",
         1,
         {"rediss://"}},
        {"what nothing reads", 4, "redis://127.0.0.1:%d?timeout=5", NULL, 1, {"is not used"}},
    };
    TLS_RUN("redis", "redis-setnx", cases);
    tls_start(0, "byname", REDIS "tls-auth-clients optional\nEND");
    tls_verify("redis", "redis-setnx", 0, "rediss://worker:" TLS_SECRET "@localhost:%d", SIGNED,
               TLS_CONFORMS);
}

/* Sentinels may have another login than the servers that they watch. */
TEST(sentinels_have_a_login_of_their_own) {
    need_program("redis-server", "redis-server");
    tls_start(0, "",
              "exec redis-server --bind 127.0.0.1 --port $PORT --dir $DIR --save '' "
              "--requirepass " TLS_SECRET);
    setenv("PRIMARY", tls_text("%d", tls_servers[0].port), 1);
    tls_start(
        1, "",
        "cat >$DIR/conf <<END\nbind 127.0.0.1\nport $PORT\ndir $DIR\n"
        "user default on >SentinelWord ~* &* +@all\nuser worker on >SentinelWord ~* &* +@all\n"
        "sentinel monitor mymaster 127.0.0.1 $PRIMARY 1\n"
        "sentinel auth-pass mymaster " TLS_SECRET "\nEND\n"
        "exec redis-server $DIR/conf --sentinel");
    cli_write(cli_path("certificates/default-login"), ":SentinelWord\n");
    cli_write(cli_path("certificates/user-login"), "worker:SentinelWord\n");
    cli_write(cli_path("certificates/wrong-login"), "worker:" TLS_SECRET "\n");
    cli_write(cli_path("certificates/no-login"), TLS_SECRET "\n");
    char long_login[5001] = "worker:";
    memset(long_login + 7, 'p', sizeof long_login - 8);
    cli_write(cli_path("certificates/long-login"), long_login);
#define SENTINEL "redis+sentinel://:" TLS_SECRET "@127.0.0.1:%d/mymaster"
    static const struct tls_case cases[] = {
        {"the default user's", 1, SENTINEL, "sentinel_login=default-login", 0, {NULL}},
        {"a user's", 1, SENTINEL, "sentinel_login=user-login", 0, {NULL}},
        {"a wrong one", 1, SENTINEL, "sentinel_login=wrong-login", 1, {"WRONGPASS"}},
        {"none", 1, SENTINEL, NULL, 1, {"NOAUTH"}},
        {"a file without a login",
         1,
         SENTINEL,
         "sentinel_login=no-login",
         1,
         {"its first line must be user:password"}},
        {"a password that is too long",
         1,
         SENTINEL,
         "sentinel_login=long-login",
         1,
         {"its first line must be user:password"}},
        {"no file", 1, SENTINEL, "sentinel_login=absent", 1, {"No such file"}},
        {"a server that is no Sentinel",
         0,
         "redis://:" TLS_SECRET "@127.0.0.1:%d",
         "sentinel_login=user-login",
         1,
         {"the URL is not redis+sentinel://"}},
    };
    TLS_RUN("redis", "redis-setnx", cases);
}

/* --- memcached --- */

#define MEMCACHED                                                                                  \
    "printf 'worker:" TLS_SECRET                                                                   \
    "\\n' >$DIR/users; chmod 644 $DIR/users; chmod 644 $CERTS/*.key; "                             \
    "exec memcached -u nobody -l 127.0.0.1 -p $PORT -U 0 -Y $DIR/users -Z -o "                     \
    "ssl_chain_cert=$CERTS/$CERT.pem,ssl_key=$CERTS/$CERT.key,ssl_ca_cert=$CERTS/ca.pem"

#define MEMCACHED_URL "memcacheds://worker:" TLS_SECRET "@127.0.0.1:%d"

TEST(memcached_over_tls) {
    need_program("memcached", "memcached");
    tls_start(0, "server", MEMCACHED);
    tls_start(1, "wronghost", MEMCACHED);
    tls_start(2, "server", MEMCACHED ",ssl_verify_mode=2");
    tls_start(3, "server", "exec memcached -u nobody -l 127.0.0.1 -p $PORT -U 0");
    static const struct tls_case cases[] = {
        {"right", 0, MEMCACHED_URL, SIGNED, 0, {"\"tls\": \"TLSv1.3\"", BOTH_VERIFIED}},
        {"wrong authority", 0, MEMCACHED_URL, OTHER_CA, 2, {NOT_SIGNED}},
        {"wrong host", 1, MEMCACHED_URL, SIGNED, 2, {ASKS_FOR_HOST}},
        {"a client certificate", 2, MEMCACHED_URL, FILES, 0, {CERTIFIED}},
        {"no client certificate", 2, MEMCACHED_URL, SIGNED, 2, {"set tls_cert"}},
        {"a password for a server that asks for none",
         3,
         "memcached://worker:" TLS_SECRET "@127.0.0.1:%d",
         NULL,
         1,
         {"asks for no password"}},
        {"wrong password",
         0,
         "memcacheds://worker:" TLS_SECRET "x@127.0.0.1:%d",
         SIGNED,
         1,
         {"refuses the user"}},
        {"no password", 0, "memcacheds://127.0.0.1:%d", SIGNED, 1, {"write user:password@"}},
        {"not encrypted, at a port with TLS",
         0,
         "memcached://worker:" TLS_SECRET "@127.0.0.1:%d",
         NULL,
         2,
         {"memcacheds://"}},
        {"encrypted, at a port without TLS",
         3,
         "memcacheds://127.0.0.1:%d",
         SIGNED,
         2,
         {"does not speak TLS"}},
        {"what nothing reads", 3, "memcached://127.0.0.1:%d/path", NULL, 1, {"name one server"}},
    };
    TLS_RUN("memcached", "memcached-add", cases);
    tls_start(0, "byname", MEMCACHED);
    tls_verify("memcached", "memcached-add", 0, "memcacheds://worker:" TLS_SECRET "@localhost:%d",
               SIGNED, "wire-reset");
}

/* --- nats --- */

#define NATS(more)                                                                                                           \
    "PATH=$PATH:/usr/sbin; cat >$DIR/conf <<END\nlisten: \"127.0.0.1:$PORT\"\njetstream { store_dir: \"$DIR/data\" }\n" more \
    "END\nexec nats-server -c $DIR/conf"
#define NATS_TLS                                                                                   \
    "tls { cert_file: \"$CERTS/$CERT.pem\", key_file: \"$CERTS/$CERT.key\", ca_file: \"$CERTS/ca.pem\""
#define NATS_USER "}\nauthorization { user: worker, password: " TLS_SECRET " }\n"

#define NATS_URL "tls://worker:" TLS_SECRET "@127.0.0.1:%d"

TEST(nats_over_tls) {
    if (system("PATH=$PATH:/usr/sbin command -v nats-server >/dev/null") != 0)
        skip_for("nats-server is missing: install nats-server");
    tls_start(0, "server", NATS(NATS_TLS NATS_USER));
    tls_start(1, "wronghost", NATS(NATS_TLS NATS_USER));
    tls_start(2, "server", NATS(NATS_TLS ", verify: true" NATS_USER));
    tls_start(3, "server", NATS("authorization { token: " TLS_SECRET " }\n"));
    /* The example of NATS's documentation. */
    cli_write(cli_path("certificates/seed"),
              "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n");
    cli_write(cli_path("certificates/other-seed"), "SUAC" TLS_SECRET "\n");
    tls_start(
        4, "server",
        NATS(
            "authorization { users: [ { nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 } ] }\n"));
    static const struct tls_case cases[] = {
        {"a key", 4, "nats://127.0.0.1:%d", "nkey=seed", 0, {"\"tls\": \"no\""}},
        {"no key", 4, "nats://127.0.0.1:%d", NULL, 1, {"Authorization Violation"}},
        {"no seed",
         4,
         "nats://127.0.0.1:%d",
         "nkey=other-seed",
         1,
         {"does not begin with the seed"}},
        {"right", 0, NATS_URL, SIGNED, 0, {"\"tls\": \"TLSv1.3\"", BOTH_VERIFIED}},
        {"the server asks for it",
         0,
         "nats://worker:" TLS_SECRET "@127.0.0.1:%d",
         SIGNED,
         0,
         {"TLSv1.3"}},
        {"the server asks for it, no authority",
         0,
         "nats://worker:" TLS_SECRET "@127.0.0.1:%d",
         NULL,
         2,
         {"set tls_ca"}},
        {"wrong authority", 0, NATS_URL, OTHER_CA, 2, {NOT_SIGNED}},
        {"wrong host", 1, NATS_URL, SIGNED, 2, {ASKS_FOR_HOST}},
        {"a client certificate", 2, NATS_URL, FILES, 0, {CERTIFIED}},
        {"no client certificate", 2, NATS_URL, SIGNED, 2, {"set tls_cert"}},
        {"wrong password",
         0,
         "tls://worker:" TLS_SECRET "x@127.0.0.1:%d",
         SIGNED,
         1,
         {"Authorization Violation"}},
        {"a token", 3, "nats://" TLS_SECRET "@127.0.0.1:%d", NULL, 0, {"\"tls\": \"no\""}},
        {"encrypted, at a port without TLS",
         3,
         "tls://" TLS_SECRET "@127.0.0.1:%d",
         SIGNED,
         2,
         {"does not speak TLS"}},
    };
    TLS_RUN("nats", "nats-kv", cases);
    tls_start(0, "byname", NATS(NATS_TLS NATS_USER));
    tls_verify("nats", "nats-kv", 0, "tls://worker:" TLS_SECRET "@localhost:%d", SIGNED,
               "wire-reset");
}

/* --- servers of ours --- */

/* The addresses that cluster nodes and Sentinels give of each other are reached by TLS, too. */
TEST(every_topology_that_offers_it_runs_with_tls) {
    static const char *const runs[][2] = {{"redis", "redis-setnx"},
                                          {"redis-replicas", "redis-wait"},
                                          {"redis-sentinel", "redis-setnx"},
                                          {"redis-sentinel-groups", "unsafe-redisson-redlock"},
                                          {"redis-cluster", "redis-fenced"},
                                          {"redis-independents", "redis-redlock"},
                                          {"memcached", "memcached-add"},
                                          {"nats", "nats-kv"},
                                          {"etcd", "etcd-mutex"},
                                          {"postgres", "pg-advisory"},
                                          {"mariadb", "mysql-getlock"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const char *out = cli_path("own-%s", runs[i][0]);
        struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--no-page", "--lock", runs[i][1],
                                            "--set", tls_text("servers.topology=%s", runs[i][0]),
                                            "--set", "servers.tls=yes", "--out", out));
        if (cli.code != 0) fail_msg("%s: exit code %d: %s", runs[i][0], cli.code, cli.err);
        char *said = cli_read(tls_text("%s/run.json", out));
        if (!strstr(said, "host name and authority verified"))
            fail_msg("%s is not encrypted", runs[i][0]);
        if (!strstr(said, tls_text("\"%s+tls\"", runs[i][0])))
            fail_msg("%s does not say so", runs[i][0]);
        free(said);
        cli_free(&cli);
    }
}

TEST_MAIN(tls_setup, tls_teardown)
