/* Stepped clocks: the shim itself, and that real servers which are started with it believe it. A
 * server that is not installed is skipped loudly, and is a failure where CI is set.
 * Needs: servers. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "bench/base/home.h"
#include "bench/tests/acts_help.h"

/* --- the shim itself, under this program --- */

static int64_t true_now_s(clockid_t clock) {
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec;
}

/* What the C library's clocks say, compared with the kernel's, in whole seconds; and how long a
 * wait of 50 ms by the wall clock lasts. */
static int watch(void) {
    struct timespec now, mono, until, got;
    struct timeval of_day;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    gettimeofday(&of_day, NULL);
    timespec_get(&got, TIME_UTC);
    int64_t wall = true_now_s(CLOCK_REALTIME);
    printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, (int64_t)now.tv_sec - wall,
           (int64_t)of_day.tv_sec - wall, (int64_t)time(NULL) - wall, (int64_t)got.tv_sec - wall,
           (int64_t)mono.tv_sec - true_now_s(CLOCK_MONOTONIC));
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    int64_t begin_ns = lb_now();
    until = now;
    until.tv_nsec += 50 * LB_MS_NS;
    if (until.tv_nsec >= LB_S_NS)
        until = (struct timespec){until.tv_sec + 1, until.tv_nsec - LB_S_NS};
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&cond, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    printf(" %s %" PRId64 "\n", result == ETIMEDOUT ? "late" : "?",
           (lb_now() - begin_ns) / LB_MS_NS);
    return 0;
}

TEST(the_shim_moves_the_wall_clock_alone) {
    static const int steps_s[] = {0, 61, -61, 400000000, -1};
    char shim[PATH_MAX], self[PATH_MAX], offset[] = "/tmp/lockbench-test-XXXXXX",
                                         command[3 * PATH_MAX];
    struct lb_err err = {0};
    must(home_beside("clock_shim.so", shim, sizeof shim, &err), &err);
    assert_non_null(realpath("/proc/self/exe", self));
    int fd = mkstemp(offset);
    snprintf(
        command, sizeof command,
        "ASAN_OPTIONS=verify_asan_link_order=0 LB_SHARED=%s LD_PRELOAD=%s timeout 50 '%s' --watch",
        offset, shim, self);
    for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
        int64_t by_ns = steps_s[i] * LB_S_NS;
        assert_int_equal(pwrite(fd, &by_ns, sizeof by_ns, 0), sizeof by_ns);
        FILE *out = popen(command, "r");
        int64_t seen[4], mono, ms;
        char how[20];
        assert_int_equal(
            fscanf(out, "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%19s%" SCNd64,
                   &seen[0], &seen[1], &seen[2], &seen[3], &mono, how, &ms),
            7);
        assert_int_equal(pclose(out), 0);
        /* The second may change between two looks. */
        for (int s = 0; s < 4; s++) assert_in_range(seen[s] - steps_s[i] + 5, 0, 6);
        assert_in_range(mono + 5, 0, 6);
        assert_string_equal(how, "late");
        assert_true(ms >= 40 && ms < 30000); /* else it waits 61 s longer, or not at all */
    }
    close(fd);
    unlink(offset);
}

/* --- servers --- */

static void step(struct topo *topo, int node, int64_t by_s) {
    struct lb_err err = {0};
    must(topo_clock(topo, node, by_s * LB_S_NS, &err), &err);
}

/* A number that a command prints. A server that listens may refuse clients for a while, as PostgreSQL does. */
static int64_t number_of(const char *command) {
    int64_t number = 0;
    for (int64_t until_ns = lb_now() + 120 * LB_S_NS;; lb_nap(100 * LB_MS_NS)) {
        FILE *out = popen(command, "r");
        bool printed = fscanf(out, "%" SCNd64, &number) == 1;
        pclose(out);
        if (printed) return number;
        if (lb_now() >= until_ns) fail_msg("no number: %s", command);
    }
}

TEST(redis_ttls_jump) {
    struct topo *topo = started("redis-independents", (struct topo_ask){.clock = true});
    int port[2] = {topo_port(topo, 0, 0), topo_port(topo, 1, 0)};
    for (int i = 0; i < 2; i++)
        assert_string_equal(help_ask_redis(port[i], "SET lock me PX 60000\r\n", "\r\n"), "+OK\r\n");
    step(topo, 0, 61);
    assert_string_equal(help_ask_redis(port[0], "GET lock\r\n", "\r\n"), "$-1\r\n");
    /* one node's clock alone */
    assert_non_null(strstr(help_ask_redis(port[1], "GET lock\r\n", "me"), "me"));
    step(topo, 0, -61);
    assert_string_equal(help_ask_redis(port[0], "SET lock me PX 30000\r\n", "\r\n"), "+OK\r\n");
    step(topo, 0, -60);
    assert_true(atoi(help_ask_redis(port[0], "PTTL lock\r\n", "\r\n") + 1) > 60000);
    /* It stays over a restart. */
    struct lb_err err = {0};
    must(topo_kill(topo, 0, &err), &err);
    must(topo_restart(topo, 0, &err), &err);
    until_ready(topo);
    const char *now =
        help_ask_redis(port[0], "EVAL \"return tonumber(redis.call('TIME')[1])\" 0\r\n", "\r\n");
    assert_int_equal(now[0], ':');
    assert_in_range(atoll(now + 1) - (int64_t)time(NULL) + 65, 0, 10);
    topo_stop(topo);
}

