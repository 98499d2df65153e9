/* test_conform: the conformance suite over every lock of the list, on real servers.
 *
 * usage: test_conform [PART|LOCK|all [WORDS OF A CHECK'S NAME]]
 *        test_conform --parts
 *
 * A lock is tried with all its checks on its first topology, and with the basic ones on each
 * further one. Checks mostly wait, for leases, sessions and silent servers. So the suite is in
 * parts, which bench/tests/run starts side by side: each part has some locks on one topology, with
 * servers of its own. --parts lists them, with "servers" behind the name of each that needs some. A
 * backend that is missing here is skipped with what to install; in CI (CI=true) that is a
 * failure. */
#define _GNU_SOURCE

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

#define PARTS_MAX 256
#define PART_LOCKS 4      /* that get all checks, on one set of servers, */
#define PART_LOCKS_SLOW 1 /* whose sessions last for some seconds at least */
#define PART_LOCKS_MAX 40 /* that get few: most of their time is the start of the servers */

#define NPM_PACKAGES "sh drivers/exec/examples/node_modules.sh 2>&1"

#define EXEMPT_MAX 8
#define CROWD                                                                                      \
    "64 clients all get it", "64 interpreters take 11 s of a processor; test_runs has 64 children"
#define DRIVER "redis_py tries the driver; this would try the library"

/* Options that change a lock's algorithm: the lock gets the whole suite once more with each of them. Of the programs of
 * `exec` and `exec-session` one each gets nearly all of it: this tries the driver. The others get the basic checks:
 * their processes take a second of a processor to start. */
static const struct variant {
    const char *lock, *set;
    struct {
        const char *check, *why;
    } exempt[EXEMPT_MAX]; /* checks that are left out for it; NULL behind them */
    bool basic;
    const char *name;     /* of the part, without blanks; NULL = the option */
    const char *topology; /* NULL = the lock's first */
    const char *file,
        *install; /* a file that it needs, and the package that has the file; may be NULL */
    const char
        *prepare; /* a command that installs what it needs, or prints why it can't; may be NULL */
} variants[] = {
    {.lock = "sqlite-immediate", .set = "journal=delete"},
    {.lock = "exec",
     .set = "program=/usr/bin/python3 drivers/exec/examples/redis_py.py",
     .name = "redis_py",
     .exempt = {{CROWD}},
     .topology = "redis",
     .file = "/usr/lib/python3/dist-packages/redis",
     .install = "python3-redis"},
    {.lock = "exec",
     .set = "program=node drivers/exec/examples/node_redlock.mjs",
     .name = "node_redlock",
     .basic = true,
     .topology = "redis-independents",
     .prepare = NPM_PACKAGES},
    {.lock = "exec-session",
     .set = "program=/usr/bin/python3 drivers/exec/examples/kazoo_lock.py",
     .name = "kazoo_lock",
     .exempt = {{"a killed server ends every wait, and serves again",
                 "an acquire of kazoo's without a deadline waits for its server without end"},
                {CROWD},
                {"each message of an acquire may be late", DRIVER},
                {"each message of a wait may be late", DRIVER},
                {"each message of a wait that times out may be late", DRIVER},
                {"each message of a release may be late", DRIVER}},
     .topology = "zookeeper",
     .file = "/usr/lib/python3/dist-packages/kazoo",
     .install = "python3-kazoo"},
    {.lock = "exec-session",
     .set = "program=java @.build/exec/curator",
     .name = "curator",
     .basic = true,
     .topology = "zookeeper",
     .file = "/usr/share/java/curator-recipes.jar",
     .install = "libcurator-recipes-java",
     .prepare = "sh drivers/exec/examples/compile_curator.sh 2>&1"},
    {.lock = "exec-session",
     .set = "program=node drivers/exec/examples/etcd3_lock.mjs",
     .name = "etcd3_lock",
     .basic = true,
     .topology = "etcd",
     .prepare = NPM_PACKAGES},
    {.lock = "exec-session",
     .set = "program=/usr/bin/python3 drivers/exec/examples/etcdctl_lock.py",
     .name = "etcdctl_lock",
     .basic = true,
     .exempt =
         {{"nothing is left on the server",
           "etcdctl leaves the key of a wait that was interrupted, now and then, until its lease ends"}},
     .topology = "etcd",
     .file = "/usr/bin/etcdctl",
     .install = "etcd-client"},
};

