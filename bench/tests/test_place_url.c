/* test_place_url: the facts of a server at a URL: its durability class, by which reports group and rank, comes from the
 * server's own settings. Real servers, started by us and reached as if they were a user's; what is missing is a loud
 * skip.
 * Needs: servers. */
#include "bench/servers/topo.h"
#include "bench/tests/stage_help.h"

static char topologies[512];

/* A server of our own, and the same one reached by its URL. */
struct twice {
    struct plan *plan;
    struct place *own, *url;
};

static char absent[240]; /* what is missing here, in words; "" = nothing so far */

static bool is_missing(const char *topology) {
    struct topo_info info;
    struct lb_err err = {0};
    if (topo_info(topologies, topology, &info, &err) != 0) fail_msg("%s", err.text);
    if (!*info.missing) return false;
    snprintf(absent, sizeof absent, "%.90s is missing: install %.90s", info.missing, info.install);
    return true;
}

/* The end of a test whose other servers were tried. */
static void skip_for_absent(void) {
    char why[sizeof absent];
    memcpy(why, absent, sizeof why);
    *absent = '\0';
    if (*why) skip_for("%s", why);
}

/* False: the server is missing here. */
static bool twice_open(struct twice *twice, const char *lock, const char *topology,
                       const char *durability) {
    struct lb_err err = {0};
    char folder[512];
    *twice = (struct twice){0};
    assert_int_equal(home_path("workloads", folder, sizeof folder, &err), 0);
    assert_int_equal(home_path("compose/local", topologies, sizeof topologies, &err), 0);
    if (is_missing(topology)) return false;
    twice->plan =
        plan_load(&(struct plan_ask){.workload = "smoke", .folder = folder, .locks = lock}, &err);
    if (!twice->plan) fail_msg("%s", err.text);
    struct place_ask ask = {.lock = &twice->plan->locks[0],
                            .topology = topology,
                            .topologies = topologies,
                            .durability = durability,
                            .interrupts = &no_interrupts};
    twice->own = place_open(&ask, &err);
    if (!twice->own) fail_msg("%s", err.text);
    ask.url = twice->own->urls[0];
    twice->url = place_open(&ask, &err);
    if (!twice->url) fail_msg("%s", err.text);
    return true;
}

static void twice_close(struct twice *twice) {
    place_close(twice->url);
    place_close(twice->own);
    plan_free(twice->plan);
}

static const char *class_of(const struct twice *twice) {
    const char *class = place_durability_class(twice->url, twice->plan->locks[0].lock);
    return class ? class : "not told";
}

TEST(the_class_at_a_url_is_what_the_server_tells) {
    static const struct {
        const char *lock, *topology, *durability, *class, *words;
    } cases[] = {
        {"redis-setnx", "redis", "default", "memory", "nothing is written to disk"},
        {"redis-setnx", "redis", "sync", "disk", "appendfsync always"},
        {"memcached-add", "memcached", "default", "memory", "gone with the process"},
        {"pg-lease", "postgres", "default", "disk", "fsync on, synchronous_commit on"},
        {"pg-lease", "postgres", "none", "log", "fsync off"},
        {"nats-kv", "nats", "default", "not told", "sync_interval"},
        {"mysql-lease", "mariadb", "default", "disk", "innodb_flush_log_at_trx_commit=1"},
        {"etcd-mutex", "etcd", "default", "not told", "etcd does not say"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct twice twice;
        if (!twice_open(&twice, cases[i].lock, cases[i].topology, cases[i].durability)) continue;
        assert_string_equal(class_of(&twice), cases[i].class);
        if (!strstr(twice.url->durability, cases[i].words))
            fail_msg("%s: '%s' lacks '%s'", cases[i].topology, twice.url->durability,
                     cases[i].words);
        twice_close(&twice);
    }
    skip_for_absent();
}

/* What etcd does not tell the user may state; what the user states may not be another thing than the server tells; and of
 * servers of our own there is nothing to state. */
TEST(the_class_may_be_stated) {
    static const struct {
        const char *lock, *topology, *set, *class, *refused;
    } cases[] = {
        {"etcd-mutex", "etcd", "etcd.durability=disk", "disk", NULL},
        {"redis-setnx", "redis", "redis.durability=memory", "memory", NULL},
        {"redis-setnx", "redis", "redis.durability=disk", NULL,
         "but the server tells another: in memory"},
    };
    char folder[512];
    struct lb_err err = {0};
    assert_int_equal(home_path("workloads", folder, sizeof folder, &err), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct twice twice;
        struct plan_ask wanted = {.workload = "smoke",
                                  .folder = folder,
                                  .locks = cases[i].lock,
                                  .sets = &cases[i].set,
                                  .set_count = 1};
        if (!twice_open(&twice, cases[i].lock, cases[i].topology, "default")) continue;
        struct plan *plan = plan_load(&wanted, &err);
        if (!plan) fail_msg("%s", err.text);
        struct place_ask ask = {.lock = &plan->locks[0], .url = twice.own->urls[0]};
        struct place *place = place_open(&ask, &err);
        if (cases[i].class) assert_string_equal(place->durability_class, cases[i].class);
        if (cases[i].refused) assert_non_null(strstr(err.text, cases[i].refused));
        err = (struct lb_err){0};
        assert_int_equal(place_check_own(&ask, &err), -1);
        assert_non_null(strstr(err.text, "is set, but there is no --url"));
        err = (struct lb_err){0};
        place_close(place);
        plan_free(plan);
        twice_close(&twice);
    }
    skip_for_absent();
}

/* A URL names one server, so the guarantee is that of one server, not of a majority. */
TEST(one_server_is_no_majority) {
    static const char *const locks[][2] = {{"etcd-mutex", "etcd"}, {"zk-lock", "zookeeper"}};
    for (size_t i = 0; i < 2; i++) {
        struct twice twice;
        if (!twice_open(&twice, locks[i][0], locks[i][1], "default")) continue;
        assert_string_equal(place_guarantee(twice.url, twice.plan->locks[0].lock), "node");
        twice_close(&twice);
    }
    skip_for_absent();
}

TEST_MAIN(NULL, NULL)
