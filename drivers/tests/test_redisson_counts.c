/* test_redisson_counts: Redisson's semaphores, latch and MultiLock on real servers: what each
 * script leaves there, field by field, with another client played by hand.
 * Needs: servers. */
#include "drivers/tests/redisson_help.h"

static void wait_for_ears(struct trial *trial, const char *channel, int count) {
    char name[200];
    snprintf(name, sizeof name, "%s", channel);
    MUST_SAY_SOON(trial, text_of("%s %d", name, count), "PUBSUB NUMSUB %s", name);
}

/* --- RSemaphore --- */

/* RedissonSemaphore's release. KEYS name, channel; ARGV permits. */
#define THEY_RELEASE                                                                               \
    "local value = redis.call('incrby', KEYS[1], ARGV[1]); redis.call('publish', KEYS[2], value);"

static void semaphore(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *three = actor_new(trial);
    one->request.bound = two->request.bound = three->request.bound = 3;
    two->request.permits = 2;
    const char *channel = text_of("redisson_sc:{%s}", key.name);
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    MUST_HEAR(trial, "redisson_sc:{%s}=3", key.name); /* trySetPermits */
    MUST_HAVE(trial, key.name);
    MUST_SAY(trial, "string", "TYPE %s", key.name);
    MUST_SAY(trial, "2", "GET %s", key.name);
    MUST_SAY(trial, "-1", "PTTL %s", key.name);
    MUST_GIVE(two, actor_acquire(two, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "0", "GET %s", key.name);
    MUST_GIVE(three, actor_acquire(three, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(three, actor_release(three), LB_LOST);
    MUST_SAY(trial, "0", "GET %s", key.name);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_SAY(trial, "2", "GET %s", key.name);
    MUST_HEAR(trial, "redisson_sc:{%s}=2", key.name);
    MUST_GIVE(two, actor_release(two), LB_LOST);
    MUST_SAY(trial, "2", "GET %s", key.name);
    /* They take all that is left, and give it back while ours waits. */
    MUST_SAY(trial, "0", "DECRBY %s 2", key.name);
    actor_begin_acquire(two, &key, trial_soon());
    actor_begin_acquire(three, &key, trial_soon());
    channel = text_of("redisson_sc:{%s}", key.name);
    wait_for_ears(trial, channel, 2);
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST(trial, actor_is_busy(two) && actor_is_busy(three), "ours do not wait for them");
    SAY("EVAL %s 2 %s redisson_sc:{%s} 2", THEY_RELEASE, key.name, key.name);
    /* Two permits are free now: for the client that wants two, or for the one that wants one. */
    int64_t until_ns = trial_soon();
    while (actor_is_busy(two) && actor_is_busy(three) && lb_now() < until_ns)
        trial_sleep_until(lb_now() + LB_MS_NS);
    MUST_GIVE(one, actor_release(one), LB_OK);
    if (actor_is_busy(two)) {
        MUST_GIVE(three, actor_end(three), LB_OK);
        MUST_GIVE(two, actor_end(two), LB_OK);
        MUST_GIVE(three, actor_release(three), LB_OK);
        MUST_GIVE(two, actor_release(two), LB_OK);
    } else {
        MUST_GIVE(two, actor_end(two), LB_OK);
        MUST_GIVE(three, actor_end(three), LB_OK);
        MUST_GIVE(two, actor_release(two), LB_OK);
        MUST_GIVE(three, actor_release(three), LB_OK);
    }
    MUST_SAY(trial, "3", "GET %s", key.name);
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
    MUST_HAVE(trial, key.name);
}

/* --- RPermitExpirableSemaphore --- */

static void permit_state(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial);
    one->request.bound = two->request.bound = 3;
    two->request.permits = 2;
    one->request.lease_ns = 60 * LB_S_NS;
    two->request.lease_ns = 90 * LB_S_NS;
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    const char *set = text_of("{%s}:timeout", key.name);
    MUST_HEAR(trial, "redisson_sc:{%s}=3", key.name);
    MUST_HAVE(trial, text_of("%s {%s}:timeout", key.name, key.name));
    MUST_SAY(trial, "2", "GET %s", key.name);
    MUST_SAY(trial, "zset", "TYPE %s", set);
    MUST_SAY(trial, "-1", "PTTL %s", set);
    MUST_SAY(trial, "16", "EVAL %s 1 %s", "return #redis.call('zrange',KEYS[1],0,0)[1]", set);
    long long now = wall_ms();
    MUST_LIE(trial, now + 50000, now + 60001, "EVAL %s 1 %s",
             "return redis.call('zrange',KEYS[1],0,0,'withscores')[2]", set);
    MUST_GIVE(two, actor_acquire(two, &key, trial_soon()), LB_OK);
    set = text_of("{%s}:timeout", key.name);
    MUST_SAY(trial, "0", "GET %s", key.name);
    MUST_SAY(trial, "3", "ZCARD %s", set);
    /* Renewed, it is the last to end. */
    MUST_GIVE(one, actor_renew(one, 300 * LB_S_NS), LB_OK);
    now = wall_ms();
    MUST_SAY(trial, "1", "ZCOUNT %s %s %s", set, text_of("%lld", now + 290000),
             text_of("%lld", now + 300001));
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_SAY(trial, "2", "GET %s", key.name);
    MUST_HEAR(trial, "redisson_sc:{%s}=2", key.name);
    MUST_SAY(trial, "1", "ZCARD {%s}:timeout", key.name);
    MUST_GIVE(two, actor_release(two), LB_LOST);
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_HEAR(trial, "redisson_sc:{%s}=3", key.name);
    MUST_HAVE(trial, key.name);
    MUST_GIVE(one, actor_release(one), LB_LOST);
    MUST_GIVE(one, actor_renew(one, LB_S_NS), LB_LOST);
    MUST_SAY(trial, "3", "GET %s", key.name);
}

static void permit_ends(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial), *next = actor_new(trial);
    ours->request.lease_ns = 60 * LB_S_NS;
    /* Theirs is out, and ends soon: ours is told when, and waits for no message. */
    actor_use_key(ours, &key);
    MUST_HEAR(trial, "redisson_sc:{%s}=1", key.name);
    MUST_SAY(trial, "0", "DECR %s", key.name);
    long long end = wall_ms() + 300;
    MUST_SAY(trial, "1", "ZADD {%s}:timeout %s 0123456789abcdef", key.name, text_of("%lld", end));
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, wall_ms() >= end, "ours got a permit that had not ended");
    MUST_SAY(trial, "0", "GET %s", key.name);
    MUST_SAY(trial, "1", "ZCARD {%s}:timeout", key.name);
    MUST_SAY(trial, "(nil)", "ZSCORE {%s}:timeout 0123456789abcdef", key.name);
    MUST_HEAR(trial, "redisson_sc:{%s}=1", key.name); /* theirs went back */
    /* A permit of ours that has ended is freed by the next client that asks, and is not ours any
     * more. */
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    ours->request.lease_ns = 200 * LB_MS_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_GIVE(next, actor_acquire(next, &key, trial_soon()), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    MUST_SAY(trial, "0", "GET %s", key.name);
    MUST_GIVE(next, actor_release(next), LB_OK);
    MUST_SAY(trial, "1", "GET %s", key.name);
    /* A permit without an end has no nearest one: only a message helps. */
    MUST_SAY(trial, "0", "DECR %s", key.name);
    MUST_SAY(trial, "1", "ZADD {%s}:timeout 922337203685477 0123456789abcdef", key.name);
    actor_begin_acquire(ours, &key, trial_soon());
    wait_for_ears(trial, text_of("redisson_sc:{%s}", key.name), 1);
    MUST_SAY(trial, "1", "ZREM {%s}:timeout 0123456789abcdef", key.name);
    MUST_SAY(trial, "1", "INCR %s", key.name);
    MUST_SAY(trial, "2", "PUBLISH redisson_sc:{%s} 1", key.name); /* and our ear */
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HAVE(trial, key.name);
}

/* --- RCountDownLatch --- */

static void latch(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *late = actor_new(trial);
    one->request.bound = two->request.bound = late->request.bound = 2;
    MUST_GIVE(one, actor_acquire(one, &key, TRIAL_TRY), LB_BUSY);
    MUST_HEAR(trial, "redisson_countdownlatch__channel__{%s}=1", key.name); /* trySetCount */
    MUST_HAVE(trial, key.name);
    MUST_SAY(trial, "2", "GET %s", key.name);
    actor_begin_acquire(one, &key, trial_soon());
    actor_begin_acquire(two, &key, trial_soon());
    wait_for_ears(trial, text_of("redisson_countdownlatch__channel__{%s}", key.name), 2);
    actor_use_key(late, &key);
    MUST_GIVE(late, actor_release(late), LB_OK);
    MUST_SAY(trial, "1", "GET %s", key.name);
    MUST_HEAR(trial, "%s", "");
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST(trial, actor_is_busy(one) && actor_is_busy(two), "it opened half way");
    /* They count the last. */
    SAY("EVAL %s 2 %s redisson_countdownlatch__channel__{%s} 0",
        "local v = redis.call('decr', KEYS[1]);if v <= 0 then redis.call('del', KEYS[1]) end;"
        "if v == 0 then redis.call('publish', KEYS[2], ARGV[1]) end;",
        key.name, key.name);
    MUST_GIVE(one, actor_end(one), LB_OK);
    MUST_GIVE(two, actor_end(two), LB_OK);
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_OK);
    MUST_HEAR(trial, "redisson_countdownlatch__channel__{%s}=0", key.name);
    MUST_HAVE(trial, "");
    /* Below zero nothing changes, and no message is sent. */
    MUST_GIVE(late, actor_release(late), LB_OK);
    MUST_HAVE(trial, "");
    MUST_HEAR(trial, "%s", "");
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
    /* A new round. */
    MUST(trial, actor_arm(late) == 0, "it can't be set again: %s", late->err.text);
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(late, actor_release(late), LB_OK);
    MUST_GIVE(late, actor_release(late), LB_OK);
    MUST_HEAR(trial,
              "redisson_countdownlatch__channel__{%s}=1 redisson_countdownlatch__channel__{%s}=0",
              key.name, key.name);
}

