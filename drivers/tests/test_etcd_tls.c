/* test_etcd_tls: etcd over TLS with an account, against real servers: what is right grants, and each wrong
 * certificate, password or scheme ends with one line that says what to do. Never unencrypted instead.
 * Needs: servers, minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "drivers/tests/tls_help.h"

enum { SERVER, EXPIRED, WRONGHOST, PLAIN, BYNAME };

#define URL "etcds://" ACCOUNT "localhost:%d"

#define ETCD(scheme, more)                                                                         \
    "exec etcd --name n --data-dir $DIR/data --listen-client-urls " scheme "://127.0.0.1:$PORT "   \
    "--advertise-client-urls " scheme "://127.0.0.1:$PORT --listen-peer-urls "                     \
    "http://127.0.0.1:$PORT2 --initial-advertise-peer-urls http://127.0.0.1:$PORT2 "               \
    "--initial-cluster n=http://127.0.0.1:$PORT2 --unsafe-no-fsync --logger zap " more
#define ETCD_TLS                                                                                   \
    ETCD("https", "--cert-file $CERTS/$CERT.pem --key-file $CERTS/$CERT.key --client-cert-auth "   \
                  "--trusted-ca-file $CERTS/ca.pem --auth-token-ttl 2")

/* The user's role reaches the prefix of our keys, and nothing else. */
static const char accounts[] =
    "ctl() { ETCDCTL_API=3 etcdctl --endpoints https://localhost:$PORT --cacert $CERTS/ca.pem "
    "--cert $CERTS/client.pem --key $CERTS/client.key \"$@\"; }\n"
    "until ctl endpoint health; do sleep 0.1; done\n"
    "ctl user add root:x; ctl user add me:" TLS_SECRET "\n"
    "ctl role add ours; ctl role grant-permission ours --prefix=true readwrite lockbench\n"
    "ctl user grant-role me ours; ctl user grant-role root root; ctl auth enable\n";

static int start_servers(void **state) {
    if (tls_setup(state) != 0) return -1;
    tls_start(SERVER, "server", ETCD_TLS);
    tls_start(EXPIRED, "expired", ETCD_TLS);
    tls_start(WRONGHOST, "wronghost", ETCD_TLS);
    tls_start(PLAIN, "", ETCD("http", ""));
    tls_start(BYNAME, "byname", ETCD_TLS);
    tls_script(SERVER, accounts);
    tls_script(BYNAME, accounts);
    return 0;
}

TEST(what_is_right_grants) {
    tls_play("etcd", "etcd-mutex", "etcd right");
}

TEST(what_is_wrong_has_its_line) {
    tls_play("etcd", "etcd-mutex", "etcd wrong");
}

/* The server forgets a token after two seconds without use; here that is between two attempts. */
TEST(a_token_that_ended_is_renewed) {
    const char *args[CLI_ARGS_MAX] = {
        "run",
        "smoke",
        "--lock",
        "etcd-mutex",
        "--url",
        tls_text("etcd=etcds://" ACCOUNT "localhost:%d", tls_servers[SERVER].port),
        "--set",
        "load.clients=1",
        "--set",
        "load.think=4s",
        "--set",
        "acquire.lease=60s",
        "--set",
        "run.duration=9s",
        "--set",
        "run.warmup=0",
        "--no-page",
        "--out",
        cli_path("renewed")};
    args[tls_sets("etcd", FILES, args, 19)] = NULL;
    struct cli cli = cli_run(NULL, args);
    assert_code(&cli, 0);
    json_t *result = cli_result(cli_path("renewed"));
    assert_true(cli_number_at(result, "stages.0.outcomes.ok") >= 2);
    assert_true(cli_number_at(result, "stages.0.outcomes.refused") == 0);
    json_decref(result);
}

/* `clean` has no plan: its --set leads there. */
TEST(clean_reaches_it_too) {
    const char *args[CLI_ARGS_MAX] = {
        "clean", "--url",
        tls_text("etcd=etcds://" ACCOUNT "localhost:%d", tls_servers[SERVER].port)};
    args[tls_sets("etcd", FILES, args, 3)] = NULL;
    struct cli cli = cli_run(NULL, args);
    assert_code(&cli, 0);
    assert_has(cli.out, "nothing is left");
}

/* `verify` on this server, as its user runs it. */
TEST(verify_passes) {
    tls_verify("etcd", "etcd-mutex", BYNAME, URL, FILES, TLS_CONFORMS);
}

TEST_MAIN(start_servers, tls_teardown)
