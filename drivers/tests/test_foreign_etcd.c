/* test_foreign_etcd: what happens to a lock of etcd if its lease ends or the process stands still, and accounts. etcdctl beside
 * ours is in stories/etcd.story.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include "drivers/etcd/queue.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */
#define KEY "orders/7 \"odd\" \xc3\xa9"

static struct live_place mutex;         /* etcd-mutex */
static struct live_place service, bare; /* etcd-lock; bare: without its checks */

static const char *endpoint(const struct live_place *live) {
    static char text[64];
    snprintf(text, sizeof text, "--endpoints=127.0.0.1:%d", topo_port(live->place->topo, 0, 0));
    return text;
}

static bool as_root;

/* The account of the next etcdctl: another server's has another password. */
static void log_in(const struct live_place *live) {
    char root[80];
    topo_login(live->place->topo);
    snprintf(root, sizeof root, "root:%s", topo_about(live->place->topo)->secret);
    if (as_root) setenv("ETCDCTL_USER", root, 1);
}

/* Runs etcdctl with some words and reads the first line that it writes, "" if none. */
static const char *etcdctl(const struct live_place *live, const char *const *words) {
    static char line[4096];
    const char *argv[16] = {"etcdctl", endpoint(live)};
    for (int i = 0; words[i]; i++) argv[i + 2] = words[i];
    struct foreign foreign;
    size_t used = 0;
    log_in(live);
    foreign_start(&foreign, argv);
    for (ssize_t got = 1; got > 0 && used < sizeof line - 1; used += (size_t)got) {
        got = read(foreign.from, line + used, sizeof line - 1 - used);
        if (got < 0) break;
    }
    line[used] = '\0';
    foreign_end(&foreign);
    return line;
}
#define ETCDCTL(live, ...) etcdctl(live, (const char *const[]){__VA_ARGS__, NULL})

/* The number that stands behind a name in etcdctl's "fields", -1 if none does. */
static long long field(const char *fields, const char *name) {
    char label[40];
    snprintf(label, sizeof label, "\"%s\" : ", name);
    const char *at = strstr(fields, label);
    return at ? atoll(at + strlen(label)) : -1;
}

/* The keys of KEY's queue as etcdctl tells them field by field, the one created last first. */
static const char *queue_of(const struct live_place *live) {
    return ETCDCTL(live, "get", KEY "/", "--prefix", "--sort-by=CREATE", "--order=DESCEND", "-w",
                   "fields");
}

static int keys_there(const struct live_place *live) {
    return (int)field(queue_of(live), "Count");
}