/* Instead of conform_impatient, for locks whose client is a program: several processes have to run before it answers. */
static const char *const of_programs[] = {"answer_timeout=6s", NULL};

/* Checks that a lock fails now and then on a further topology, because of a behaviour of its servers that the driver
 * states. */
#define TWO_IN_FLIGHT                                                                              \
    "a cluster of nats-server 2.9 accepts two writes that build on the same sequence"
#define READ_BEHIND                                                                                \
    "a server that is behind answers a read, so that a try may find what is free busy"

static const struct known {
    const char *lock, *topology, *check, *reason; /* check NULL = all */
} knowns[] = {
    {"pg-advisory", "postgres-pgbouncer", NULL,
     "a lock of a session is none behind a pooler: test_pg_pooled shows it"},
    {"nats-kv", "nats-3", "eight clients exclude each other", TWO_IN_FLIGHT},
    {"nats-kv", "nats-3", "nothing is left on the server", TWO_IN_FLIGHT},
    {"nats-kv", "nats-3", "a timed wait ends in time and leaves nothing", READ_BEHIND},
    {"nats-kv", "nats-3", "busy while another holds it", READ_BEHIND},
};

/* Locks on one topology. */
struct part {
    char name
        [300]; /* TOPOLOGY:LOCK,LOCK, without the controls behind them; TOPOLOGY, if it is a further one */
    const struct lb_lock *locks[PART_LOCKS_MAX];
    int lock_count;
    const char *topology; /* NULL = embedded */
    bool further;         /* not the locks' first */
    const struct variant *variant;
};

/* A test of a part. */
struct item {
    const struct part *part;
    const struct lb_lock *lock;
    const struct conform_check *check;
};

static const char *only_check;
static struct lb_lock variant_locks[sizeof variants / sizeof *variants];
static struct part parts[PARTS_MAX];
static int part_count;

static struct place *place;
static struct arena arena;

/* --- one part --- */

/* Runs a variant's command. Returns NULL if it succeeds; else text, with the last line that it printed as the
 * reason. */
static const char *prepare(const char *command, char *text, size_t size) {
    FILE *said = popen(command, "r");
    snprintf(text, size, "can't run: %s", command);
    while (said && fgets(text, (int)size, said)) text[strcspn(text, "\n")] = '\0';
    return said && pclose(said) == 0 ? NULL : text;
}

/* Why a part can't be tried here; NULL if it can. */
static const char *lacks(const struct part *part, const struct lb_lock *lock, char *text,
                         size_t size) {
    const struct variant *variant = part->variant;
    if (variant && variant->file && access(variant->file, R_OK) != 0) {
        snprintf(text, size, "%s is missing: install %s", variant->file, variant->install);
        return text;
    }
    if (conform_lacks(lock, part->topology, text, size)) return text;
    return variant && variant->prepare ? prepare(variant->prepare, text, size) : NULL;
}

/* A topology that can't be tried here: skips or, in CI, fails. */
static void test_left_out(void **state) {
    const struct item *item = *state;
    char why[512];
    if (lacks(item->part, item->lock, why, sizeof why)) skip_for("%s", why);
}

/* The item's lock with its variant's option, and those in sets, NULL at the end. */
static void lock_of(const struct item *item, const char *const *sets, struct plan_lock *ret_lock) {
    struct lb_err err = {0};
    const char *all[8];
    int count = 0;
    if (item->part->variant) all[count++] = item->part->variant->set;
    while (sets && *sets) all[count++] = *sets++;
    all[count] = NULL;
    if (conform_lock(item->lock, all, &arena, ret_lock, &err) != 0) fail_msg("%s", err.text);
}

