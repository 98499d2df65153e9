/* The ZooKeeper locks against the real clients whose protocols they speak, both ways: Curator's
 * recipes and the WriteLock of ZooKeeper's own (ZkForeign.java), kazoo's Lock (zk_kazoo.py). One
 * holds, the other one waits and then gets it; a third connection looks at the nodes.
 *
 * Each foreign program is started once. Without Curator and a Java compiler, or without kazoo, its
 * tests are skipped and say so; with CI set that is a failure.
 * Needs: servers. */
#include "drivers/tests/live_help.h"
#include "drivers/tests/zk_stranger.h"

#include "drivers/zookeeper/mutex.h"
#include "drivers/zookeeper/session.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */
#define JARS "/usr/share/java/"
#define CURATOR JARS "curator-recipes.jar"
#define KAZOO "/usr/lib/python3/dist-packages/kazoo/client.py"
#define PYTHON "/usr/bin/python3" /* the one that Debian's packages are for */

static struct live_place zk;
static struct foreign java, kazoo;

/* A client of ours of any of the backend's locks, on the one server. */
static void ours_comes(struct live_client *client, const char *lock, const char *key) {
    live_come(client, live_other(&zk, lock), key);
}

/* An acquire of ours on a fiber of its own. */
struct taking {
    struct live_client *client;
    struct lb_fiber *fiber;
    enum lb_outcome outcome;
};

static void take(void *arg) {
    struct taking *taking = arg;
    taking->outcome = live_acquire(taking->client, SOON);
}

static void ours_begins(struct taking *taking, struct live_client *client) {
    *taking = (struct taking){.client = client, .outcome = LB_OUTCOMES};
    taking->fiber = lb_start_fiber("taker", take, taking);
}

/* Waits until our client has the lock. */
static void ours_has(struct taking *taking) {
    lb_join(taking->fiber);
    CHECK(taking->outcome == LB_OK, "%s: %s", lb_outcome_name(taking->outcome),
          taking->client->session.err.text);
}

#define OURS_GIVES(call, wanted) check_gave((call), (wanted), #call, __LINE__)
static void check_gave(enum lb_outcome got, enum lb_outcome wanted, const char *call, int line) {
    if (got != wanted) check_note(__FILE__, line, call, ": %s", lb_outcome_name(got));
}

__attribute__((format(printf, 2, 3))) static void tell(const struct foreign *foreign,
                                                       const char *format, ...) {
    char line[600];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    line[len++] = '\n';
    CHECK(write(foreign->to, line, (size_t)len) == len, "the foreign program is gone");
}

/* The next line that it writes; ours go on meanwhile. */
static const char *hear(const struct foreign *foreign) {
    struct pollfd wait = {.fd = foreign->from, .events = POLLIN};
    int64_t until_ns = lb_now() + SOON;
    while (poll(&wait, 1, 0) == 0 && lb_now() < until_ns) lb_sleep_until(lb_now() + 2 * LB_MS_NS);
    return poll(&wait, 1, 0) > 0 ? foreign_hear(foreign) : "";
}

/* It must be this one. */
#define HEARS(foreign, wanted)                                                                     \
    do {                                                                                           \
        const char *line_ = hear(foreign);                                                         \
        CHECK(strcmp(line_, (wanted)) == 0, "heard '%s', not '%s'", line_, (wanted));              \
    } while (0)

/* Tells it something, to which it must say this. */
#define TOLD(foreign, wanted, ...)                                                                 \
    do {                                                                                           \
        tell((foreign), __VA_ARGS__);                                                              \
        HEARS((foreign), (wanted));                                                                \
    } while (0)

/* True if a node's name is one of Curator's: "_c_", a UUID, then `end` and ten digits. */
static bool looks_like(const char *name, const char *end) {
    static const char uuid[] = "_c_xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx-";
    size_t head = sizeof uuid - 1, middle = strlen(end);
    if (strlen(name) != head + middle + 10) return false;
    for (size_t i = 0; i < head; i++) {
        if (uuid[i] == 'x' ? !strchr("0123456789abcdef", name[i]) : name[i] != uuid[i])
            return false;
    }
    if (strncmp(name + head, end, middle) != 0) return false;
    return strspn(name + head + middle, "0123456789") == 10;
}