static bool wait_for_keys(const struct live_place *live, int count) {
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    while (keys_there(live) != count) {
        if (lb_now() > until_ns) return false;
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
    return true;
}

struct asker {
    struct live_client client;
    enum lb_outcome outcome;
};

static void ask(void *arg) {
    struct asker *asker = arg;
    asker->outcome = live_acquire(&asker->client, SOON);
}

/* The whole process stands still, as if stopped, until its lease is over: a grant that the server
 * sent before must not count. */
static void a_process_that_was_away(void *arg) {
    const struct live_place *live = arg;
    struct asker asker;
    struct lb_fiber *fiber = NULL;
    live_client_init(&asker.client, live, KEY);
    asker.client.session.lease_ns = 2 * LB_S_NS;
    live_connect(&asker.client);
    CHECK(live_release(&asker.client) == LB_LOST, "nothing was held");
    /* Repeats until the client's request is on its way when the process stops. */
    for (int tries = 0; tries < 200; tries++) {
        uint64_t commands = asker.client.session.commands;
        asker.outcome = LB_OUTCOMES;
        fiber = lb_start_fiber("ask", ask, &asker);
        while (asker.client.session.commands == commands) lb_sleep_until(lb_now());
        if (asker.outcome == LB_OUTCOMES) break;
        lb_join(fiber);
        fiber = NULL;
        CHECK(live_release(&asker.client) == LB_OK, "%s", asker.client.session.err.text);
    }
    CHECK(fiber != NULL, "its question is answered too fast");
    if (!fiber) return;
    int64_t until_ns = lb_now() + 2500 * LB_MS_NS;
    while (lb_now() < until_ns) poll(NULL, 0, (int)((until_ns - lb_now()) / LB_MS_NS) + 1);
    lb_join(fiber);
    CHECK(asker.outcome == LB_BROKEN, "%s", lb_outcome_name(asker.outcome));
    live_hang_up(&asker.client);
    live_connect(&asker.client);
    CHECK(live_acquire(&asker.client, SOON) == LB_OK, "%s", asker.client.session.err.text);
    CHECK(live_release(&asker.client) == LB_OK, "%s", asker.client.session.err.text);
    live_client_done(&asker.client);
}

/* Opens the same server by a URL with a user. The text of what goes wrong, "" if nothing does. */
static const char *login(const struct live_place *live, const char *credentials) {
    static char wrong[600];
    char url[200];
    struct lb_server server = live->place->server;
    const char *urls[] = {url};
    struct lb_err err = {0};
    struct live_client ours;
    snprintf(url, sizeof url, "etcd://%s127.0.0.1:%d", credentials,
             topo_port(live->place->topo, 0, 0));
    wrong[0] = '\0';
    server.urls = urls;
    server.state = calloc(1, server.backend->connector->server_bytes);
    live_client_init(&ours, live, KEY);
    ours.session.server = &server;
    if (server.backend->connector->open(&server, &err) != 0 || live_dial(&ours, &err) != 0) {
        snprintf(wrong, sizeof wrong, "%d: %s", err.code, err.text);
    } else if (live_acquire(&ours, 0) != LB_OK || live_release(&ours) != LB_OK) {
        snprintf(wrong, sizeof wrong, "%s", ours.session.err.text);
    }
    live_client_done(&ours);
    server.backend->connector->close(&server);
    free(server.state);
    return wrong;
}

static void users_and_passwords(void *arg) {
    const struct live_place *live = arg;
    char right[80];
    snprintf(right, sizeof right, "lockbench:%s@", topo_about(live->place->topo)->secret);
    const char *wrong = login(live, right);
    CHECK(!*wrong, "%s", wrong);
    wrong = login(live, "lockbench:wr0ng@");
    CHECK(strncmp(wrong, "1: ", 3) == 0, "a wrong password is a usage error: %s", wrong);
    CHECK(!strstr(wrong, "wr0ng"), "%s", wrong);
    wrong = login(live, "");
    CHECK(*wrong, "no password, and yet let in");
    CHECK(!strstr(ETCDCTL(live, "user", "list"), "root"), "the clients' account rules the server");
    as_root = true;
    ETCDCTL(live, "auth", "disable");
    wrong = login(live, "");
    CHECK(!*wrong, "%s", wrong);
    /* As after a loss of all data, until the accounts are made again. */
    wrong = login(live, right);
    CHECK(strncmp(wrong, "2: ", 3) == 0 && strstr(wrong, "not enabled"), "%s", wrong);
    ETCDCTL(live, "auth", "enable");
    as_root = false;
}

/* A waiter whose lease ends while it is in the queue, before the holder releases. The keeper of its
 * session asks too rarely to notice. */
struct dead_waiter {
    const struct live_place *live;
    struct live_client holder, waiter, third;
    enum lb_outcome outcome; /* the waiter's */
};

static void revoke_then_let_go(void *arg) {
    struct dead_waiter *dead = arg;
    char lease[20];
    CHECK(wait_for_keys(dead->live, 2), "the waiter never queued");
    snprintf(lease, sizeof lease, "%llx",
             (unsigned long long)etcd_session_of(&dead->waiter.session)->lease);
    ETCDCTL(dead->live, "lease", "revoke", lease);
    CHECK(keys_there(dead->live) == 1, "the waiter's key outlived its lease");
    CHECK(live_release(&dead->holder) == LB_OK, "%s", dead->holder.session.err.text);
}

static void let_waiter_die(struct dead_waiter *dead) {
    struct live_client *all[] = {&dead->holder, &dead->waiter, &dead->third};
    for (int i = 0; i < 3; i++) {
        live_client_init(all[i], dead->live, KEY);
        all[i]->session.lease_ns = 60 * LB_S_NS;
        live_connect(all[i]);
    }
    CHECK(live_acquire(&dead->holder, SOON) == LB_OK, "%s", dead->holder.session.err.text);
    struct lb_fiber *helper = lb_start_fiber("revoke", revoke_then_let_go, dead);
    dead->outcome = live_acquire(&dead->waiter, SOON);
    lb_join(helper);
    CHECK(live_acquire(&dead->third, 0) == LB_OK, "the lock is free: %s",
          dead->third.session.err.text);
    CHECK(live_release(&dead->third) == LB_OK, "%s", dead->third.session.err.text);
    for (int i = 0; i < 3; i++) live_client_done(all[i]);
}

static void the_dead_are_not_granted(void *arg) {
    struct dead_waiter dead = {.live = arg};
    let_waiter_die(&dead);
    CHECK(dead.outcome == LB_BROKEN, "the waiter was told %s", lb_outcome_name(dead.outcome));
}

/* The reason why the driver looks the key up: etcd 3.4 grants the lock to a waiter whose lease has
 * ended, while a third client can hold it. */
static void the_bare_service_grants_to_the_dead(void *arg) {
    struct dead_waiter dead = {.live = arg};
    let_waiter_die(&dead);
    bool flawed = false;
    for (int i = 0; i < dead.live->place->facts.count; i++) {
        if (strcmp(dead.live->place->facts.item[i].name, "version") == 0)
            flawed = strncmp(dead.live->place->facts.item[i].value, "3.4.", 4) == 0;
    }
    CHECK((dead.outcome == LB_OK) == flawed, "the waiter was told %s",
          lb_outcome_name(dead.outcome));
}

static void on_all(void (*body)(void *), struct live_place *const *places) {
    for (; *places; places++) {
        LIVE_NEEDS(*places);
        live_run(body, *places);
    }
}

#define ON_ALL(body, ...)                                                                          \
    TEST(test_##body) {                                                                            \
        on_all(body, (struct live_place *const[]){__VA_ARGS__, NULL});                             \
    }
ON_ALL(a_process_that_was_away, &mutex)
ON_ALL(users_and_passwords, &mutex)
ON_ALL(the_dead_are_not_granted, &mutex, &service)
ON_ALL(the_bare_service_grants_to_the_dead, &bare)

FIXTURE(start) {
    setenv("ETCDCTL_API", "3", 1);
    mutex = live_open("etcd-mutex", (const char *const[]){"etcd.command_timeout=3s", NULL});
    service = live_open("etcd-lock", (const char *const[]){"etcd.command_timeout=3s", NULL});
    bare = live_open("etcd-lock", (const char *const[]){"etcd-lock.recheck=no", NULL});
    if (!mutex.missing && system("etcdctl version >/dev/null 2>&1") != 0) {
        mutex.missing = service.missing = bare.missing =
            "missing here: etcdctl, from the package etcd-client";
    }
    return 0;
}

FIXTURE(stop) {
    live_close(&mutex);
    live_close(&service);
    live_close(&bare);
    return 0;
}

TEST_MAIN(start, stop)
