/* The shipped topologies with their real servers: they start, answer, are measured, and leave
 * nothing behind, whatever becomes of the program that started them. A server that is not installed
 * is skipped loudly, and is a failure where CI is set.
 * Needs: servers. */

#include "bench/servers/proc.h"
#include "bench/tests/servers_help.h"

static const struct shipped {
    const char *name;
    const char *ask, *answer; /* a word of its protocol; NULL: an open port suffices */
    /* a script that talks to the server at $PORT without the password, and must be refused; NULL = the server can't ask
     * for a password, or lockbench does not make it ask */
    const char *stranger;
} shipped[] = {
    {"redis", "PING\r\n", "-NOAUTH", "redis-cli -p $PORT config get dir | grep -q NOAUTH"},
    {"memcached", "version\r\n", "unauthenticated",
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT; printf \"version\\r\\nquit\\r\\n\" >&3; timeout 5 cat <&3' | "
     "grep -q unauthenticated"},
    {"etcd", "GET /version HTTP/1.0\r\n\r\n", "etcdserver", NULL},
    {"zookeeper", "ruok", "imok", NULL},
    {"nats", NULL, NULL,
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT; printf \"CONNECT {}\\r\\nPING\\r\\n\" >&3; cat <&3' | "
     "grep -q 'Authorization Violation'"},
    {"postgres", NULL, NULL,
     "while psql -w -h 127.0.0.1 -p $PORT postgres -c 'select 1' 2>&1 | grep -q 'starting up'; do sleep 0.1; done; "
     "for user in postgres lockbench; do psql -w -h 127.0.0.1 -p $PORT -U $user postgres -c 'select 1' 2>&1 | "
     "grep -q 'no password supplied' || exit 1; done"},
    {"mariadb", NULL, NULL,
     "for user in root lockbench ''; do mariadb --no-defaults --protocol=tcp -h 127.0.0.1 -P $PORT -u \"$user\" "
     "-e 'select 1' 2>&1 | grep -q 'Access denied' || exit 1; done"},
};
#define SHIPPED (sizeof shipped / sizeof *shipped)

/* Reads the topology's info; skips the test when its server is missing. */
static void info_or_skip(const char *name, struct topo_info *ret_info) {
    struct lb_err err = {0};
    if (topo_info("compose/local", name, ret_info, &err) != 0) fail_msg("%s", err.text);
    if (*ret_info->missing)
        skip_for("%s: %s is missing: install %s", name, ret_info->missing, ret_info->install);
}

/* Connects, says `ask` and looks for `answer` in what comes within a second. */
static bool answers(int port, const char *ask, const char *answer) {
    int fd = loopback_connect(port, 1);
    bool good = fd >= 0 && (!ask || *help_say(fd, ask, answer));
    close(fd);
    return good;
}

static int ping(const struct topo *topo, void *arg, struct lb_err *err) {
    const struct shipped *it = arg;
    if (answers(topo_port(topo, 0, 0), it->ask, it->answer)) return 1;
    err_set(err, LB_EXIT_MACHINE, "no answer to the test's ping");
    return 0;
}

/* Whether a System V segment that the process `maker` made is still there. */
static bool left_shared_memory(pid_t maker) {
    FILE *table = fopen("/proc/sysvipc/shm", "r");
    char line[512];
    bool left = false;
    while (table && fgets(line, sizeof line, table)) {
        int creator;
        left |= sscanf(line, "%*d %*d %*o %*u %d", &creator) == 1 && creator == maker;
    }
    if (table) fclose(table);
    return left;
}

/* What the processes below `root` share while PostgreSQL is being prepared: the maker of a System V
 * segment, and the file of a POSIX object. */
struct shared {
    pid_t maker;
    char object[64];
};

static void object_of(pid_t pid, char *object, size_t size) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        const char *name = strstr(line, "/dev/shm/PostgreSQL.");
        if (name && strcspn(name, "\n (") < size)
            snprintf(object, size, "%.*s", (int)strcspn(name, "\n ("), name);
    }
    if (maps) fclose(maps);
}

static void wait_for_shared(pid_t root, struct shared *ret_shared) {
    for (int tries = 0; tries < 20000 && (!ret_shared->maker || !*ret_shared->object); tries++) {
        int count = 0;
        struct proc *tree = proc_tree(&root, 1, &count);
        *ret_shared = (struct shared){0};
        for (int i = 0; i < count; i++) {
            if (left_shared_memory(tree[i].pid)) ret_shared->maker = tree[i].pid;
            object_of(tree[i].pid, ret_shared->object, sizeof ret_shared->object);
        }
        free(tree);
        lb_nap(LB_MS_NS);
    }
}

