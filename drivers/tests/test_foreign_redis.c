/* test_foreign_redis: redis-setnx and redis-redlock against the clients whose protocol they speak: redis-cli as redis.io
 * tells it, redis-py's Lock and node-redlock (drivers/tests/foreign), which hold and wait in processes of their own.
 * Each excludes the other, both ways, by release and by the end of a lease; and the key is as the documentation says.
 * Needs: servers. */
#include "bench/conform/conform_place.h"
#include "bench/conform/conform_trial.h"
#include "drivers/tests/live_help.h"

enum { REDIS_CLI, REDIS_PY, NODE_ONE, NODE_FIVE, KINDS };

static struct kind {
    const char *name, *lock;
    struct arena arena;
    struct plan_lock planned;
    struct place *place;
    struct foreign client;
    const char *missing; /* why there is none, or NULL */
} kinds[KINDS] = {
    [REDIS_CLI] = {.name = "redis-cli", .lock = "redis-setnx"},
    [REDIS_PY] = {.name = "redis-py's Lock", .lock = "redis-setnx"},
    [NODE_ONE] = {.name = "node-redlock with one server", .lock = "redis-setnx"},
    [NODE_FIVE] = {.name = "node-redlock", .lock = "redis-redlock"},
};
static struct kind *now; /* the one that is played */

/* --- the foreign client --- */

static void tell(const char *line) {
    char text[LB_KEY_MAX + 100];
    int len = snprintf(text, sizeof text, "%s\n", line);
    if (write(now->client.to, text, (size_t)len) != len) abort();
}

/* What it answers, of which only the first word counts if there is a blank. Blocks our loop
 * meanwhile. */
static const char *hear(void) {
    static char word[300];
    snprintf(word, sizeof word, "%s", foreign_hear(&now->client));
    word[strcspn(word, " ")] = '\0';
    return word;
}

static bool is_silent(void) {
    struct pollfd wait = {.fd = now->client.from, .events = POLLIN};
    return poll(&wait, 1, 0) == 0;
}

/* Tells it, with the key and a time if there are any. */
#define MUST_ANSWER(trial, wanted, ...)                                                            \
    do {                                                                                           \
        char line_[LB_KEY_MAX + 64];                                                               \
        snprintf(line_, sizeof line_, __VA_ARGS__);                                                \
        tell(line_);                                                                               \
        const char *said_ = hear();                                                                \
        MUST((trial), strcmp(said_, (wanted)) == 0, "line %d: told '%s', it said '%s', not '%s'",  \
             __LINE__, line_, said_, (wanted));                                                    \
    } while (0)

/* --- the checks --- */

