/* test_accounts: servers of the user's own whose account has few rights: what the locks do not need may be refused,
 * and what they need is named.
 * Needs: servers. */
#define _GNU_SOURCE
#include "drivers/tests/tls_help.h"

/* ---- Redis ---- */

/* $RIGHTS: what the account `me` may do. */
#define REDIS                                                                                      \
    "exec redis-server - >/dev/null <<END\nbind 127.0.0.1\nport $PORT\ndir $DIR\nsave \"\"\n"      \
    "user me on >" TLS_SECRET " $RIGHTS\n"

static void redis_start(int index, const char *rights) {
    setenv("RIGHTS", rights, 1);
    tls_start(index, "", REDIS "END");
}

static const char *redis_url(int index) {
    return tls_text("redis=redis://" ACCOUNT "127.0.0.1:%d", tls_servers[index].port);
}

/* A short run, whose folder is anew "out". */
static struct cli run_at(const char *lock, const char *url, const char *set) {
    folder_remove(cli_path("out"));
    return cli_run(NULL, ARGS("run", "smoke", "--lock", lock, "--url", url, "--no-page", "--set",
                              "load.clients=2", "--set", set, "--out", cli_path("out")));
}

TEST(an_account_without_info) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~* &* +@all -@dangerous");
    struct cli cli = run_at("redis-setnx", redis_url(0), "load.keys=1");
    assert_code(&cli, 0);
    cli_free(&cli);
    json_t *run = cli_result(cli_path("out"));
    assert_has(cli_text_at(run, "servers.0.facts.version"), ".");
    assert_string_equal(cli_text_at(run, "servers.0.facts.mode"), "standalone");
    assert_has(cli_text_at(run, "servers.0.durability"), "not told");
    json_decref(run);
    cli = cli_run(NULL, ARGS("clean", "--url", redis_url(0)));
    assert_code(&cli, 0);
    cli_free(&cli);
}

TEST(doctor_says_whether_a_server_lets_us_in) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~* &* +@all -@dangerous");
    struct cli cli = cli_run(NULL, ARGS("doctor", "--json", "--url", redis_url(0)));
    assert_code(&cli, 0);
    assert_has(cli.out, "\"url redis\"");
    assert_has(cli.out, "redis://me:***@127.0.0.1");
    assert_has(cli.out, "TLS: no");
    cli_free(&cli);
    const char *wrong = tls_text("redis=redis://me:wrong@127.0.0.1:%d", tls_servers[0].port);
    cli =
        cli_run(NULL, ARGS("doctor", "--url", wrong, "--url", "memcached=memcached://127.0.0.1:1"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.out, "WRONGPASS");
    assert_has(cli.out, "url memcached");
    assert_lacks(cli.out, "locks can run here");
    cli_free(&cli);
    char *out = cli_path("refused");
    const char *const *const commands[] = {
        ARGS("run", "smoke", "--lock", "redis-setnx", "--url", wrong, "--out", out),
        ARGS("check", "redis-setnx", "--url", wrong, "--out", out),
        ARGS("capacity", "redis-setnx", "--url", wrong, "--out", out),
        ARGS("hold", "redis-setnx", "key", "--url", wrong, "--", "true"),
        ARGS("clean", "--url", wrong)};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        folder_remove(out);
        cli = cli_run(NULL, commands[i]);
        assert_code(&cli, LB_EXIT_USAGE);
        assert_has(cli.err, "WRONGPASS");
        cli_free(&cli);
    }
}

TEST(a_primary_without_info_and_role) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~* &* +@all -@dangerous");
    setenv("PRIMARY", tls_text("%d", tls_servers[0].port), 1);
    setenv("RIGHTS", "~* &* +@all -@dangerous", 1);
    tls_start(1, "", REDIS "replicaof 127.0.0.1 $PRIMARY\nEND");
    const char *url = tls_text("redis=redis+replicas://" ACCOUNT "127.0.0.1:%d,127.0.0.1:%d",
                               tls_servers[1].port, tls_servers[0].port);
    struct cli cli = run_at("redis-setnx", url, "load.keys=1");
    assert_code(&cli, 0);
    cli_free(&cli);
    json_t *run = cli_result(cli_path("out"));
    assert_has(cli_text_at(run, "servers.0.facts.replicas"), "not told");
    json_decref(run);
    /* Redisson counts the replicas by INFO before it waits for one of them. */
    cli = run_at("redis-reentrant", url, "load.keys=1");
    cli_free(&cli);
    char *told = cli_read(cli_path("out/run.json"));
    assert_has(told, "-@dangerous +info '&*'");
    free(told);
}

