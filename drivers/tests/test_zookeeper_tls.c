/* test_zookeeper_tls: ZooKeeper over TLS (through stunnel) with digest accounts, against a real server: what is
 * right grants, and each wrong certificate, password or URL ends with one line that says what to do. The tunnel
 * ends with the program, also when that is killed.
 * Needs: servers, minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include <sched.h>
#include <sys/mount.h>

#include "drivers/tests/tls_help.h"

/* One ZooKeeper with two ports; two tunnels with wrong certificates lead to the second one. */
enum { SERVER, EXPIRED, WRONGHOST, PLAIN, BYNAME };

#define URL "zookeepers://" ACCOUNT "localhost:%d"

static const char zookeeper[] =
    "cat $CERTS/server.key $CERTS/server.pem >$DIR/server.pem; cp $CERTS/ca.pem $DIR/ca.pem\n"
    "cat >$DIR/zoo.cfg <<END\n"
    "dataDir=$DIR/data\nclientPortAddress=127.0.0.1\nclientPort=$PORT2\n"
    "secureClientPort=$PORT\nsecureClientPortAddress=127.0.0.1\ntickTime=2000\nmaxClientCnxns=0\n"
    "admin.enableServer=false\n4lw.commands.whitelist=ruok,srvr,conf,wchp\n"
    "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
    "ssl.keyStore.location=$DIR/server.pem\nssl.keyStore.type=PEM\n"
    "ssl.trustStore.location=$DIR/ca.pem\nssl.trustStore.type=PEM\nssl.clientAuth=need\nEND\n"
    "exec java -XX:-UsePerfData -Dzookeeper.forceSync=no "
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn "
    "-cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar:"
    "$(echo /usr/share/java/netty-*.jar | tr ' ' :) "
    "org.apache.zookeeper.server.quorum.QuorumPeerMain $DIR/zoo.cfg";

static const char tunnel[] = "exec stunnel4 -fd 0 <<END\nforeground = yes\npid =\n[tls]\n"
                             "accept = 127.0.0.1:$PORT\nconnect = 127.0.0.1:$PLAIN\n"
                             "cert = $CERTS/$CERT.pem\nkey = $CERTS/$CERT.key\nEND\n";

static int start_servers(void **state) {
    if (tls_setup(state) != 0) return -1;
    tls_start(SERVER, "server", zookeeper);
    setenv("PLAIN", getenv("PORT2"), 1);
    tls_servers[PLAIN].port = atoi(getenv("PORT2"));
    tls_start(EXPIRED, "expired", tunnel);
    tls_start(WRONGHOST, "wronghost", tunnel);
    tls_start(BYNAME, "byname", tunnel);
    return 0;
}

TEST(what_is_right_grants) {
    static const struct tls_case cases[] = {
        {"by address",
         SERVER,
         "zookeepers://" ACCOUNT "127.0.0.1:%d/tls",
         FILES,
         0,
         {"\"tls\": \"TLSv1.", BOTH_VERIFIED, "\"tls_by\": \"stunnel "}},
        {"by name", BYNAME, "zks://localhost:%d/byname", FILES, 0, {BOTH_VERIFIED}},
        {"authority alone",
         WRONGHOST,
         "zks://localhost:%d/ca",
         FILES " tls_verify=ca",
         0,
         {AUTHORITY_VERIFIED}},
        {"nothing verified",
         EXPIRED,
         "zks://localhost:%d/none",
         FILES " tls_verify=none",
         0,
         {NOTHING_VERIFIED}},
        {"unencrypted",
         PLAIN,
         "zookeeper://" ACCOUNT "localhost:%d/plain",
         NULL,
         0,
         {"\"tls\": \"no\""}},
    };
    TLS_RUN("zookeeper", "zk-lock", cases);
}

/* Leaves the nodes above a key, which are their creator's alone. */
static void leave_nodes(void) {
    const char *args[CLI_ARGS_MAX] = {
        "hold", "zk-lock", "k", "--url",
        tls_text("zookeepers://" ACCOUNT "127.0.0.1:%d/held", tls_servers[SERVER].port)};
    int count = tls_sets("zookeeper", FILES, args, 5);
    args[count] = "--";
    args[count + 1] = "true";
    struct cli cli = cli_run(NULL, args);
    assert_code(&cli, 0);
    cli_free(&cli);
}