static void assert_nothing_shared(const struct shared *shared) {
    assert_int_not_equal(shared->maker, 0);
    assert_string_not_equal(shared->object, "");
    if (left_shared_memory(shared->maker)) fail_msg("a System V segment is left");
    if (access(shared->object, F_OK) == 0) fail_msg("%s is left", shared->object);
}

static struct topo *started(const struct shipped *it, const struct topo_ask *wanted) {
    struct lb_err err = {0};
    struct topo *topo = topo_start(wanted, &err);
    if (!topo) fail_msg("%s", err.text);
    struct topo_wait wait = {
        .deadline_ns = lb_now() + 60 * LB_S_NS, .answers = ping, .arg = (void *)it};
    if (topo_ready(topo, &wait, &err) != 0) {
        topo_stop(topo);
        fail_msg("%s", err.text);
    }
    return topo;
}

/* Another account of the machine that finds the port is refused, and the server does not run as
 * root. */
static void strangers_are_refused(const struct shipped *it, const struct topo *topo) {
    char port[16], path[64], line[200];
    snprintf(port, sizeof port, "%d", topo_port(topo, 0, 0));
    setenv("PORT", port, 1);
    if (it->stranger && system(it->stranger) != 0) fail_msg("%s lets a stranger in", it->name);
    snprintf(path, sizeof path, "/proc/%d/status", (int)topo_pid(topo, 0));
    FILE *about = fopen(path, "r");
    assert_non_null(about);
    unsigned uid = 0;
    while (fgets(line, sizeof line, about) && sscanf(line, "Uid: %u", &uid) != 1) {
    }
    fclose(about);
    assert_int_not_equal(uid, 0); /* without root, the tests' own account */
}

/* Each durability that is offered: ready, reachable at its URL by whom it may be, costs processor
 * time, leaves nothing. */
static void starts_and_stops(void **state) {
    const struct shipped *it = *state;
    static const char *const durabilities[] = {"default", "none", "sync"};
    struct topo_info info;
    info_or_skip(it->name, &info);
    for (int d = 0; d < 3; d++) {
        struct lb_err err = {0};
        if (!topo_durability_of(&info, durabilities[d], &err)) {
            assert_true(strcmp(it->name, "memcached") == 0 || strcmp(it->name, "nats") == 0);
            assert_string_equal(durabilities[d], "sync");
            assert_null(
                topo_start(&(struct topo_ask){.info = &info, .durability = durabilities[d]}, &err));
            continue;
        }
        struct topo_ask wanted = {.info = &info, .durability = durabilities[d]};
        struct topo *topo = started(it, &wanted);
        char folder[512], port[16];
        help_parent(topo_dir(topo, 0), folder, sizeof folder);
        snprintf(port, sizeof port, ":%d", topo_port(topo, 0, 0));
        assert_non_null(strstr(topo_url(topo), port));
        assert_true(topo_cpu_ns(topo) > 0);
        assert_int_equal(topo_check(topo, &err), 0);
        assert_true(help_any_process(folder));
        /* Out of reach of the terminal's Ctrl-C. */
        assert_int_equal(getpgid(topo_pid(topo, 0)), topo_pid(topo, 0));
        struct stat of;
        assert_int_equal(stat(folder, &of), 0); /* an account of the servers' may pass through */
        assert_int_equal(of.st_mode & 0766, 0700);
        assert_int_equal(stat(topo_dir(topo, 0), &of), 0);
        assert_int_equal(of.st_mode & 0777, 0700);
        if (d == 0) strangers_are_refused(it, topo);
        topo_stop(topo);
        assert_true(access(folder, F_OK) != 0);
        assert_false(help_any_process(folder));
    }
}

/* A server that is told to use a port on which a stranger listens starts on another port, and the
 * stranger is never taken for the server. */
static void taken_port_is_retried(void **state) {
    const struct shipped *it = *state;
    struct topo_info info;
    info_or_skip(it->name, &info);
    int ports[2];
    pid_t strangers[2];
    for (int i = 0; i < 2; i++) strangers[i] = help_stranger(&ports[i]);
    struct topo_ask wanted = {.info = &info, .ports = ports};
    struct topo *topo = started(it, &wanted);
    char port[16];
    for (int i = 0; i < info.ports; i++) assert_int_not_equal(topo_port(topo, 0, i), ports[i]);
    snprintf(port, sizeof port, ":%d", topo_port(topo, 0, 0));
    assert_non_null(strstr(topo_url(topo), port));
    topo_stop(topo);
    for (int i = 0; i < 2; i++) help_stranger_ends(strangers[i]);
}