/* Checks that the path has `count` nodes, and that all of them look so. */
static void nodes_look(struct stranger *stranger, const char *path, int count, const char *end) {
    CHECK(stranger_counts(stranger, path) == count, "%d nodes in %s, not %d", stranger->count, path,
          count);
    for (int i = 0; i < stranger->count && i < 16; i++) {
        CHECK(looks_like(stranger->text[i], end), "a node '%s' among those '%s'", stranger->text[i],
              end);
    }
}

static void mutex_both_ways(void *arg) {
    static const char path[] = "/lockbench/mutex";
    const char *lock = arg;
    struct stranger third;
    struct live_client first, second;
    struct taking taking;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&first, lock, "mutex");
    ours_comes(&second, lock, "mutex");

    TOLD(&java, "A acquired", "A acquire mutex %s -1", path);
    OURS_GIVES(live_acquire(&first, 0), LB_BUSY);
    OURS_GIVES(live_acquire(&first, 30 * LB_MS_NS), LB_TIMEOUT);
    nodes_look(&third, path, 1, "lock-");
    ours_begins(&taking, &first);
    CHECK(stranger_awaits(&third, path, 2), "ours never queued");
    nodes_look(&third, path, 2, "lock-");
    CHECK(taking.outcome == LB_OUTCOMES, "ours went in while Curator holds");
    TOLD(&java, "A released", "A release");
    ours_has(&taking);

    /* Ours holds. First come, first served: Curator's, ours, Curator's. */
    TOLD(&java, "A busy", "A acquire mutex %s 50", path);
    tell(&java, "B acquire mutex %s -1", path);
    CHECK(stranger_awaits(&third, path, 2), "B never queued");
    ours_begins(&taking, &second);
    CHECK(stranger_awaits(&third, path, 3), "our second never queued");
    tell(&java, "C acquire mutex %s -1", path);
    CHECK(stranger_awaits(&third, path, 4), "C never queued");
    nodes_look(&third, path, 4, "lock-");
    uint64_t woken = second.session.wakeups;
    OURS_GIVES(live_release(&first), LB_OK);
    HEARS(&java, "B acquired");
    lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(taking.outcome == LB_OUTCOMES, "our second went in before its turn");
    CHECK(second.session.wakeups == woken, "our second was woken by what is not before it");
    TOLD(&java, "B released", "B release");
    ours_has(&taking);
    OURS_GIVES(live_release(&second), LB_OK);
    HEARS(&java, "C acquired");
    TOLD(&java, "C released", "C release");
    CHECK(stranger_counts(&third, path) == 0);
    live_client_done(&first);
    live_client_done(&second);
    stranger_goes(&third);
}

/* Curator sees the first acquire and the last release. */
static void reentry_is_local(void *arg) {
    (void)arg;
    static const char path[] = "/lockbench/again";
    struct stranger third;
    struct live_client ours;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&ours, "zk-reentrant", "again");
    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    uint64_t commands = ours.session.commands;
    ours.request.held = 1;
    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    ours.request.held = 2;
    tell(&java, "A acquire mutex %s -1", path);
    CHECK(stranger_awaits(&third, path, 2), "Curator never queued");
    OURS_GIVES(live_release(&ours), LB_OK);
    CHECK(ours.session.commands == commands, "re-entry costs nothing");
    nodes_look(&third, path, 2, "lock-");
    ours.request.held = 1;
    OURS_GIVES(live_release(&ours), LB_OK);
    HEARS(&java, "A acquired");
    /* And Curator's re-entry, seen by ours. */
    TOLD(&java, "A acquired", "A acquire mutex %s -1", path);
    TOLD(&java, "A released", "A release");
    ours.request.held = 0;
    OURS_GIVES(live_acquire(&ours, 0), LB_BUSY);
    TOLD(&java, "A released", "A release");
    OURS_GIVES(live_acquire(&ours, 0), LB_OK);
    OURS_GIVES(live_release(&ours), LB_OK);
    live_client_done(&ours);
    stranger_goes(&third);
}