TEST(what_is_wrong_has_its_line) {
    static const struct tls_case cases[] = {
        {"other authority", SERVER, URL, OTHER_CA CLIENT, 2, {NOT_SIGNED}},
        {"the machine's authorities", SERVER, URL, NULL, 2, {"set tls_ca"}},
        {"other host", WRONGHOST, "zks://localhost:%d", FILES, 2, {ASKS_FOR_HOST}},
        {"an address that is not in it", BYNAME, "zks://127.0.0.1:%d", FILES, 2, {ASKS_FOR_HOST}},
        {"expired", EXPIRED, "zks://localhost:%d", FILES, 2, {"expired", "new certificate"}},
        {"no client certificate", SERVER, URL, SIGNED, 2, {"tls_cert"}},
        {"a stranger's certificate", SERVER, URL, STRANGER, 2, {"tls_cert"}},
        /* without the certificate, which is an account of its own for ZooKeeper */
        {"wrong password",
         PLAIN,
         "zookeeper://me:" TLS_SECRET "x@127.0.0.1:%d/held",
         NULL,
         2,
         {"check the user and password"}},
        {"no password", SERVER, "zookeepers://me@127.0.0.1:%d/tls", FILES, 1, {"user:password@"}},
        {"plain server", PLAIN, URL, FILES, 2, {"does the server speak TLS"}},
        {"options without TLS",
         PLAIN,
         "zookeeper://localhost:%d",
         FILES,
         1,
         {"write zookeepers://"}},
        {"a parameter", SERVER, URL "?sasl=yes", FILES, 1, {"the text behind '?' is not used"}},
        {"plain URL", SERVER, "zookeeper://localhost:%d", NULL, 2, {"write zookeepers://"}},
    };
    leave_nodes();
    TLS_RUN("zookeeper", "zk-lock", cases);
}

/* Whether a stunnel of this session's children runs: by the parent, for its command line has nothing of ours. */
static pid_t tunnel_of(pid_t parent) {
    char command[80], line[32] = "";
    snprintf(command, sizeof command, "pgrep -P %d stunnel", (int)parent);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    if (!fgets(line, sizeof line, out)) line[0] = '\0';
    pclose(out);
    return atoi(line);
}

static bool is_running(pid_t pid) {
    char text[16], state = 'Z';
    pid_t parent, session;
    snprintf(text, sizeof text, "%d", (int)pid);
    return cli_stat(text, &parent, &state, &session) && state != 'Z';
}

static bool has_tunnel(void *arg) {
    struct cli *cli = arg;
    return tunnel_of(cli->pid) > 0;
}

TEST(the_tunnel_ends_with_a_program_that_is_killed) {
    const char *args[CLI_ARGS_MAX] = {
        "run",
        "smoke",
        "--lock",
        "zk-lock",
        "--url",
        tls_text("zookeeper=zks://" ACCOUNT "127.0.0.1:%d/killed", tls_servers[SERVER].port),
        "--set",
        "run.duration=60s",
        "--no-page",
        "--out",
        cli_path("killed")};
    args[tls_sets("zookeeper", FILES, args, 11)] = NULL;
    struct cli cli;
    cli_start(&cli, NULL, args);
    cli_until(&cli, has_tunnel, &cli, "the tunnel");
    pid_t pid = tunnel_of(cli.pid);
    kill(cli.pid, SIGKILL);
    cli_wait(&cli);
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; is_running(pid); cli_nap_ms(5))
        assert_true(lb_now() < until_ns);
    cli_free(&cli);
}

/* In the child: no stunnel is where it was. Root alone may do this without a namespace of users. */
static void hide_stunnel(void *arg) {
    static const char *const places[] = {"/usr/bin/stunnel4", "/usr/bin/stunnel",
                                         "/usr/local/bin/stunnel", "/usr/sbin/stunnel"};
    (void)arg;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(125);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], F_OK) == 0 && mount("/dev/null", places[i], NULL, MS_BIND, NULL) != 0)
            _exit(125);
    }
}

TEST(a_missing_stunnel_is_named) {
    const char *args[CLI_ARGS_MAX] = {
        "run",    "smoke",
        "--url",  tls_text("zookeeper=zks://" ACCOUNT "127.0.0.1:%d", tls_servers[SERVER].port),
        "--out",  cli_path("no-stunnel"),
        "--lock", "zk-lock"};
    args[tls_sets("zookeeper", FILES, args, 8)] = NULL;
    struct cli_how how = {.prepare = hide_stunnel};
    struct cli cli = cli_run(&how, args);
    if (cli.code == 125) {
        print_message("[ SKIPPED ] only root can hide stunnel here\n");
        skip();
    }
    assert_code(&cli, LB_EXIT_MACHINE);
    assert_int_equal(cli_problems(&cli), 1);
    assert_has(cli.err, "install stunnel4");
    cli_free(&cli);
}

/* `verify` on this server, as its user runs it. */
TEST(verify_passes) {
    tls_verify("zookeeper", "zk-lock", BYNAME, URL, SIGNED, false);
}

TEST_MAIN(start_servers, tls_teardown)
