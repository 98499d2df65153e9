/* test_foreign_redis: redis-setnx against redis-cli, which takes the same lock by hand as redis.io
 * tells: each excludes the other, and the key on the server is as the documentation says.
 * Needs: servers. */
#include "bench/conform/conform_actor.h"
#include "bench/conform/conform_place.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

static struct arena arena;
static struct plan_lock lock;
static struct place *place;

/* What redis-cli prints for a command line, without the newline at its end. Blocks for some
 * milliseconds: the driver needs no care of its own meanwhile. */
static const char *redis_cli(const char *format, ...) {
    static char answer[256];
    char command[512];
    va_list args;
    int used =
        snprintf(command, sizeof command, "redis-cli --raw -p %d ", topo_port(place->topo, 0, 0));
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

/* As redis.io's script: only the owner's. */
#define DELETE_IF                                                                                       \
    "eval \"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 " \
    "end\" "

#define MUST_SAY(trial, wanted, ...)                                                               \
    do {                                                                                           \
        const char *said = redis_cli(__VA_ARGS__);                                                 \
        MUST((trial), strcmp(said, (wanted)) == 0, "line %d: redis-cli said '%s', not '%s'",       \
             __LINE__, said, (wanted));                                                            \
    } while (0)

static void by_hand_excludes_ours(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    if (!ours) return;
    MUST_SAY(trial, "OK", "set %s by-hand NX PX 60000", key.name);
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(ours, actor_acquire(ours, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    MUST(trial, actor_release(ours) == LB_LOST, "ours freed what was taken by hand");
    MUST_SAY(trial, "by-hand", "get %s", key.name);
    actor_begin_acquire(ours, &key, trial_soon());
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST(trial, actor_is_busy(ours), "ours does not wait for what was taken by hand");
    MUST_SAY(trial, "1", DELETE_IF "1 %s by-hand", key.name);
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    /* By its lease too. */
    MUST_SAY(trial, "OK", "set %s by-hand NX PX 200", key.name);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

static void ours_excludes_by_hand(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    if (!ours) return;
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "", "set %s by-hand NX PX 60000", key.name);
    MUST_SAY(trial, "0", DELETE_IF "1 %s by-hand", key.name);
    /* A string of 40 hexadecimal digits, with the lease in milliseconds as its time to live. */
    MUST_SAY(trial, "string", "type %s", key.name);
    const char *token = redis_cli("get %s", key.name);
    MUST(trial, strlen(token) == 40 && strspn(token, "0123456789abcdef") == 40, "the value is '%s'",
         token);
    long ttl_ms = atol(redis_cli("pttl %s", key.name));
    MUST(trial, ttl_ms > 0 && ttl_ms <= 60000, "the time to live is %ld ms", ttl_ms);
    MUST_SAY(trial, "1", "exists %s", key.name);
    /* Renewed. */
    MUST_GIVE(ours, actor_renew(ours, 120 * LB_S_NS), LB_OK);
    ttl_ms = atol(redis_cli("pttl %s", key.name));
    MUST(trial, ttl_ms > 60000 && ttl_ms <= 120000, "the time to live is %ld ms after renewal",
         ttl_ms);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_SAY(trial, "0", "exists %s", key.name);
    MUST_SAY(trial, "OK", "set %s by-hand NX PX 60000", key.name);
}

/* A key that somebody deletes by hand is lost to its holder. */
static void deleted_by_hand_is_lost(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    if (!ours) return;
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
    if (!ours) return;
    for (int i = 0; i < 2; i++) {
        MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
        MUST_SAY(trial, "OK", "script flush");
        uint64_t before = ours->session.commands;
        MUST_GIVE(ours, actor_release(ours), LB_OK);
        MUST(trial, ours->session.commands == before + 2, "counts %d commands",
             (int)(ours->session.commands - before));
    }
}

FIXTURE(set_up) {
    struct lb_err err = {0};
    char why[512];
    if (conform_lacks(registry_lock("redis-setnx"), NULL, why, sizeof why)) return 0;
    if (conform_lock(registry_lock("redis-setnx"), NULL, &arena, &lock, &err) != 0 ||
        !(place = conform_open(&lock, &err))) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

FIXTURE(tear_down) {
    place_close(place);
    arena_done(&arena);
    return 0;
}

static void run(void (*script)(struct trial *trial)) {
    char why[512];
    if (conform_lacks(registry_lock("redis-setnx"), NULL, why, sizeof why)) skip_for("%s", why);
    need_program("redis-cli", "redis-tools");
    struct trial trial = {.lock = &lock, .place = place};
    trial_run(&trial, script);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

TEST(taken_by_hand_it_excludes_ours) {
    run(by_hand_excludes_ours);
}

TEST(ours_excludes_what_is_taken_by_hand) {
    run(ours_excludes_by_hand);
}

TEST(deleted_by_hand_it_is_lost) {
    run(deleted_by_hand_is_lost);
}

TEST(scripts_that_the_server_forgot_are_sent_again) {
    run(forgotten_scripts);
}

TEST_MAIN(set_up, tear_down)
