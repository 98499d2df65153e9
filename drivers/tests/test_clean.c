/* test_clean: however a run at --url ends, after `lockbench clean` the server holds exactly what it held before, also
 * other people's keys with similar names; a run that could tidy up itself needs no clean. RANDOM_KILLS=50 ends so many
 * runs of each server, at random moments; RANDOM_SEED=N repeats the moments of an earlier test.
 * Needs: servers, 3 minutes. */
#define _GNU_SOURCE
#include "drivers/tests/clean_help.h"

#define KILLS 3        /* the first run is whole, the others get SIGKILL and Ctrl-C in turn */
#define LATEST_MS 1500 /* a run is ended at most so long after its start */
#define QUIET_S 10     /* for sessions of killed clients to end */

/* A server, what others keep there, and how to list all that it holds. */
struct guest_case {
    const char *server; /* its topology; "file" = a folder */
    const char *backend;
    const char *locks; /* the first run has all, each other one of them */
    const char *workload;
    /* a script that makes things of other people's, one with "mine" in its name; or KEEPS_NOTHING */
    const char *keep;
    const char *list; /* a script that lists everything */
};

/* A case's server while it runs. */
struct host {
    const struct guest_case *at;
    struct live_place live; /* none for "file" */
    char url[700];          /* with "BACKEND=" before it */
};

#define KEEPS_NOTHING ":"

#define REDIS_KEEP(cli)                                                                            \
    "for pair in 'lockbench-mine 1' 'orders/7 2' 'lockbench-1234567-0 3' "                         \
    "'redisson_lock_token:{orders} 4' '{orders}:timeout 5'; do " cli " set $pair; done"

/* The keys of the nodes that the words name, each once, since replicas have the same. */
#define REDIS_LIST(nodes)                                                                          \
    "set -- $PORTS; for port in " nodes "; do redis-cli -p $port --scan; done | sort -u"

#define ETCD "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT "
#define ETCD_KEEP ETCD "put lockbench-mine 1"
#define ETCD_LIST ETCD "get --prefix --keys-only ''; " ETCD "lease list"

/* The server closes the connection behind its answer. */
#define ZOO_LIST SAY("mntr", "no such line") " | grep -e znode_count -e ephemerals_count"

#define NATS_LOGIN                                                                                 \
    "CONNECT {\"verbose\":false,\"user\":\"lockbench\",\"pass\":\"'$SECRET'\"}\\r\\nSUB me 1\\r\\n"
#define NATS_KEEP                                                                                  \
    SAY(NATS_LOGIN "PUB $JS.API.STREAM.CREATE.KV_lockbench_mine me 64\\r\\n"                       \
                   "{\"name\":\"KV_lockbench_mine\",\"subjects\":[\"$KV.lockbench_mine.>\"]}"      \
                   "\\r\\n",                                                                       \
        "stream_create_response")
#define NATS_LIST                                                                                  \
    SAY(NATS_LOGIN "PUB $JS.API.STREAM.NAMES me 0\\r\\n\\r\\n", "stream_names_response")           \
    " | grep -o '\"streams\":.*'"

#define MARIADB "mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root -e "