static void test_open(void **state) {
    const struct item *item = *state;
    struct lb_err err = {0};
    struct plan_lock lock;
    lock_of(item, NULL, &lock);
    place = conform_open(&lock, item->part->topology, &err);
    if (!place) {
        printf("UNSTABLE: %s: its backend: %s: tried again\n", item->lock->name, err.text);
        err = (struct lb_err){0};
        place = conform_open(&lock, item->part->topology, &err);
    }
    if (!place) fail_msg("%s", err.text);
}

static void test_close(void **state) {
    (void)state;
    place_close(place);
    place = NULL;
}

/* Why a check may fail there; NULL = it may not. */
static const char *known_of(const struct item *item) {
    for (size_t i = 0; i < sizeof knowns / sizeof *knowns && item->part->further; i++) {
        if (strcmp(knowns[i].lock, item->lock->name) == 0 &&
            strcmp(knowns[i].topology, item->part->topology) == 0 &&
            (!knowns[i].check || strcmp(knowns[i].check, item->check->name) == 0))
            return knowns[i].reason;
    }
    return NULL;
}

static void test_check(void **state) {
    const struct item *item = *state;
    struct conform_result result;
    struct plan_lock lock, far_lock;
    if (!place) {
        printf("skipped: its backend did not start, which has failed already\n");
        skip();
    }
    if (known_of(item)) {
        printf("skipped: known: %s\n", known_of(item));
        skip();
    }
    int64_t began_ns = lb_now();
    lock_of(item, NULL, &lock);
    lock_of(item, item->lock->needs ? of_programs : conform_impatient, &far_lock);
    bool must_fail = conform_must_fail(item->check, item->lock);
    conform_try(item->check, &lock, &far_lock, &place, &result);
    if (result.first[0])
        printf("UNSTABLE: %s: %s: %s: tried again\n", item->lock->name, item->check->name,
               result.first);
    printf("took %.1f s\n", (double)(lb_now() - began_ns) / (double)LB_S_NS);
    if (must_fail && !result.failure[0]) fail_msg("a control that must be caught was not");
    if (!must_fail && result.failure[0]) fail_msg("%s", result.failure);
}

static void add_test(struct CMUnitTest **tests, size_t *count, const char *what,
                     CMUnitTestFunction run, struct item item) {
    const struct variant *variant = item.part->variant;
    struct item *kept = malloc(sizeof *kept);
    char *name = NULL;
    *tests = realloc(*tests, (*count + 1) * sizeof **tests);
    if (!kept || !*tests ||
        asprintf(&name, "%s%s%s%s%s: %s", item.lock->name, variant ? " " : "",
                 variant ? variant->set : "", item.part->further ? " on " : "",
                 item.part->further ? item.part->topology : "", what) < 0)
        abort();
    *kept = item;
    (*tests)[(*count)++] =
        (struct CMUnitTest){.name = name, .test_func = run, .initial_state = kept};
}

/* Why a variant is not tried with a check; NULL = it is. */
static const char *exempt_why(const struct variant *variant, const struct conform_check *check) {
    for (int i = 0; variant && i < EXEMPT_MAX && variant->exempt[i].check; i++)
        if (strcmp(check->name, variant->exempt[i].check) == 0) return variant->exempt[i].why;
    return NULL;
}

static void add_checks(struct CMUnitTest **tests, size_t *count, const struct part *part,
                       const struct lb_lock *lock) {
    for (const struct conform_check *check = conform_checks; check->name; check++) {
        const char *reason;
        if (only_check && !strstr(check->name, only_check)) continue;
        if (exempt_why(part->variant, check)) {
            printf("exempt: %s: %s: %s\n", part->variant->name, check->name,
                   exempt_why(part->variant, check));
            continue;
        }
        if (conform_applies(check, lock, part->further, &reason))
            add_test(tests, count, check->name, test_check, (struct item){part, lock, check});
        else if (reason)
            printf("exempt: %s: %s: %s\n", lock->name, check->name, reason);
    }
}