static void readers_and_writers_both_ways(void *arg) {
    (void)arg;
    static const char path[] = "/lockbench/rw";
    struct stranger third;
    struct live_client reader, writer, late;
    struct taking writing, reading;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&reader, "zk-rwlock", "rw");
    ours_comes(&writer, "zk-rwlock", "rw");
    ours_comes(&late, "zk-rwlock", "rw");
    reader.request.shared = late.request.shared = true;

    /* Readers of both together. */
    TOLD(&java, "R acquired", "R acquire read %s -1", path);
    OURS_GIVES(live_acquire(&reader, 0), LB_OK);
    nodes_look(&third, path, 2, "__READ__");
    OURS_GIVES(live_acquire(&writer, 0), LB_BUSY);
    TOLD(&java, "W busy", "W acquire write %s 50", path);

    /* Our writer waits for both; who reads later waits for it, on both sides. */
    ours_begins(&writing, &writer);
    CHECK(stranger_awaits(&third, path, 3), "our writer never queued");
    OURS_GIVES(live_acquire(&late, 0), LB_BUSY);
    tell(&java, "L acquire read %s -1", path);
    CHECK(stranger_awaits(&third, path, 4), "Curator's reader never queued");
    OURS_GIVES(live_release(&reader), LB_OK);
    lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(writing.outcome == LB_OUTCOMES, "our writer went in beside a reader");
    TOLD(&java, "R released", "R release");
    ours_has(&writing);
    CHECK(stranger_counts(&third, path) == 2);
    bool write_node =
        looks_like(third.text[0], "__WRIT__") || looks_like(third.text[1], "__WRIT__");
    CHECK(write_node, "our writer's node is none of Curator's: '%s'", third.text[0]);
    OURS_GIVES(live_release(&writer), LB_OK);
    HEARS(&java, "L acquired");
    TOLD(&java, "L released", "L release");

    /* Curator's writer holds: our readers wait, and go in together. */
    TOLD(&java, "W acquired", "W acquire write %s -1", path);
    nodes_look(&third, path, 1, "__WRIT__");
    ours_begins(&reading, &reader);
    CHECK(stranger_awaits(&third, path, 2), "our reader never queued");
    OURS_GIVES(live_acquire(&late, 30 * LB_MS_NS), LB_TIMEOUT);
    TOLD(&java, "W released", "W release");
    ours_has(&reading);
    OURS_GIVES(live_acquire(&late, 0), LB_OK);
    OURS_GIVES(live_release(&late), LB_OK);
    OURS_GIVES(live_release(&reader), LB_OK);
    live_client_done(&reader);
    live_client_done(&writer);
    live_client_done(&late);
    stranger_goes(&third);
}

/* A writer of ours reads as well and stops writing: Curator's readers come in, its writers do
 * not. */
static void a_writer_becomes_a_reader(void *arg) {
    (void)arg;
    static const char path[] = "/lockbench/down";
    struct stranger third;
    struct live_client ours;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&ours, "zk-rwlock", "down");
    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    tell(&java, "W acquire write %s -1", path);
    CHECK(stranger_awaits(&third, path, 2), "Curator's writer never queued");
    ours.request.held = 1;
    ours.request.shared = true;
    OURS_GIVES(live_acquire(&ours, 0), LB_OK);
    CHECK(stranger_counts(&third, path) == 3);
    ours.request.held = 2;
    ours.request.shared = false;
    OURS_GIVES(live_release(&ours), LB_OK);
    CHECK(stranger_counts(&third, path) == 2);
    tell(&java, "X acquire write %s 50", path);
    HEARS(&java, "X busy"); /* W has not come in either, or its line would have come first */
    CHECK(stranger_counts(&third, path) == 2);
    ours.request.held = 1;
    ours.request.shared = true;
    OURS_GIVES(live_release(&ours), LB_OK);
    HEARS(&java, "W acquired");
    TOLD(&java, "W released", "W release");
    /* A reader that also wants to write would wait for itself, so it is refused. */
    ours.request.held = 0;
    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    ours.request.held = 1;
    ours.request.shared = false;
    OURS_GIVES(live_acquire(&ours, 0), LB_REFUSED);
    ours.request.shared = true;
    OURS_GIVES(live_release(&ours), LB_OK);
    CHECK(stranger_counts(&third, path) == 0);
    live_client_done(&ours);
    stranger_goes(&third);
}

