/* `lockbench verify` against answers that are known: real servers are locks, and servers that only speak the
 * protocol are caught, each with its verdict and its reason.
 * Needs: servers, 7 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "bench/tests/check_help.h"
#include "bench/tests/liar.h"

/* The port of "BACKEND=scheme://...:PORT/...". */
static char *port_of(char *option) {
    char *at = strstr(option, "127.0.0.1:");
    if (!at) fail_msg("no port in %s", option);
    return at + strlen("127.0.0.1:");
}

/* The same URL with another port. */
static void with_port(char *option, int port, char *text, size_t size) {
    char *at = port_of(option);
    snprintf(text, size, "%.*s%d%s", (int)(at - option), option, port,
             at + strspn(at, "0123456789"));
}

/* Verifies one lock; the caller decrefs its check.json. */
static json_t *verify(const char *lock, const char *option, const char *faults, int code) {
    static int made;
    char *out = cli_path("verify-%d", made++);
    struct cli cli =
        cli_run(NULL, ARGS("verify", lock, "--url", option, "--fault", faults, "--out", out));
    assert_code(&cli, code);
    cli_free(&cli);
    return check_result(out);
}

static void assert_why(const json_t *check, const char *lock, const char *fault, const char *part) {
    assert_has(cli_text_at(check_cell(check, lock, fault), "why"), part);
}