/* Runs all tests of a part. How many failed. */
static int run_part(const struct part *part) {
    struct CMUnitTest *tests = NULL;
    size_t count = 0;
    struct item first = {part, part->locks[0], NULL};
    char why[512];
    if (lacks(part, first.lock, why, sizeof why)) {
        for (int i = 0; i < part->lock_count; i++)
            add_test(&tests, &count, "left out", test_left_out,
                     (struct item){part, part->locks[i], NULL});
    } else {
        add_test(&tests, &count, "its backend starts", test_open, first);
        for (int i = 0; i < part->lock_count; i++) add_checks(&tests, &count, part, part->locks[i]);
        add_test(&tests, &count, "its backend stops", test_close, first);
    }
    int failed = _cmocka_run_group_tests(part->name, tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        free((char *)(uintptr_t)tests[i].name);
        free(tests[i].initial_state);
    }
    free(tests);
    return failed;
}

/* --- the suite as a whole --- */

static bool is_check(const char *name) {
    const struct conform_check *check = conform_checks;
    while (check->name && strcmp(check->name, name) != 0) check++;
    return check->name;
}

static void test_exemptions_are_of_use(void **state) {
    (void)state;
    for (const struct conform_exemption *at = conform_exemptions; at->lock; at++) {
        if (!registry_lock(at->lock) || !is_check(at->check))
            fail_msg("an exemption of '%s' from '%s', which are not", at->lock, at->check);
    }
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *check;
        for (int j = 0; j < EXEMPT_MAX && (check = variants[i].exempt[j].check); j++)
            if (!is_check(check))
                fail_msg("%s is exempt from '%s', which is no check", variants[i].name, check);
    }
}

/* The part that tries a lock on its first topology, as it is; of one that does nothing without an option (.needs), a
 * part with the option. */
static const struct part *main_part(const struct lb_lock *lock) {
    for (int i = 0; i < part_count; i++) {
        if (parts[i].further || !parts[i].variant != !lock->needs) continue;
        for (int j = 0; j < parts[i].lock_count; j++) {
            if (strcmp(parts[i].locks[j]->name, lock->name) == 0) return &parts[i];
        }
    }
    return NULL;
}

/* The number of a lock's checks that not every lock gets. */
static int count_own_checks(const struct lb_lock *lock) {
    const char *reason;
    int count = 0;
    for (const struct conform_check *check = conform_checks; check->name; check++)
        count += !(check->needs & CONFORM_ALL) && conform_applies(check, lock, false, &reason);
    return count;
}

/* Asks the program itself for its locks, since people run the program. */
static void test_all_covered(void **state) {
    (void)state;
    const char *program = getenv("LOCKBENCH_PROGRAM");
    char command[512];
    if (!program || access(program, X_OK) != 0)
        skip_for("LOCKBENCH_PROGRAM names no program to ask");
    snprintf(command, sizeof command, "'%s' list --table", program);
    FILE *from = popen(command, "r");
    char line[4096], name[100];
    int count = 0;
    if (!from) fail_msg("no list from %s", command);
    while (fgets(line, sizeof line, from)) {
        if (sscanf(line, "### %99s", name) != 1) continue;
        const struct lb_lock *lock = registry_lock(name);
        count++;
        if (!lock) fail_msg("the program has a lock '%s' that the suite does not know", name);
        bool real = !(lock->caps & (LB_CAP_CONTROL | LB_CAP_BASELINE));
        if (!main_part(lock)) fail_msg("%s: no part of the suite runs it", name);
        if (real && count_own_checks(lock) < 3)
            fail_msg("%s: the suite has hardly a check for it", name);
    }
    if (pclose(from) != 0 || count < 12) fail_msg("no locks in what '%s' says", command);
}

static const struct CMUnitTest own_tests[] = {
    cmocka_unit_test(test_exemptions_are_of_use),
    cmocka_unit_test(test_all_covered),
};

static struct part *new_part(const char *topology, bool further, const struct variant *variant) {
    if (part_count == PARTS_MAX) abort();
    parts[part_count] = (struct part){.topology = topology, .further = further, .variant = variant};
    snprintf(parts[part_count].name, sizeof parts->name, "%s", topology ? topology : "embedded");
    return &parts[part_count++];
}