TEST(postgres_tells_another_time) {
    need_program("psql", "postgresql-client");
    struct topo *topo = started("postgres", (struct topo_ask){.clock = true});
    char command[300];
    snprintf(command, sizeof command,
             "psql -X -q -A -t -h 127.0.0.1 -p %d -U postgres -d postgres -c "
             "\"select floor(extract(epoch from clock_timestamp()))\"",
             topo_port(topo, 0, 0));
    assert_in_range(number_of(command) - (int64_t)time(NULL) + 5, 0, 10);
    step(topo, 0, 3600);
    assert_in_range(number_of(command) - (int64_t)time(NULL) - 3600 + 5, 0, 10);
    topo_stop(topo);
}

/* Its waits for a wall-clock time are none the longer for it. */
TEST(mariadb_tells_another_time) {
    need_program("mariadb", "mariadb-client");
    struct topo *topo = started("mariadb", (struct topo_ask){.clock = true});
    char client[200], command[400];
    snprintf(client, sizeof client,
             "mariadb --no-defaults --protocol=tcp -h 127.0.0.1 -P %d -u root -N -B -e",
             topo_port(topo, 0, 0));
    snprintf(command, sizeof command, "%s 'select unix_timestamp()'", client);
    assert_in_range(number_of(command) - (int64_t)time(NULL) + 5, 0, 10);
    step(topo, 0, 3600);
    assert_in_range(number_of(command) - (int64_t)time(NULL) - 3600 + 5, 0, 10);
    snprintf(command, sizeof command, "%s \"select get_lock('a', 0), sleep(600)\" 2>/dev/null",
             client);
    FILE *holder = popen(command, "r");
    snprintf(command, sizeof command, "%s \"select is_used_lock('a') is not null\"", client);
    for (int i = 0; i < 200 && number_of(command) == 0; i++) help_nap_ms(50);
    int64_t begin_ns = lb_now();
    snprintf(command, sizeof command, "%s \"select get_lock('a', 1)\"", client);
    assert_int_equal(number_of(command), 0);
    assert_true(lb_now() - begin_ns >= LB_S_NS && lb_now() - begin_ns < 1000 * LB_S_NS);
    topo_stop(topo);
    pclose(holder);
}

/* It counts by the monotonic clock. */
TEST(memcached_counts_without_the_wall_clock) {
    struct topo *topo = started("memcached", (struct topo_ask){.clock = true});
    assert_string_equal(help_ask_memcached(topo, "set lock 0 600 2\r\nme\r\n", "\r\n"),
                        "STORED\r\n");
    step(topo, 0, 3600);
    help_nap_ms(2500); /* its own tick is a second */
    assert_non_null(strstr(help_ask_memcached(topo, "get lock\r\n", "END\r\n"), "me"));
    topo_stop(topo);
}

/* The JVM too: nodes are stamped with the wall clock; sessions are not counted by it. */
TEST(zookeeper_tells_another_time) {
    struct topo *topo = started("zookeeper", (struct topo_ask){.clock = true});
    char command[500];
    if (system("/usr/bin/python3 -c 'import kazoo' 2>/dev/null") != 0)
        skip_for("kazoo is missing: install python3-kazoo");
    until_says(topo, 0, "ruok", "imok");
    snprintf(
        command, sizeof command,
        "/usr/bin/python3 -c 'from kazoo.client import KazooClient as K\nk = "
        "K(\"127.0.0.1:%d\")\nk.start(60)\n"
        "print(k.create(\"/a\", sequence=True, include_data=True)[1].ctime // 1000)' 2>/dev/null",
        topo_port(topo, 0, 0));
    assert_in_range(number_of(command) - (int64_t)time(NULL) + 20, 0, 40);
    step(topo, 0, 3600);
    assert_in_range(number_of(command) - (int64_t)time(NULL) - 3600 + 20, 0, 40);
    topo_stop(topo);
}

TEST(etcd_has_no_such_clock) {
    struct topo_info info;
    struct lb_err err = {0};
    assert_int_equal(topo_info("compose/local", "etcd", &info, &err), 0);
    assert_false(info.clock);
    assert_null(topo_start(&(struct topo_ask){.info = &info, .clock = true}, &err));
    assert_int_equal(err.code, *info.missing ? LB_EXIT_MACHINE : LB_EXIT_USAGE);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--watch") == 0) return watch();
    return run_all_tests(NULL, NULL);
}