/* In a child of ours: starts it, tells the folder through fd when it is ready (or at once), and
 * waits to be killed. */
static void be_killed(const struct shipped *it, const struct topo_info *info, bool until_ready,
                      int fd) {
    struct lb_err err = {0};
    char folder[512] = "";
    struct topo *topo = topo_start(&(struct topo_ask){.info = info}, &err);
    struct topo_wait wait = {
        .deadline_ns = lb_now() + 60 * LB_S_NS, .answers = ping, .arg = (void *)it};
    if (topo && (!until_ready || topo_ready(topo, &wait, &err) == 0)) {
        help_parent(topo_dir(topo, 0), folder, sizeof folder);
        if (!until_ready) help_nap_ms(50); /* in the midst of its preparation */
    }
    if (write(fd, folder, sizeof folder) != sizeof folder) _exit(1);
    for (;;) pause();
}

static void killed_owner_leaves_nothing(const struct shipped *it, bool until_ready) {
    struct topo_info info;
    info_or_skip(it->name, &info);
    int fds[2];
    char folder[512] = "";
    assert_int_equal(pipe(fds), 0);
    pid_t owner = fork();
    if (owner == 0) be_killed(it, &info, until_ready, fds[1]);
    close(fds[1]);
    ssize_t len = read(fds[0], folder, sizeof folder);
    close(fds[0]);
    bool told = len == sizeof folder && *folder, was_there = false;
    /* A child is not in its folder at once. */
    for (int i = 0; told && !was_there && i < 1000; i++, help_nap_ms(5))
        was_there = help_any_process(folder);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    assert_true(was_there);
    assert_true(help_all_gone(folder));
}

static void killed_owner_when_ready(void **state) {
    killed_owner_leaves_nothing(*state, true);
}

static void killed_owner_while_preparing(void **state) {
    killed_owner_leaves_nothing(*state, false);
}

/* While PostgreSQL prepares its data, its programs have shared memory that no later start would
 * free. */
static void stopped_while_preparing_frees_memory(void **state) {
    struct topo_info info;
    struct shared shared = {0};
    struct lb_err err = {0};
    (void)state;
    unsetenv("LB_INITDB"); /* the data is made anew, and no copy */
    info_or_skip("postgres", &info);
    struct topo *topo = topo_start(&(struct topo_ask){.info = &info}, &err);
    if (!topo) fail_msg("%s", err.text);
    wait_for_shared(topo_pid(topo, 0), &shared);
    topo_stop(topo);
    assert_nothing_shared(&shared);
}

static void killed_owner_frees_memory(void **state) {
    struct topo_info info;
    struct shared shared = {0};
    int fds[2];
    char folder[512] = "";
    (void)state;
    unsetenv("LB_INITDB"); /* the data is made anew, and no copy */
    info_or_skip("postgres", &info);
    assert_int_equal(pipe(fds), 0);
    pid_t owner = fork();
    if (owner == 0) {
        struct lb_err err = {0};
        struct topo *topo = topo_start(&(struct topo_ask){.info = &info}, &err);
        if (topo) help_parent(topo_dir(topo, 0), folder, sizeof folder);
        if (write(fds[1], folder, sizeof folder) != sizeof folder) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(fds[0], folder, sizeof folder), sizeof folder);
    close(fds[0]);
    close(fds[1]);
    wait_for_shared(owner, &shared);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    assert_true(help_all_gone(folder));
    assert_nothing_shared(&shared);
}

int main(void) {
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } cases[] = {
        {"starts and stops", starts_and_stops},
        {"taken port is retried", taken_port_is_retried},
        {"killed owner, ready", killed_owner_when_ready},
        {"killed owner, preparing", killed_owner_while_preparing},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    static char names[CASES * SHIPPED][64];
    static struct CMUnitTest tests[CASES * SHIPPED + 2] = {
        [CASES * SHIPPED] = cmocka_unit_test(stopped_while_preparing_frees_memory),
        [CASES * SHIPPED + 1] = cmocka_unit_test(killed_owner_frees_memory),
    };
    for (size_t i = 0; i < CASES * SHIPPED; i++) {
        snprintf(names[i], sizeof names[i], "%s: %s", shipped[i / CASES].name,
                 cases[i % CASES].name);
        tests[i] = (struct CMUnitTest){.name = names[i],
                                       .test_func = cases[i % CASES].run,
                                       .initial_state = (void *)&shipped[i / CASES]};
    }
    return cmocka_run_group_tests_name("servers", tests, NULL, NULL);
}