static void semaphore_both_ways(void *arg) {
    (void)arg;
    static const char path[] = "/lockbench/sem", leases[] = "/lockbench/sem/leases",
                      locks[] = "/lockbench/sem/locks";
    struct stranger third;
    struct live_client one, two;
    struct taking taking;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&one, "zk-semaphore", "sem");
    ours_comes(&two, "zk-semaphore", "sem");
    one.request.bound = two.request.bound = 3;
    one.request.permits = 1;
    two.request.permits = 2;

    TOLD(&java, "A acquired", "A acquire semaphore2 %s -1 3", path);
    OURS_GIVES(live_acquire(&one, SOON), LB_OK);
    nodes_look(&third, leases, 3, "lease-");
    CHECK(stranger_counts(&third, locks) == 0);
    OURS_GIVES(live_acquire(&two, 0), LB_BUSY);
    OURS_GIVES(live_acquire(&two, 30 * LB_MS_NS), LB_TIMEOUT);
    TOLD(&java, "B busy", "B acquire semaphore %s 50 3", path);
    nodes_look(&third, leases, 3, "lease-");

    /* Ours wants two permits: it holds the semaphore's inner lock while it waits, and the next
     * Curator client waits for that inner lock. */
    ours_begins(&taking, &two);
    CHECK(stranger_awaits(&third, leases, 4), "ours does not wait for a permit");
    nodes_look(&third, locks, 1, "lock-");
    tell(&java, "B acquire semaphore %s -1 3", path);
    CHECK(stranger_awaits(&third, locks, 2), "Curator does not wait at the lock");
    CHECK(taking.outcome == LB_OUTCOMES, "ours went in beyond the bound");
    TOLD(&java, "A released", "A release");
    /* Two are free again; ours takes one, asks for the second behind B, who gets that. */
    HEARS(&java, "B acquired");
    CHECK(stranger_awaits(&third, leases, 4), "ours does not wait for its second permit");
    TOLD(&java, "B released", "B release");
    ours_has(&taking);
    nodes_look(&third, leases, 3, "lease-");

    /* Curator waits for ours. */
    tell(&java, "C acquire semaphore %s -1 3", path);
    CHECK(stranger_awaits(&third, leases, 4), "Curator does not wait for a permit");
    OURS_GIVES(live_release(&two), LB_OK);
    HEARS(&java, "C acquired");
    TOLD(&java, "C released", "C release");
    OURS_GIVES(live_release(&one), LB_OK);
    OURS_GIVES(live_release(&one), LB_LOST);
    CHECK(stranger_counts(&third, leases) == 0 && stranger_counts(&third, locks) == 0);
    live_client_done(&one);
    live_client_done(&two);
    stranger_goes(&third);
}

static void several_keys_both_ways(void *arg) {
    (void)arg;
    static const struct lb_key keys[] = {{.name = "m1", .len = 2},
                                         {.name = "m2", .len = 2, .index = 1}};
    static const char one[] = "/lockbench/m1", two[] = "/lockbench/m2";
    struct stranger third;
    struct live_client ours;
    struct taking taking;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&ours, "zk-multi", "m1");
    ours.request.keys = keys;
    ours.request.key_count = 2;

    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    nodes_look(&third, one, 1, "lock-");
    nodes_look(&third, two, 1, "lock-");
    tell(&java, "A acquire mutex %s -1", two);
    CHECK(stranger_awaits(&third, two, 2), "Curator does not wait for the second key");
    TOLD(&java, "B busy", "B acquire multi %s,%s 50", one, two);
    OURS_GIVES(live_release(&ours), LB_OK);
    HEARS(&java, "A acquired");

    /* The second key is Curator's: all or none. */
    OURS_GIVES(live_acquire(&ours, 0), LB_BUSY);
    OURS_GIVES(live_acquire(&ours, 30 * LB_MS_NS), LB_TIMEOUT);
    CHECK(stranger_counts(&third, one) == 0, "the first key was kept");
    CHECK(stranger_counts(&third, two) == 1);
    ours_begins(&taking, &ours);
    CHECK(stranger_awaits(&third, two, 2), "ours does not wait for the second key");
    nodes_look(&third, one, 1, "lock-"); /* in order: it holds the first meanwhile */
    TOLD(&java, "A released", "A release");
    ours_has(&taking);
    OURS_GIVES(live_release(&ours), LB_OK);

    TOLD(&java, "B acquired", "B acquire multi %s,%s 5000", one, two);
    OURS_GIVES(live_acquire(&ours, 0), LB_BUSY);
    TOLD(&java, "B released", "B release");
    OURS_GIVES(live_acquire(&ours, 0), LB_OK);
    OURS_GIVES(live_release(&ours), LB_OK);
    CHECK(stranger_counts(&third, one) == 0 && stranger_counts(&third, two) == 0);
    live_client_done(&ours);
    stranger_goes(&third);
}