/* What bench/OWN-SERVERS.md says that an account needs. */
#define RIGHTS "+@read +@write +@scripting +@pubsub +@connection -@dangerous"

static void assert_granted(const char *locks, const char *url) {
    struct cli cli = run_at(locks, url, "load.keys=1");
    assert_code(&cli, 0);
    assert_lacks(cli.err, "lockbench: ");
    assert_lacks(cli.err, "left on");
    cli_free(&cli);
    cli = cli_run(NULL, ARGS("clean", "--url", url));
    assert_code(&cli, 0);
    cli_free(&cli);
}

TEST(the_rights_that_redis_needs) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~lockbench-* ~{lockbench-* ~redisson*{lockbench-* &* " RIGHTS);
    assert_granted("redis-setnx,redis-fenced,redis-reentrant,redis-fair,redis-rwlock,redis-permit,"
                   "redis-spin,redis-segmented",
                   redis_url(0));
}

/* Nothing was made, and nobody could ask whether it was. */
static void assert_unsure(const char *lock, const char *url, const char *why) {
    struct cli cli = run_at(lock, url, "load.keys=1");
    assert_true(cli.code != 0);
    assert_lacks(cli.err, "left on ");
    assert_lacks(cli.err, "removes it");
    assert_has(cli.err, "could not ask ");
    assert_has(cli.err, why);
    assert_has(cli.err,
               "); to look: `lockbench clean --dry-run --url redis=@redis.url` (first write "
               "the URL with its password into the file redis.url)");
    cli_free(&cli);
}

TEST(what_is_left_is_not_known_where_redis_refuses_the_keys) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~ours:* &* +@all");
    assert_unsure("redis-setnx", redis_url(0), "whether keys are left there (redis: NOPERM");
}

TEST(a_refused_key_says_what_to_set) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~ours:* &* +@all");
    struct cli cli = run_at("redis-setnx", redis_url(0), "load.keys=1");
    assert_true(cli.code != 0);
    assert_has(cli.err,
               "lockbench: no request of a measured window was granted: redis-setnx: redis: "
               "NOPERM");
    assert_has(strstr(cli.err, "was granted: "), "with --set load.key_prefix=PREFIX, ~PREFIX*");
    cli_free(&cli);
    cli = run_at("redis-setnx", redis_url(0), "load.key_prefix=ours:");
    assert_code(&cli, 0);
    cli_free(&cli);
}

/* What `doctor` says of a lock at a server, and its exit code: NULL = it works. Nothing of it stays. */
static void assert_doctor(const char *lock, const char *url, const char *grants) {
    struct cli cli = cli_run(NULL, ARGS("doctor", lock, "--json", "--url", url));
    assert_code(&cli, grants ? LB_EXIT_MACHINE : 0);
    assert_has(cli.out, grants ? grants : "taken and freed");
    cli_free(&cli);
    cli = cli_run(NULL, ARGS("clean", "--dry-run", "--url", url));
    assert_lacks(cli.out, "lockbench-");
    cli_free(&cli);
}

/* ---- PostgreSQL and MariaDB ---- */

/* The server refuses to run as root. */
#define POSTGRES                                                                                         \
    "chmod 755 $DIR; as=; if [ $(id -u) = 0 ]; then who=postgres; id $who >/dev/null 2>&1 || "           \
    "who=nobody\nchown -R $who $DIR; as=\"setpriv --reuid $who --clear-groups --pdeathsig KILL\"\n"      \
    "fi\ncommand -v initdb >/dev/null || PATH=$(echo /usr/lib/postgresql/*/bin | sed 's/.* //'):$PATH\n" \
    "cd $DIR; $as initdb -D data --username postgres --auth trust --no-sync\n"                           \
    "printf \"create role me login password '" TLS_SECRET "'\\n$RIGHTS\\n\" | "                          \
    "$as postgres --single -D data -c fsync=off postgres\n"                                              \
    "exec $as postgres -D data -p $PORT -c listen_addresses=127.0.0.1 -c unix_socket_directories= "      \
    "-c fsync=off -c dynamic_shared_memory_type=mmap"

static const char *postgres_url(int index) {
    return tls_text("postgres=postgres://" ACCOUNT "127.0.0.1:%d/postgres",
                    tls_servers[index].port);
}

static void postgres_start(int index, const char *rights) {
    setenv("RIGHTS", rights, 1);
    tls_start(index, "", POSTGRES);
    tls_await_postgres(postgres_url(index));
}