/* --- MultiLock --- */

#define SERVERS 5

/* Checks the answer of each of the servers. */
static void on_all(struct trial *trial, const char *wanted, const char *format, const char *name,
                   int line) {
    for (int i = 0; i < SERVERS; i++) {
        redisContext *server = dial(topo_port(trial->place->topo, i, 0));
        const char *said =
            server && !server->err ? say_on(server, format, name) : "(no connection)";
        if (strcmp(said, wanted) != 0)
            trial_fail(trial, "line %d: server %d says '%s', not '%s'", line, i + 1, said, wanted);
        redisFree(server);
    }
}
#define ON_ALL(wanted, format, name)                                                               \
    do {                                                                                           \
        on_all(trial, wanted, format, name, __LINE__);                                             \
        if (trial_failed(trial)) return;                                                           \
    } while (0)

static void multi(struct trial *trial) {
    struct trial_key keys[2] = {trial_key(), trial_key()};
    struct actor *ours = actor_new(trial), *other = actor_new(trial);
    ours->request.lease_ns = 60 * LB_S_NS;
    actor_use_keys(ours, keys, 2);
    MUST_GIVE(ours, actor_take(ours, TRIAL_TRY), LB_OK);
    ON_ALL("hash", "TYPE %s", keys[0].name);
    ON_ALL("hash", "TYPE %s", keys[1].name);
    ON_ALL("1", "HLEN %s", keys[1].name);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", keys[0].name);
    MUST(trial, is_holder(SAY("HKEYS %s", keys[0].name), ""), "the holder is '%s'",
         SAY("HKEYS %s", keys[0].name));
    MUST_GIVE(other, actor_acquire(other, &keys[1], TRIAL_TRY), LB_BUSY);
    MUST_GIVE(ours, actor_renew(ours, 120 * LB_S_NS), LB_OK);
    MUST_LIE(trial, 110000, 120000, "PTTL %s", keys[1].name);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}=0 redisson_lock__channel:{%s}=0", keys[0].name,
              keys[1].name);
    ON_ALL("0", "EXISTS %s", keys[0].name);
    ON_ALL("0", "EXISTS %s", keys[1].name);
    /* They hold one of ten, on the third server: nothing of ours stays, there or elsewhere. */
    redisContext *third = dial(topo_port(trial->place->topo, 2, 0));
    say_on(third, "HSET %s %s 1", keys[1].name, THEM);
    MUST_GIVE(ours, actor_take(ours, TRIAL_TRY), LB_BUSY);
    ON_ALL("0", "EXISTS %s", keys[0].name);
    MUST_GIVE(ours, actor_take(ours, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    ON_ALL("0", "EXISTS %s", keys[0].name);
    MUST_GIVE(other, actor_acquire(other, &keys[0], TRIAL_TRY), LB_OK);
    MUST_GIVE(other, actor_release(other), LB_OK);
    /* While the locks are collected, each has a lease of twice the wait; when all are held, they
     * get the lease that was asked for. */
    ours->request.lease_ns = 60 * LB_S_NS;
    actor_begin_take(ours, trial_soon());
    const char *channel = text_of("redisson_lock__channel:{%s}", keys[1].name);
    int64_t until_ns = trial_soon();
    while (strcmp(say_on(third, "PUBSUB NUMSUB %s", channel), text_of("%s 1", channel)) != 0 &&
           lb_now() < until_ns)
        trial_sleep_until(lb_now() + LB_MS_NS);
    long long wait = trial_patience_ns / LB_MS_NS;
    MUST_LIE(trial, 2 * wait - 10000, 2 * wait, "PTTL %s", keys[0].name);
    MUST(trial, strcmp(say_on(third, "DEL %s", keys[1].name), "1") == 0, "theirs was gone");
    say_on(third, "PUBLISH %s 0", channel);
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", keys[0].name);
    /* One of them gone: it is lost, and the rest is freed. */
    say_on(third, "DEL %s", keys[0].name);
    redisFree(third);
    MUST_GIVE(ours, actor_renew(ours, LB_S_NS), LB_LOST);
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    ON_ALL("0", "EXISTS %s", keys[0].name);
    ON_ALL("0", "EXISTS %s", keys[1].name);
}

REDISSON_TEST(RSemaphore, "redis-semaphore", semaphore)
REDISSON_TEST(RPermitExpirableSemaphore_what_is_on_the_server, "redis-permit", permit_state)
REDISSON_TEST(RPermitExpirableSemaphore_permits_end, "redis-permit", permit_ends)
REDISSON_TEST(RCountDownLatch, "redis-latch", latch)
REDISSON_TEST_ON("redis-independents", MultiLock_two_keys_on_five_servers, "redis-multi", multi)

TEST_MAIN(NULL, NULL)