/* Waits until a client watches the node. If its predecessor's node goes between its list and its
 * watch, a WriteLock sleeps for ever; that flaw is not under test here. */
static bool is_watched(const char *path) {
    const struct zk_server *server = zk.place->server.state;
    static char answer[65536];
    int64_t until_ns = lb_now() + SOON;
    while (lb_now() < until_ns) {
        if (zk_ask(&server->host[0], server->host_len[0], "wchp", answer, sizeof answer, until_ns) >
                0 &&
            strstr(answer, path))
            return true;
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
    return false;
}

/* ZooKeeper's own WriteLock: the Java form of the C recipe, which writes its session in
 * decimals. */
static void recipe_both_ways(void *arg) {
    (void)arg;
    static const char path[] = "/lockbench/recipe";
    struct stranger third;
    struct live_client ours;
    struct taking taking;
    char base[ZK_NAME_MAX], own[ZK_PATH_MAX + 1];
    stranger_comes(&zk, &third, NULL);
    ours_comes(&ours, "zk-recipe", "recipe");
    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    zk_recipe_base(zoo_client_id(zk_session_of(&ours.session)->handle)->client_id, base);
    CHECK(stranger_counts(&third, path) == 1);
    CHECK(strlen(base) == 19 && strncmp(third.text[0], base, 19) == 0, "'%s' is not '%s...'",
          third.text[0], base);
    CHECK(strspn(third.text[0] + 19, "0123456789") == 10 && strlen(third.text[0]) == 29);
    TOLD(&java, "A busy", "A acquire recipe %s 300", path);
    snprintf(own, sizeof own, "%s/%.100s", path, third.text[0]);
    tell(&java, "A acquire recipe %s -1", path);
    CHECK(stranger_awaits(&third, path, 2), "the WriteLock does not queue");
    CHECK(is_watched(own), "the WriteLock does not wait");
    OURS_GIVES(live_release(&ours), LB_OK);
    HEARS(&java, "A acquired");
    OURS_GIVES(live_acquire(&ours, 0), LB_BUSY);
    OURS_GIVES(live_acquire(&ours, 30 * LB_MS_NS), LB_TIMEOUT);
    ours_begins(&taking, &ours);
    CHECK(stranger_awaits(&third, path, 2), "ours does not wait");
    TOLD(&java, "A released", "A release");
    ours_has(&taking);
    OURS_GIVES(live_release(&ours), LB_OK);
    CHECK(stranger_counts(&third, path) == 0);
    live_client_done(&ours);
    stranger_goes(&third);
}

/* kazoo's own node names differ from Curator's. If it gets Curator's names as a pattern, it
 * respects Curator's clients, but they do not see its nodes. If it uses Curator's node name itself,
 * each sees the other. */
static void kazoo_as_far_as_it_goes(void *arg) {
    (void)arg;
    static const char path[] = "/lockbench/kazoo";
    struct stranger third;
    struct live_client ours;
    struct taking taking;
    stranger_comes(&zk, &third, NULL);
    ours_comes(&ours, "zk-lock", "kazoo");
    OURS_GIVES(live_acquire(&ours, SOON), LB_OK);
    TOLD(&kazoo, "A busy", "A acquire lock %s 0", path);
    TOLD(&kazoo, "A busy", "A acquire named %s 0.05", path);
    tell(&kazoo, "A acquire lock %s 20", path);
    CHECK(stranger_awaits(&third, path, 2), "kazoo does not wait");
    OURS_GIVES(live_release(&ours), LB_OK);
    HEARS(&kazoo, "A acquired");
    OURS_GIVES(live_acquire(&ours, 0), LB_OK); /* ours does not see kazoo's node */
    OURS_GIVES(live_release(&ours), LB_OK);
    TOLD(&kazoo, "A released", "A release");

    TOLD(&kazoo, "B acquired", "B acquire named %s 20", path);
    OURS_GIVES(live_acquire(&ours, 0), LB_BUSY);
    ours_begins(&taking, &ours);
    CHECK(stranger_awaits(&third, path, 2), "ours does not wait");
    TOLD(&kazoo, "B released", "B release");
    ours_has(&taking);
    tell(&kazoo, "B acquire named %s 20", path);
    CHECK(stranger_awaits(&third, path, 2), "kazoo does not wait");
    OURS_GIVES(live_release(&ours), LB_OK);
    HEARS(&kazoo, "B acquired");
    TOLD(&kazoo, "B released", "B release");
    live_client_done(&ours);
    stranger_goes(&third);
}

static void needs(const struct foreign *foreign, const char *what) {
    LIVE_NEEDS(&zk);
    if (foreign->pid <= 0) skip_for("install %s", what);
}

#define NEED_JAVA needs(&java, "libcurator-recipes-java and default-jdk-headless")
#define NEED_KAZOO needs(&kazoo, "python3-kazoo")
#define ON_FIBER(body, need, arg)                                                                  \
    TEST(test_##body) {                                                                            \
        need;                                                                                      \
        live_run(body, (void *)(uintptr_t)(arg));                                                  \
    }
ON_FIBER(mutex_both_ways, NEED_JAVA, "zk-lock")
ON_FIBER(reentry_is_local, NEED_JAVA, NULL)
ON_FIBER(readers_and_writers_both_ways, NEED_JAVA, NULL)
ON_FIBER(a_writer_becomes_a_reader, NEED_JAVA, NULL)
ON_FIBER(semaphore_both_ways, NEED_JAVA, NULL)
ON_FIBER(several_keys_both_ways, NEED_JAVA, NULL)
ON_FIBER(recipe_both_ways, NEED_JAVA, NULL)
ON_FIBER(kazoo_as_far_as_it_goes, NEED_KAZOO, NULL)

/* Waits for its first word: a Java program is compiled first. */
static void foreign_comes(struct foreign *foreign, const char *const *argv) {
    foreign_start(foreign, argv);
    for (int tries = 0; tries < 3; tries++) {
        const char *line = foreign_hear(foreign);
        if (strcmp(line, "ready") == 0) return;
        if (line[0]) fail_msg("%s says '%s'", argv[0], line);
    }
    fail_msg("%s does not start", argv[0]);
}

FIXTURE(start) {
    char server[40], java_file[512], python_file[512];
    struct lb_err err = {0};
    zk = live_open("zk-lock", NULL);
    if (zk.missing) return 0;
    snprintf(server, sizeof server, "127.0.0.1:%d", topo_port(zk.place->topo, 0, 0));
    assert_int_equal(home_path("drivers/tests/ZkForeign.java", java_file, sizeof java_file, &err),
                     0);
    assert_int_equal(home_path("drivers/tests/zk_kazoo.py", python_file, sizeof python_file, &err),
                     0);
    if (access(CURATOR, R_OK) == 0 && system("command -v javac >/dev/null") == 0) {
        static const char jars[] =
            CURATOR ":" JARS "curator-framework.jar:" JARS "curator-client.jar:" JARS
                    "guava.jar:" JARS "zookeeper.jar:" JARS "zookeeper-recipes-lock.jar:" JARS
                    "slf4j-api.jar:" JARS "slf4j-nop.jar";
        foreign_comes(&java, (const char *const[]){"java", "-XX:-UsePerfData", "-cp", jars,
                                                   java_file, server, NULL});
    }
    if (access(KAZOO, R_OK) == 0)
        foreign_comes(&kazoo, (const char *const[]){PYTHON, python_file, server, NULL});
    return 0;
}

FIXTURE(stop) {
    if (java.pid > 0) foreign_end(&java);
    if (kazoo.pid > 0) foreign_end(&kazoo);
    if (!zk.missing) live_close(&zk);
    return 0;
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    return run_all_tests(start, stop);
}
