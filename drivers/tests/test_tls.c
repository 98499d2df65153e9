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

TEST(redis_over_tls) {
    need_program("redis-server", "redis-server");
    tls_start(0, "server", REDIS "tls-auth-clients optional\nEND");
    tls_start(1, "wronghost", REDIS "tls-auth-clients optional\nEND");
    tls_start(2, "expired", REDIS "tls-auth-clients optional\nEND");
    tls_start(3, "server", REDIS "tls-auth-clients yes\nEND");
    tls_start(4, "server", "exec redis-server --bind 127.0.0.1 --port $PORT --dir $DIR --save ''");
    tls_start(5, "server", REDIS "tls-auth-clients optional\nbind 127.0.0.1 ::1\nEND");
    tls_play("redis", "redis-setnx", "redis");
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
    tls_play("redis", "redis-setnx", "sentinel");
}

/* --- memcached --- */

#define MEMCACHED                                                                                  \
    "printf 'worker:" TLS_SECRET                                                                   \
    "\\n' >$DIR/users; chmod 644 $DIR/users; chmod 644 $CERTS/*.key; "                             \
    "exec memcached -u nobody -l 127.0.0.1 -p $PORT -U 0 -Y $DIR/users -Z -o "                     \
    "ssl_chain_cert=$CERTS/$CERT.pem,ssl_key=$CERTS/$CERT.key,ssl_ca_cert=$CERTS/ca.pem"

TEST(memcached_over_tls) {
    need_program("memcached", "memcached");
    tls_start(0, "server", MEMCACHED);
    tls_start(1, "wronghost", MEMCACHED);
    tls_start(2, "server", MEMCACHED ",ssl_verify_mode=2");
    tls_start(3, "server", "exec memcached -u nobody -l 127.0.0.1 -p $PORT -U 0");
    tls_play("memcached", "memcached-add", "memcached");
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
    tls_play("nats", "nats-kv", "nats");
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
    }
}

TEST_MAIN(tls_setup, tls_teardown)