TEST(mistakes_are_named) {
    static const struct {
        const char *args[6];
        const char *says;
    } mistakes[] = {
        {{"verify", "redis-setnx"}, "which server? --url BACKEND=URL"},
        {{"verify", "pg-advisory", "--url", "redis=redis://h:1"}, "--url postgres=URL"},
        {{"verify", "file-flock", "--url", "redis=redis://h:1"}, "needs a server"},
        {{"verify", "redis-setxn", "--url", "redis=redis://h:1"}, "did you mean 'redis-setnx'"},
        {{"conform"}, "which lock?"},
        {{"conform", "redis-setxn"}, "did you mean 'redis-setnx'"},
        {{"conform", "redis"}, "one lock by its name"},
        {{"conform", "redis-setnx", "--set", "redis.nonsense=1"}, "neither redis-setnx nor redis"},
        {{"conform", "redis-setnx", "--set", "load.clients=1"}, "neither redis-setnx nor redis"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct cli cli = cli_run(NULL, mistakes[i].args);
        assert_code(&cli, 1);
        assert_has(cli.err, mistakes[i].says);
        assert_int_equal(cli_lines(cli.err), 1);
        cli_free(&cli);
    }
}

/* Scenarios that a certificate or a second address does not allow are left out, and so are faults of the server itself;
 * each is reported. */
TEST(what_is_left_out_is_said) {
    struct cli cli = cli_run(NULL, ARGS("verify", "redis-setnx", "--full", "--dry-run", "--url",
                                        "redis=redis+cluster://127.0.0.1:1"));
    assert_code(&cli, 0);
    assert_has(cli.out, "wire-cut           left out: no wire can lead to redis+cluster://");
    assert_has(cli.out, "server-restart     left out: the fault needs control of the server");
    assert_has(cli.out, "redis-setnx                          conformance");
    cli_free(&cli);
}

/* What most servers are tried with here: the suite, and the shortest scenarios with and without a wire. */
#define SHORT "conformance,none,wire-reset"
/* All columns of verify, with and without faults of clients and connections. */
#define LONG                                                                                       \
    SHORT ",pause,holder-kill,waiter-kill,starved-renewal,wire-delay,wire-cut,wire-one-way,"       \
          "lost-reply,server-restart"

/* One run of a real server's lock. */
static void pass(const char *backend, const char *lock, const char *faults, const char *jobs) {
    char option[200], *out = cli_path("verify-real-%s", lock);
    struct cli up;
    cli_up(&up, backend, backend, option, sizeof option);
    struct cli cli = cli_run(NULL, ARGS("verify", lock, "--url", option, "--out", out, "--fault",
                                        faults, "--jobs", jobs));
    assert_code(&cli, 0);
    assert_has(cli.err, " left out");
    json_t *check = check_result(out);
    check_assert(check, lock, "conformance", "safe");
    check_assert(check, lock, "none", "safe");
    json_decref(check);
    cli_free(&cli);
    cli_down(&up);
}

TEST(redis_passes) {
    pass("redis", "redis-setnx", LONG, "8");
}

TEST(postgres_passes) {
    pass("postgres", "pg-advisory", LONG, "8");
}

TEST(mariadb_passes) {
    pass("mariadb", "mysql-getlock", SHORT, "1");
}

TEST(etcd_passes) {
    pass("etcd", "etcd-mutex", SHORT, "1");
}

TEST(nats_passes) {
    pass("nats", "nats-kv", SHORT, "1");
}

TEST(memcached_passes) {
    pass("memcached", "memcached-add", SHORT, "1");
}

TEST(zookeeper_passes) {
    pass("zookeeper", "zk-lock", SHORT, "1");
}

/* A function of the same name before pg_catalog in the account's search_path: it returns at once. Clients
 * do not write the schema, and neither does lockbench. */
TEST(a_shadowed_advisory_lock_is_caught) {
    static const char sql[] =
        "create schema shadow;"
        "create function shadow.pg_advisory_lock(bigint) returns void language sql as 'select';"
        "create function shadow.pg_try_advisory_lock(bigint) returns boolean language sql as "
        "'select true';"
        "create function shadow.pg_advisory_unlock(bigint) returns boolean language sql as "
        "'select true';"
        "alter role current_user set search_path = shadow, pg_catalog, public;";
    char option[200];
    struct cli up;
    cli_up(&up, "postgres", "postgres", option, sizeof option);
    cli_psql(option, sql);
    json_t *check = verify("pg-advisory", option, "conformance,none", 3);
    check_assert(check, "pg-advisory", "conformance", "violated");
    check_assert(check, "pg-advisory", "none", "violated");
    assert_why(check, "pg-advisory", "conformance", "does not exclude");
    assert_why(check, "pg-advisory", "none", "double holder");
    json_decref(check);
    cli_down(&up);
}

/* Each half of the clients is on a server of its own. */
TEST(two_servers_behind_one_address_are_caught) {
    char first[200], second[200], option[200], user[64];
    struct cli up[2];
    cli_up(&up[0], "postgres", "postgres", first, sizeof first);
    cli_up(&up[1], "postgres", "postgres", second, sizeof second);
    /* One password, since it is one URL. */
    cli_psql(first, "alter role current_user password 'both'");
    cli_psql(second, "alter role current_user password 'both'");
    assert_int_equal(sscanf(first, "postgres=postgres://%63[^:@]", user), 1);
    struct liar liar = {.ports = {atoi(port_of(first)), atoi(port_of(second))}};
    liar_start(&liar);
    snprintf(option, sizeof option, "postgres=postgres://%s:both@127.0.0.1:%d/postgres", user,
             liar.port);
    json_t *check = verify("pg-advisory", option, "conformance,none", 3);
    check_assert(check, "pg-advisory", "conformance", "violated");
    check_assert(check, "pg-advisory", "none", "violated");
    json_decref(check);
    liar_stop(&liar);
    cli_down(&up[0]);
    cli_down(&up[1]);
}

/* A server behind a relay that changes some words of the requests. */
static json_t *verify_liar(const char *backend, const char *lock, struct liar *liar,
                           const char *faults) {
    char option[200], lying[200];
    struct cli up;
    cli_up(&up, backend, backend, option, sizeof option);
    liar->ports[0] = atoi(port_of(option));
    liar_start(liar);
    with_port(option, liar->port, lying, sizeof lying);
    json_t *check = verify(lock, lying, faults, 3);
    liar_stop(liar);
    cli_down(&up);
    return check;
}

TEST(a_get_lock_that_does_nothing_is_caught) {
    struct liar liar = {
        .words = {{"GET_LOCK(?, ?)", "1 OR (? AND ?)"}, {"RELEASE_LOCK(?)", "1 OR ISNULL(?) "}}};
    json_t *check = verify_liar("mariadb", "mysql-getlock", &liar, "conformance,none");
    check_assert(check, "mysql-getlock", "conformance", "violated");
    check_assert(check, "mysql-getlock", "none", "violated");
    assert_why(check, "mysql-getlock", "conformance", "does not exclude");
    json_decref(check);
}

TEST(a_set_nx_that_always_says_ok_is_caught) {
    struct liar liar = {.words = {{"$2\r\nNX\r\n", ""}, {"*6\r\n$3\r\nSET", "*5\r\n$3\r\nSET"}}};
    json_t *check = verify_liar("redis", "redis-setnx", &liar, "conformance,none");
    check_assert(check, "redis-setnx", "conformance", "violated");
    check_assert(check, "redis-setnx", "none", "violated");
    json_decref(check);
}

/* The relay makes leases a thousand times longer, so they never end in the test. */
TEST(a_server_that_ignores_px_is_caught) {
    struct liar liar = {.words = {{"$2\r\nPX\r\n", "$2\r\nEX\r\n"}}};
    json_t *check = verify_liar("redis", "redis-setnx", &liar, "conformance,holder-kill");
    check_assert(check, "redis-setnx", "conformance", "stuck");
    check_assert(check, "redis-setnx", "holder-kill", "stuck");
    assert_why(check, "redis-setnx", "conformance", "a lease ends, not too early");
    json_decref(check);
}

TEST_MAIN(cli_setup, cli_teardown)