static const struct guest_case cases[] = {
    {"redis", "redis",
     "redis-setnx,redis-reentrant,redis-fair,redis-spin,redis-fenced,redis-multi,redis-"
     "segmented,redis-rwlock,redis-incr",
     "contended", REDIS_KEEP("redis-cli -p $PORT"), REDIS_LIST("$1")},
    {"redis", "redis", "redis-semaphore,redis-permit", "semaphore",
     REDIS_KEEP("redis-cli -p $PORT"), REDIS_LIST("$1")},
    {"redis-replicas", "redis", "redis-wait,redis-setnx", "contended",
     REDIS_KEEP("redis-cli -p $PORT"), REDIS_LIST("$1 $2 $3")},
    {"redis-sentinel", "redis", "redis-setnx,redis-fair,redis-fenced", "contended",
     REDIS_KEEP("redis-cli -p $PORT"), REDIS_LIST("$1 $2 $3")},
    {"redis-cluster", "redis", "redis-setnx,redis-fair,redis-fenced", "contended",
     REDIS_KEEP("redis-cli -c -p $PORT"), REDIS_LIST("$1 $2 $3 $4 $5 $6")},
    {"redis-independents", "redis", "redis-redlock,redis-multi", "contended",
     "set -- $PORTS; for port; do redis-cli -p $port mset lockbench-mine 1 orders/7 2; done",
     REDIS_LIST("$1 $2 $3 $4 $5")},
    {"etcd", "etcd", "etcd-mutex,etcd-lock,etcd-key", "contended", ETCD_KEEP, ETCD_LIST},
    {"etcd-3", "etcd", "etcd-mutex,etcd-lock,etcd-key", "contended", ETCD_KEEP, ETCD_LIST},
    {"postgres", "postgres",
     "pg-advisory,pg-advisory-xact,pg-row,pg-lease,pg-table,pg-optimistic,pg-update,pg-sequence,pg-nowait,pg-flag",
     "guarded-update",
     "psql -q $URL -c 'create table lockbench_mine (name text); create table other (name text); "
     "create sequence lockbench_seq'",
     "psql -XAtq $URL -c \"select relkind, relname from pg_class where relnamespace = "
     "'public'::regnamespace order by 1, 2\""},
    {"mariadb", "mariadb",
     "mysql-getlock,mysql-row,mysql-lease,mysql-table,mysql-optimistic,mysql-update,mysql-nowait,mysql-flag",
     "contended", MARIADB "'create database mine; create table mine.lockbench_row (name int)'",
     MARIADB "'show databases; select table_schema, table_name from information_schema.tables "
             "where table_schema not in (\"information_schema\", \"sys\", \"mysql\")'"},
    {"zookeeper", "zookeeper", "zk-lock,zk-recipe,zk-semaphore,zk-multi,zk-reentrant,zk-rwlock",
     "contended", KEEPS_NOTHING, ZOO_LIST},
    {"zookeeper-3", "zookeeper", "zk-lock,zk-recipe,zk-semaphore", "contended", KEEPS_NOTHING,
     ZOO_LIST},
    {"nats", "nats", "nats-kv", "contended", NATS_KEEP, NATS_LIST},
    /* One client at a time: several on three servers of Debian's version are not kept apart. */
    {"nats-3", "nats", "nats-kv", "uncontended", NATS_KEEP, NATS_LIST},
    /* lockbench can't list memcached's keys, so all of them must expire by themselves. */
    {"memcached", "memcached", "memcached-add", "contended",
     MEMCACHED("set mine 0 0 1\\r\\n1\\r\\n", "STORED"),
     MEMCACHED("lru_crawler metadump all\\r\\n",
               "^(END|BUSY)") " | grep exp=-1 | grep -o 'key=[^ ]*'"},
    {"file", "file", "file-flock,file-ofd,file-lockfile", "contended",
     "touch $DIR/mine.lock $DIR/lockbench-mine.lockfile", "ls -A $DIR"},
};

static unsigned long long dice;

/* A number below the limit. */
static int roll(int limit) {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (int)(dice % (unsigned long long)limit);
}

/* True if the janitor has written what is left, which it does a moment after the program's end. */
static bool is_told(void *path) {
    char *text = cli_read(path);
    bool told = strstr(text, "left on ") && strstr(text, "`lockbench clean --url ");
    free(text);
    return told;
}

static bool waits_to_be_told(struct cli *cli) {
    int64_t until_ns = lb_now() + QUIET_S * LB_S_NS;
    while (!is_told(cli->err_path) && lb_now() < until_ns) cli_nap_ms(5);
    return is_told(cli->err_path);
}

/* True if a run leaves objects that keys share, and says so, because another run may use them. */
static bool stays(const struct guest_case *at) {
    return strcmp(at->backend, "nats") == 0;
}

/* All locks of the case, or one of them. */
static const char *choose_locks(const struct guest_case *at, bool all) {
    static char chosen[64];
    int count = 1;
    for (const char *c = at->locks; *c; c++) count += *c == ',';
    if (all) return at->locks;
    const char *from = at->locks;
    for (int skip = roll(count); skip > 0; skip--) from = strchr(from, ',') + 1;
    snprintf(chosen, sizeof chosen, "%.*s", (int)strcspn(from, ","), from);
    return chosen;
}

/* How a run was ended. */
struct ending {
    char text[120];
    bool told; /* what it left, with the command that removes it */
};

/* Runs until a random moment, and ends it by the signal; 0: lets it end by itself. */
static struct ending run_and_end(const struct host *host, int signal) {
    const struct guest_case *at = host->at;
    struct ending ending = {0};
    struct cli cli;
    char *out = cli_path("run-%s", at->server);
    const char *locks = choose_locks(at, !signal);
    int after_ms = signal ? 50 + roll(LATEST_MS) : 0;
    cli_start(&cli, NULL,
              ARGS("run", at->workload, "--lock", locks, "--url", host->url, "--set",
                   "run.duration=300ms", "--set", "run.warmup=50ms", "--set", "load.clients=4",
                   "--set", "check.store=backend", "--no-page", "--out", out));
    int64_t until_ns = lb_now() + after_ms * LB_MS_NS;
    while (lb_now() < until_ns) cli_nap_ms(2);
    if (signal) kill(cli.pid, signal);
    cli_wait(&cli);
    bool began = strstr(cli.err, ": will be made there: ") != NULL;
    bool cut_off = cli.code == CLI_KILLED + SIGKILL && began;
    ending.told = cut_off && waits_to_be_told(&cli);
    if (!signal) assert_code(&cli, 0);
    if (!signal) assert_true(began);
    /* With several servers, one of them may not know of the bucket yet. */
    bool sure = strcmp(at->server, "nats") == 0;
    if (!signal && sure) assert_has(cli.err, "left on ");
    folder_remove(out);
    snprintf(ending.text, sizeof ending.text, "%.60s ended by signal %d after %d ms", locks, signal,
             after_ms);
    return ending;
}