TEST(the_rights_that_postgresql_needs) {
    need_program("psql", "postgresql");
    postgres_start(1, "grant usage, create on schema public to me");
    assert_granted("pg-advisory,pg-advisory-xact,pg-row,pg-nowait,pg-table,pg-flag,pg-lease,"
                   "pg-optimistic,pg-update,pg-sequence",
                   postgres_url(1));
    assert_doctor("postgres", postgres_url(1), NULL);
}

TEST(nothing_is_left_where_postgresql_refuses_the_table) {
    need_program("psql", "postgresql");
    postgres_start(3, "revoke create on schema public from public");
    struct cli cli = run_at("pg-table", postgres_url(3), "load.keys=1");
    assert_true(cli.code != 0);
    assert_has(cli.err, "permission denied for schema public");
    assert_has(cli.err, "GRANT USAGE, CREATE ON SCHEMA public");
    assert_lacks(cli.err, "left on ");
    assert_lacks(cli.err, "could not ask ");
    cli_free(&cli);
    assert_doctor("pg-row", postgres_url(3), "GRANT USAGE, CREATE ON SCHEMA public");
    assert_doctor("pg-advisory", postgres_url(3), NULL);
}

#define MARIADB                                                                                    \
    "mariadb-install-db --no-defaults --user=root --datadir=$DIR/data --skip-test-db "             \
    "--skip-name-resolve --auth-root-authentication-method=normal\n"                               \
    "cat >$DIR/accounts.sql <<END\ncreate database locks;\n"                                       \
    "create user me@'127.0.0.1' identified by '" TLS_SECRET                                        \
    "';\n$RIGHTS to me@'127.0.0.1';\nEND\n"                                                        \
    "exec mariadbd --no-defaults --user=root --datadir=$DIR/data --tmpdir=$DIR --port=$PORT "      \
    "--bind-address=127.0.0.1 --socket=m.sock --pid-file=m.pid --skip-name-resolve "               \
    "--init-file=$DIR/accounts.sql --skip-ssl"

TEST(the_rights_that_mariadb_needs) {
    need_program("mariadbd", "mariadb-server");
    setenv("RIGHTS", "grant create, drop, index, select, insert, update, delete on locks.*", 1);
    tls_start(2, "", MARIADB);
    assert_granted("mysql-getlock,mysql-row,mysql-nowait,mysql-table,mysql-flag,mysql-lease,"
                   "mysql-optimistic,mysql-update",
                   tls_text("mariadb=mysql://" ACCOUNT "127.0.0.1:%d/locks", tls_servers[2].port));
}

/* Locks are granted, and no release is allowed: no figure is of a working lock. */
TEST(requests_that_mostly_fail_are_no_success) {
    need_program("redis-server", "redis-server");
    redis_start(0, "~* &* +@read +@connection +set");
    struct cli cli = cli_run(NULL, ARGS("run", "contended", "redis-setnx", "-c", "2", "-d", "500ms",
                                        "--set", "acquire.lease=200ms", "--url", redis_url(0),
                                        "--no-page", "--out", cli_path("refused")));
    assert_code(&cli, LB_EXIT_MACHINE);
    assert_has(cli.err, "requests failed: redis: NOPERM");
    cli_free(&cli);
}

/* ---- doctor ---- */

/* One message has all of them: whoever grants these needs no second try. */
#define ALL "+@read +@write +@scripting +@pubsub +@connection -@dangerous "

TEST(doctor_names_the_right_that_redis_refuses) {
    static const struct {
        const char *lock, *rights, *grants;
    } cases[] = {
        {"redis-setnx", "~* &* +@read +@connection", "ACL SETUSER me " ALL "+set '&*' ~* (or"},
        {"redis-reentrant", "+@read +@connection +@write",
         "ACL SETUSER me " ALL "+evalsha '&*' ~*"},
        {"redis-reentrant", "~* resetchannels +@all", "ACL SETUSER me '&*' ~*"},
        {"redis-setnx", "~ours:* &* +@all", "ACL SETUSER me '&*' ~*"},
        {"redis-setnx,redis-reentrant", ALL "+set +evalsha &* ~*", NULL},
        {"redis", "~lockbench-* ~{lockbench-* ~redisson*{lockbench-* &* " RIGHTS, NULL},
    };
    need_program("redis-server", "redis-server");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        redis_start(0, cases[i].rights);
        assert_doctor(cases[i].lock, redis_url(0), cases[i].grants);
    }
    struct cli cli = cli_run(NULL, ARGS("doctor", "redis-setnx"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "is tried on a server of yours: --url redis=URL");
    cli_free(&cli);
}