static void theirs_excludes_ours(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    MUST_ANSWER(trial, "ok", "acquire %s 60000", key.name);
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(ours, actor_acquire(ours, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    MUST_GIVE(ours, actor_renew(ours, LB_S_NS), LB_LOST);
    actor_begin_acquire(ours, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST(trial, actor_is_busy(ours), "ours does not wait for theirs");
    MUST_ANSWER(trial, "ok", "extend 90000");
    MUST_ANSWER(trial, "ok", "release");
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

static void ours_excludes_theirs(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    char line[LB_KEY_MAX + 64];
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_ANSWER(trial, "busy", "acquire %s 60000", key.name);
    snprintf(line, sizeof line, "wait %s 60000", key.name);
    tell(line);
    trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    MUST(trial, is_silent(), "theirs does not wait for ours: %s", hear());
    MUST_GIVE(ours, actor_renew(ours, 60 * LB_S_NS), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST(trial, strcmp(hear(), "ok") == 0, "theirs did not get what ours released");
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_BUSY);
    MUST_ANSWER(trial, "ok", "release");
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

/* A late release never frees the next holder's lock, whichever of the two clients is late. */
static void leases_end(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_ANSWER(trial, "ok", "acquire %s 300", key.name);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_ANSWER(trial, "lost", "release");
    MUST_ANSWER(trial, "busy", "acquire %s 60000", key.name);
    MUST_GIVE(ours, actor_release(ours), LB_OK);

    ours->request.lease_ns = 300 * LB_MS_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_ANSWER(trial, "ok", "wait %s 60000", key.name);
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_BUSY);
    MUST_ANSWER(trial, "ok", "release");
}

/* --- by hand --- */

/* What redis-cli prints for a command line, without the newline at its end. Blocks for some
 * milliseconds: the driver needs no care of its own meanwhile. */
static const char *redis_cli(const char *format, ...) {
    static char answer[256];
    char command[512];
    va_list args;
    int used = snprintf(command, sizeof command, "redis-cli --raw -p %d ",
                        topo_port(now->place->topo, 0, 0));
    va_start(args, format);
    vsnprintf(command + used, sizeof command - (size_t)used, format, args);
    va_end(args);
    FILE *out = popen(command, "r");
    size_t len = out ? fread(answer, 1, sizeof answer - 1, out) : 0;
    if (out) pclose(out);
    answer[len] = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    return answer;
}

#define MUST_SAY(trial, wanted, ...)                                                               \
    do {                                                                                           \
        const char *said = redis_cli(__VA_ARGS__);                                                 \
        MUST((trial), strcmp(said, (wanted)) == 0, "line %d: redis-cli said '%s', not '%s'",       \
             __LINE__, said, (wanted));                                                            \
    } while (0)

/* A string of 40 hexadecimal digits, with the lease in milliseconds as its time to live. */
static void what_is_on_the_server(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "string", "type %s", key.name);
    const char *token = redis_cli("get %s", key.name);
    MUST(trial, strlen(token) == 40 && strspn(token, "0123456789abcdef") == 40, "the value is '%s'",
         token);
    long ttl_ms = atol(redis_cli("pttl %s", key.name));
    MUST(trial, ttl_ms > 0 && ttl_ms <= 60000, "the time to live is %ld ms", ttl_ms);
    /* Renewed. */
    MUST_GIVE(ours, actor_renew(ours, 120 * LB_S_NS), LB_OK);
    ttl_ms = atol(redis_cli("pttl %s", key.name));
    MUST(trial, ttl_ms > 60000 && ttl_ms <= 120000, "the time to live is %ld ms after renewal",
         ttl_ms);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_SAY(trial, "0", "exists %s", key.name);
}

/* A key that somebody deletes by hand is lost to its holder. */
static void deleted_by_hand_is_lost(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "1", "del %s", key.name);
    MUST_SAY(trial, "OK", "set %s by-hand NX PX 60000", key.name);
    MUST_GIVE(ours, actor_renew(ours, LB_S_NS), LB_LOST);
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    MUST_SAY(trial, "by-hand", "get %s", key.name);
    /* A key of another type is no lock, and the error says so. */
    MUST_SAY(trial, "1", "del %s", key.name);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "1", "del %s", key.name);
    MUST_SAY(trial, "1", "rpush %s x", key.name);
    MUST_GIVE(ours, actor_release(ours), LB_REFUSED);
    MUST(trial, strstr(ours->session.err.text, "WRONGTYPE"), "says '%s'", ours->session.err.text);
}

/* A script that the server has forgotten is sent again, and the additional command is counted. */
static void forgotten_scripts(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    for (int i = 0; i < 2; i++) {
        MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
        MUST_SAY(trial, "OK", "script flush");
        uint64_t before = ours->session.commands;
        MUST_GIVE(ours, actor_release(ours), LB_OK);
        MUST(trial, ours->session.commands == before + 2, "counts %d commands",
             (int)(ours->session.commands - before));
    }
}

/* --- setting up --- */

/* The first python3 that has redis-py: Debian's module is its own interpreter's only. */
static const char *python(void) {
    static const char *const names[] = {"/usr/bin/python3", "python3"};
    for (int i = 0; i < 2; i++) {
        char command[100];
        snprintf(command, sizeof command, "%s -c 'import redis' 2>/dev/null", names[i]);
        if (system(command) == 0) return names[i];
    }
    return NULL;
}

/* Starts the foreign client on the place's servers. What is missing, or NULL. */
static const char *start_foreign(struct kind *kind) {
    static char script[600], ports[16][8], folder[512];
    const char *argv[20] = {NULL, script};
    struct lb_err err = {0};
    if (home_path("drivers/tests/foreign", folder, sizeof folder, &err) != 0)
        return "no drivers/tests/foreign";
    if (kind == &kinds[REDIS_CLI]) {
        if (system("command -v redis-cli >/dev/null") != 0)
            return "redis-cli is missing: install redis-tools";
        argv[0] = "sh";
        snprintf(script, sizeof script, "%s/redis_cli.sh", folder);
    } else if (kind == &kinds[REDIS_PY]) {
        argv[0] = python();
        if (!argv[0]) return "redis-py is missing: install python3-redis";
        snprintf(script, sizeof script, "%s/redis_py.py", folder);
    } else {
        char command[600];
        snprintf(command, sizeof command, "sh '%s/../../exec/examples/node_modules.sh'", folder);
        if (system(command) != 0) return "node-redlock can't be installed: see above";
        argv[0] = "node";
        snprintf(script, sizeof script, "%s/node_redlock.mjs", folder);
    }
    int count = topo_about(kind->place->topo)->nodes;
    for (int i = 0; i < count; i++) {
        snprintf(ports[i], sizeof ports[i], "%d", topo_port(kind->place->topo, i, 0));
        argv[2 + i] = ports[i];
    }
    foreign_start(&kind->client, argv);
    return strcmp(foreign_hear(&kind->client), "ready") == 0 ? NULL
                                                             : "the foreign client does not start";
}

FIXTURE(set_up) {
    struct lb_err err = {0};
    signal(SIGPIPE, SIG_IGN);
    for (struct kind *kind = kinds; kind < kinds + KINDS; kind++) {
        static char why[KINDS][400];
        kind->missing =
            conform_lacks(registry_lock(kind->lock), NULL, why[kind - kinds], sizeof why[0]);
        if (kind->missing) continue;
        if (conform_lock(registry_lock(kind->lock), NULL, &kind->arena, &kind->planned, &err) !=
                0 ||
            !(kind->place = conform_open(&kind->planned, NULL, &err))) {
            print_error("%s\n", err.text);
            return -1;
        }
        kind->missing = start_foreign(kind);
    }
    return 0;
}

FIXTURE(tear_down) {
    for (struct kind *kind = kinds; kind < kinds + KINDS; kind++) {
        if (kind->client.pid > 0) foreign_end(&kind->client);
        place_close(kind->place);
        arena_done(&kind->arena);
    }
    return 0;
}

static void play(struct kind *kind, void (*script)(struct trial *)) {
    now = kind;
    LIVE_NEEDS(kind);
    topo_login(kind->place->topo); /* for redis-cli: each server has its own password */
    struct trial trial = {.lock = &kind->planned, .place = kind->place};
    trial_run(&trial, script);
    if (trial.failure[0]) fail_msg("%s: %s", kind->name, trial.failure);
}

#define ON(kind, test, script)                                                                     \
    TEST(test) {                                                                                   \
        play(&kinds[kind], script);                                                                \
    }
#define TESTS(name, kind)                                                                          \
    ON(kind, name##_excludes_ours, theirs_excludes_ours)                                           \
    ON(kind, ours_excludes_##name, ours_excludes_theirs)                                           \
    ON(kind, leases_end_with_##name, leases_end)

TESTS(redis_cli, REDIS_CLI)
TESTS(redis_py, REDIS_PY)
TESTS(node_redlock_on_one, NODE_ONE)
TESTS(node_redlock, NODE_FIVE)
ON(REDIS_CLI, the_key_is_as_documented, what_is_on_the_server)
ON(REDIS_CLI, deleted_by_hand_it_is_lost, deleted_by_hand_is_lost)
ON(REDIS_CLI, scripts_that_the_server_forgot_are_sent_again, forgotten_scripts)

TEST_MAIN(set_up, tear_down)