static void add_lock(struct part *part, const struct lb_lock *lock) {
    size_t len = strlen(part->name);
    if (!part->further && (!part->lock_count || !(lock->caps & LB_CAP_CONTROL)))
        snprintf(part->name + len, sizeof part->name - len, "%c%s", part->lock_count ? ',' : ':',
                 lock->name);
    part->locks[part->lock_count++] = lock;
}

static bool is_slow(const char *topology) {
    return topology && (strcmp(topology, "zookeeper") == 0 || strcmp(topology, "etcd") == 0);
}

/* The part that takes one more lock on a topology. */
static struct part *part_for(const struct lb_lock *lock, const char *topology, bool further) {
    bool few = further || (lock->caps & LB_CAP_CONTROL);
    int most = few ? PART_LOCKS_MAX : is_slow(topology) ? PART_LOCKS_SLOW : PART_LOCKS;
    for (int i = part_count - 1; i >= 0; i--) {
        struct part *part = &parts[i];
        bool same = topology && part->topology ? strcmp(topology, part->topology) == 0
                                               : topology == part->topology;
        if (part->locks[0]->backend == lock->backend && same && part->further == further &&
            !part->variant && part->lock_count < most)
            return part;
    }
    return new_part(topology, further, NULL);
}

/* Divides all locks, or the only one that is wanted, among parts. */
static void add_parts(const char *only_lock) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        const char *const *topologies = lb_topologies(lock);
        if (lock->needs || (only_lock && strcmp(only_lock, lock->name) != 0)) continue;
        for (int j = 0; j == 0 || (topologies && topologies[j]); j++)
            add_lock(part_for(lock, topologies ? topologies[j] : NULL, j > 0), lock);
    }
    for (int i = 0; i < (int)(sizeof variants / sizeof *variants); i++) {
        const struct lb_lock *lock = registry_lock(variants[i].lock);
        if (!lock || (only_lock && strcmp(only_lock, lock->name) != 0)) continue;
        variant_locks[i] = *lock;
        const char *topology = variants[i].topology;
        if (!topology && lb_topologies(lock)) topology = lb_topologies(lock)[0];
        struct part *part = new_part(topology, variants[i].basic, &variants[i]);
        add_lock(part, &variant_locks[i]);
        size_t len = strlen(part->name);
        snprintf(part->name + len, sizeof part->name - len, ":%s",
                 variants[i].name ? variants[i].name : variants[i].set);
    }
}

/* The needs of a part, in the words of bench/tests/run. A part takes minutes if its clients are programs, if it has
 * several locks, or if its locks depend on sessions of seconds; on further topologies there are few checks. */
static const char *needs_of(const struct part *part) {
    if (!part->topology) return "";
    if (strncmp(part->locks[0]->name, "exec", 4) == 0) return " servers+3minutes";
    if (part->further) return " servers";
    if (part->lock_count > 1) return " servers+2minutes";
    return is_slow(part->topology) ? " servers+1minutes" : " servers";
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    bool listing = wanted && strcmp(wanted, "--parts") == 0;
    bool by_lock = wanted && registry_lock(wanted);
    int failed = 0, ran = 0;
    only_check = argc > 2 ? argv[2] : NULL;
    add_parts(by_lock ? wanted : NULL);
    if (listing) printf("coverage\n");
    for (int i = 0; i < part_count; i++) {
        if (listing) {
            printf("%s%s\n", parts[i].name, needs_of(&parts[i]));
        } else if (!wanted || by_lock || strcmp(wanted, parts[i].name) == 0) {
            failed += run_part(&parts[i]);
            ran++;
        }
    }
    if (!wanted || strcmp(wanted, "coverage") == 0) {
        failed += cmocka_run_group_tests(own_tests, NULL, NULL);
        ran++;
    }
    arena_done(&arena);
    if (!ran && !listing) fprintf(stderr, "no part and no lock is named '%s'\n", wanted);
    return failed || (!ran && !listing) ? 1 : 0;
}