/* Fails unless the server holds `before` within QUIET_S, because it notices the end of a killed client only after some
 * time. The last request of such a client may be carried out after the first clean, so clean runs again. */
static void assert_holds(const struct host *host, const char *before, const struct ending *ending) {
    int64_t until_ns = lb_now() + QUIET_S * LB_S_NS;
    char *now = shell(&host->live, host->at->list);
    while (strcmp(now, before) != 0 && lb_now() < until_ns) {
        free(now);
        cli_nap_ms(200);
        if (ending->told) clean_url(host->url);
        now = shell(&host->live, host->at->list);
    }
    if (strcmp(now, before) != 0)
        fail_msg("%s, %s: the server held\n%s\nand holds\n%s", host->at->server, ending->text,
                 before, now);
    free(now);
}

/* The server of a case. live.missing: why there is none. */
static struct host open_host(const struct guest_case *at) {
    struct host host = {.at = at};
    char first[64], *dir = cli_path("guests");
    if (strcmp(at->server, "file") == 0) {
        assert_int_equal(mkdir(dir, 0755), 0);
        setenv("DIR", dir, 1);
        snprintf(host.url, sizeof host.url, "file=file://%s", dir);
        return host;
    }
    snprintf(first, sizeof first, "%.*s", (int)strcspn(at->locks, ","), at->locks);
    host.live = live_open_at(at->server, first, NULL);
    if (!host.live.missing)
        snprintf(host.url, sizeof host.url, "%s", backend_url(at->backend, &host.live));
    return host;
}

static void close_host(struct host *host) {
    if (host->live.place) live_close(&host->live);
}

/* Makes other people's keys on the server, and lists all keys. Not each of three servers may know of a new stream yet,
 * which would then look as if a run had left it, so the listing is repeated. To be freed. */
static char *keep_and_list(const struct host *host) {
    const struct guest_case *at = host->at;
    int64_t until_ns = lb_now() + QUIET_S * LB_S_NS;
    free(shell(&host->live, at->keep));
    char *list = shell(&host->live, at->list);
    while (strcmp(at->keep, KEEPS_NOTHING) != 0 && !strstr(list, "mine") && lb_now() < until_ns) {
        free(list);
        cli_nap_ms(200);
        list = shell(&host->live, at->list);
    }
    if (strcmp(at->keep, KEEPS_NOTHING) != 0) assert_has(list, "mine");
    assert_true(strlen(list) > 0);
    return list;
}

static void end_runs_at(const struct host *host, int kills) {
    const struct guest_case *at = host->at;
    clean_url(host->url); /* what made the server ready for this test */
    char *before = keep_and_list(host);
    for (int i = 0; i < kills; i++) {
        struct ending ending = run_and_end(host, i == 0 ? 0 : i % 2 ? SIGKILL : SIGINT);
        if (ending.told || stays(at)) clean_url(host->url); /* all others tidy up themselves */
        assert_holds(host, before, &ending);
    }
    free(before);
}

static void end_runs_on(const char *server) {
    const char *kills = getenv("RANDOM_KILLS"), *seed = getenv("RANDOM_SEED");
    unsigned long long first = seed ? strtoull(seed, NULL, 10) : (unsigned long long)lb_now();
    print_message("RANDOM_SEED=%llu\n", first);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].server, server) != 0) continue;
        dice = first ^ 0x9e3779b97f4a7c15u;
        struct host host = open_host(&cases[i]);
        LIVE_NEEDS(&host.live);
        end_runs_at(&host, kills ? atoi(kills) : KILLS);
        close_host(&host);
    }
}

#define HOLDS(name, server)                                                                        \
    TEST(name##_holds_what_it_held_before) {                                                       \
        end_runs_on(server);                                                                       \
    }
HOLDS(redis, "redis")
HOLDS(redis_replicas, "redis-replicas")
HOLDS(redis_sentinel, "redis-sentinel")
HOLDS(redis_cluster, "redis-cluster")
HOLDS(redis_independents, "redis-independents")
HOLDS(etcd, "etcd")
HOLDS(etcd_3, "etcd-3")
HOLDS(postgres, "postgres")
HOLDS(mariadb, "mariadb")
HOLDS(zookeeper, "zookeeper")
HOLDS(zookeeper_3, "zookeeper-3")
HOLDS(nats, "nats")
HOLDS(nats_3, "nats-3")
HOLDS(memcached, "memcached")
HOLDS(folder, "file")

TEST(a_server_must_be_named) {
    struct cli cli = cli_run(NULL, ARGS("clean"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "which server?");
}

TEST_MAIN(cli_setup, cli_teardown)