TEST(doctor_names_the_right_that_mariadb_refuses) {
    need_program("mariadbd", "mariadb-server");
    setenv("RIGHTS", "grant select, insert, update, delete on locks.*", 1);
    tls_start(5, "", MARIADB);
    const char *url =
        tls_text("mariadb=mysql://" ACCOUNT "127.0.0.1:%d/locks", tls_servers[5].port);
    assert_doctor("mysql-lease", url,
                  "GRANT CREATE, DROP, INDEX, SELECT, INSERT, UPDATE, DELETE ON locks.* TO "
                  "'me'@'127.0.0.1'");
    assert_doctor("mysql-getlock", url, NULL);
    url = tls_text("mariadb=mysql://" ACCOUNT "127.0.0.1:%d", tls_servers[5].port);
    assert_doctor("mysql-lease", url, "ON lockbench.* TO 'me'@'127.0.0.1'");
}

#define ETCD                                                                                       \
    "exec etcd --data-dir $DIR/data --listen-client-urls http://127.0.0.1:$PORT "                  \
    "--advertise-client-urls http://127.0.0.1:$PORT --listen-peer-urls http://127.0.0.1:$PORT2 "   \
    "--initial-advertise-peer-urls http://127.0.0.1:$PORT2 "                                       \
    "--initial-cluster default=http://127.0.0.1:$PORT2 --unsafe-no-fsync"

TEST(doctor_names_the_right_that_etcd_refuses) {
    need_program("etcd", "etcd-server");
    need_program("etcdctl", "etcd-client");
    tls_start(2, "", ETCD);
    tls_script(2,
               "ctl() { ETCDCTL_API=3 etcdctl --endpoints 127.0.0.1:$PORT \"$@\"; }\n"
               "until ctl endpoint health; do sleep 0.1; done\n"
               "ctl user add root:x; ctl user add me:" TLS_SECRET "\n"
               "ctl role add ours; ctl role grant-permission ours --prefix=true readwrite other\n"
               "ctl user grant-role me ours; ctl user grant-role root root; ctl auth enable\n");
    assert_doctor("etcd-key", tls_text("etcd=etcd://" ACCOUNT "127.0.0.1:%d", tls_servers[2].port),
                  "etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX");
}

#define NATS                                                                                       \
    "exec nats-server -c /dev/stdin <<END\nlisten: \"127.0.0.1:$PORT\"\njetstream { store_dir: "   \
    "\"$DIR\" }\nauthorization { users: [{ user: me, password: \"" TLS_SECRET                      \
    "\", permissions: { $RIGHTS } }] }\nEND"

TEST(doctor_names_the_right_that_nats_refuses) {
    need_program("nats-server", "nats-server");
    setenv("RIGHTS", "publish: [\"other.>\"], subscribe: \"_INBOX.>\"", 1);
    tls_start(4, "", NATS);
    const char *url = tls_text("nats=nats://" ACCOUNT "127.0.0.1:%d", tls_servers[4].port);
    assert_doctor("nats-kv", url, "permissions { publish: ");
    setenv("RIGHTS", "publish: [\"$JS.API.>\", \"$KV.>\"], subscribe: \"_INBOX.>\"", 1);
    tls_start(4, "", NATS);
    url = tls_text("nats=nats://" ACCOUNT "127.0.0.1:%d", tls_servers[4].port);
    assert_doctor("nats-kv", url, NULL);
}

/* The nodes above the keys are those of the account that came first. */
TEST(doctor_names_the_right_that_zookeeper_refuses) {
    char option[300], other[320], *at;
    struct cli up, cli;
    cli_up(&up, "zookeeper", "zookeeper", option, sizeof option);
    at = strstr(option, "://") + 3;
    snprintf(other, sizeof other, "%.*sfirst:x@%s", (int)(at - option), option, at);
    cli = cli_run(NULL, ARGS("hold", "zk-lock", "k", "--url", other, "--", "true"));
    assert_code(&cli, 0);
    cli_free(&cli);
    snprintf(other, sizeof other, "%.*ssecond:x@%s", (int)(at - option), option, at);
    assert_doctor("zk-lock", other, "setAcl -R /NODE auth::cdrwa");
    cli_down(&up);
}

TEST_MAIN(cli_setup, tls_teardown)
