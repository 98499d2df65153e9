/* test_redisson_fair: Redisson's fair lock and its read-write lock on a real server: queues, modes
 * and what each script leaves there, field by field, with another client played by hand.
 * Needs: servers. */
#include "drivers/tests/redisson_help.h"

static const char *queue_of(const struct trial_key *key) {
    return text_of("redisson_lock_queue:{%s}", key->name);
}

static const char *timeouts_of(const struct trial_key *key) {
    return text_of("redisson_lock_timeout:{%s}", key->name);
}

/* RedissonFairLock's own queueing, where it can't have the lock. KEYS name, queue, timeouts; ARGV
 * lease, holder, wait, now. */
#define THEY_QUEUE                                                                                       \
    "local lastThreadId = redis.call('lindex', KEYS[2], -1); local ttl; "                                \
    "if lastThreadId ~= false and lastThreadId ~= ARGV[2] then "                                         \
    "ttl = tonumber(redis.call('zscore', KEYS[3], lastThreadId)) - tonumber(ARGV[4]); "                  \
    "else ttl = redis.call('pttl', KEYS[1]); end; "                                                      \
    "local timeout = ttl + tonumber(ARGV[3]) + tonumber(ARGV[4]); "                                      \
    "if redis.call('zadd', KEYS[3], timeout, ARGV[2]) == 1 then redis.call('rpush', KEYS[2], ARGV[2]); " \
    "end; "                                                                                              \
    "return ttl;"

static void they_queue(const struct trial_key *key, long long wait_ms) {
    SAY("EVAL %s 3 %s %s %s 30000 %s %s %s", THEY_QUEUE, key->name, queue_of(key), timeouts_of(key),
        THEM, text_of("%lld", wait_ms), text_of("%lld", wall_ms()));
}

/* Begins an acquire that will wait, and waits until it is the nth of the queue and listens. */
static bool begin_nth(struct trial *trial, struct actor *client, const struct trial_key *key,
                      int nth, char holder[100]) {
    actor_begin_acquire(client, key, trial_soon());
    int64_t until_ns = trial_soon();
    while (atoi(SAY("LLEN %s", queue_of(key))) < nth && lb_now() < until_ns)
        trial_sleep_until(lb_now() + LB_MS_NS);
    snprintf(holder, 100, "%s", SAY("LINDEX %s %d", queue_of(key), nth - 1));
    const char *channel = text_of("redisson_lock__channel:{%s}:%s", key->name, holder);
    while (strcmp(SAY("PUBSUB NUMSUB %s", channel), text_of("%s 1", channel)) != 0 &&
           lb_now() < until_ns)
        trial_sleep_until(lb_now() + LB_MS_NS);
    if (is_holder(holder, "") && actor_is_busy(client)) return true;
    trial_fail(trial, "the %dth of the queue is '%s'", nth, holder);
    return false;
}

static void fair_order(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *first = actor_new(trial), *second = actor_new(trial), *third = actor_new(trial);
    struct actor *holder = actor_new(trial);
    char a[100], b[100], c[100];
    holder->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_HAVE(trial, key.name);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", key.name);
    MUST_GIVE(first, actor_acquire(first, &key, TRIAL_TRY), LB_BUSY);
    MUST_HAVE(trial, key.name); /* who does not want to wait is in no queue */
    if (!begin_nth(trial, first, &key, 1, a) || !begin_nth(trial, second, &key, 2, b) ||
        !begin_nth(trial, third, &key, 3, c))
        return;
    MUST_HAVE(trial, text_of("%s %s %s", key.name, queue_of(&key), timeouts_of(&key)));
    MUST_SAY(trial, "list", "TYPE %s", queue_of(&key));
    MUST_SAY(trial, "zset", "TYPE %s", timeouts_of(&key));
    MUST_SAY(trial, text_of("%s %s %s", a, b, c), "LRANGE %s 0 -1", queue_of(&key));
    MUST_SAY(trial, text_of("%s %s %s", a, b, c), "ZRANGE %s 0 -1", timeouts_of(&key));
    /* Each waiter counts as alive until its wait (30 s) after the time of the waiter before it; the
     * first one until its wait after the lease. */
    long long now = wall_ms(), lease = 60000, wait = trial_patience_ns / LB_MS_NS;
    MUST_LIE(trial, now + lease + wait - 20000, now + lease + wait, "ZSCORE %s %s",
             timeouts_of(&key), a);
    MUST_LIE(trial, now + lease + 2 * wait - 20000, now + lease + 2 * wait, "ZSCORE %s %s",
             timeouts_of(&key), b);
    long long before = atoll(SAY("ZSCORE %s %s", timeouts_of(&key), c));
    /* Only the head of the queue gets a message, on a channel of its own; the times of the others
     * become shorter by its wait. */
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(first, actor_end(first), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}:%s=0", key.name, a);
    MUST_SAY(trial, text_of("%s %s", b, c), "LRANGE %s 0 -1", queue_of(&key));
    long long after = atoll(SAY("ZSCORE %s %s", timeouts_of(&key), c));
    MUST(trial, after <= before - wait + 1000 && after >= before - wait - 1000,
         "the third's time went from %lld to %lld", before, after);
    MUST(trial, actor_is_busy(second) && actor_is_busy(third), "the others did not wait");
    MUST_GIVE(first, actor_release(first), LB_OK);
    MUST_GIVE(second, actor_end(second), LB_OK);
    MUST(trial, actor_is_busy(third), "the third did not wait");
    MUST_GIVE(second, actor_release(second), LB_OK);
    MUST_GIVE(third, actor_end(third), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}:%s=0 redisson_lock__channel:{%s}:%s=0", key.name,
              b, key.name, c);
    MUST_GIVE(third, actor_release(third), LB_OK);
    MUST_HEAR(trial, "%s", "");
    MUST_SAY_SOON(trial, "", "KEYS *");
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
}

/* Waits that end while the client prepares its request, which takes it less than a microsecond. */
static void wait_for_nothing(struct actor *client) {
    const struct lb_lock *lock = client->session.lock;
    for (int wait_ns = 0; wait_ns < 2000; wait_ns += 4) {
        client->request.deadline_ns = lb_now() + wait_ns;
        client->outcome =
            lock->algorithm->acquire(&client->session, &client->request, &client->grant);
        MUST(client->trial, client->outcome == LB_BUSY || client->outcome == LB_TIMEOUT,
             "a call gave %s", lb_outcome_name(client->outcome));
        MUST_SAY(client->trial, "0", "EXISTS redisson_lock_queue:{%s}", client->request.key);
    }
}

/* A waiter that gives up leaves the queue, also if its time is over before it could ask. */
static void fair_gives_up_at_once(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    actors_do(&other, 1, wait_for_nothing);
    MUST_HAVE(trial, key.name);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
}

static void fair_behind_them(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *ours = actor_new(trial);
    char mine[100];
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    they_queue(&key, 60000);
    if (!begin_nth(trial, ours, &key, 2, mine)) return;
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}:%s=0", key.name, THEM);
    /* Free, but it is their turn, not ours nor the holder's. */
    MUST_GIVE(holder, actor_acquire(holder, &key, TRIAL_TRY), LB_BUSY);
    MUST(trial, actor_is_busy(ours), "ours overtook them");
    MUST_SAY(trial, "0", "EXISTS %s", key.name);
    /* They take it and free it, as their scripts do, and tell us. */
    SAY("LPOP %s", queue_of(&key));
    SAY("ZREM %s %s", timeouts_of(&key), THEM);
    SAY("HSET %s %s 1", key.name, THEM);
    MUST_SAY(trial, "1", "DEL %s", key.name);
    /* and our ear */
    MUST_SAY(trial, "2", "PUBLISH redisson_lock__channel:{%s}:%s 0", key.name, mine);
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_SAY_SOON(trial, "", "KEYS *");
}

/* A head of the queue that is dead keeps its place until the end of the wait that it stated. */
static void fair_dead_head(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *ours = actor_new(trial);
    holder->request.lease_ns = 200 * LB_MS_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    they_queue(&key, 400);
    long long over = atoll(SAY("ZSCORE %s %s", timeouts_of(&key), THEM));
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, wall_ms() >= over, "ours came before the dead head's time was over");
    MUST_HAVE(trial, key.name);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_SAY_SOON(trial, "", "KEYS *");
}

static void fair_give_up(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *ours = actor_new(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    /* Ours waits in front of them and gives up: they move up, and their time becomes shorter. */
    actor_begin_acquire(ours, &key, lb_now() + 300 * LB_MS_NS);
    MUST_SAY_SOON(trial, "1", "LLEN %s", queue_of(&key));
    they_queue(&key, 60000);
    long long before = atoll(SAY("ZSCORE %s %s", timeouts_of(&key), THEM));
    MUST_GIVE(ours, actor_end(ours), LB_TIMEOUT);
    MUST_SAY(trial, THEM, "LRANGE %s 0 -1", queue_of(&key));
    MUST_SAY(trial, THEM, "ZRANGE %s 0 -1", timeouts_of(&key));
    long long after = atoll(SAY("ZSCORE %s %s", timeouts_of(&key), THEM));
    MUST(trial, before - after >= 290 && before - after <= 300, "their time went from %lld to %lld",
         before, after);
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
    SAY("DEL %s", queue_of(&key));
    SAY("DEL %s", timeouts_of(&key));
    MUST_GIVE(ours, actor_acquire(ours, &key, lb_now() + 20 * LB_MS_NS), LB_TIMEOUT);
    MUST_HAVE(trial, key.name);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
}

/* The cut-off of a run leaves no time for answers, but no place in the queue and no subscription
 * may stay. */
static void fair_cut_off(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *ours = actor_new(trial);
    char mine[100];
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    if (!begin_nth(trial, ours, &key, 1, mine)) return;
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    atomic_store(&trial->cutoff_ns, lb_now());
    MUST(trial, actor_idle_by(ours, trial_soon()), "a wait goes on although the run was cut off");
    MUST(trial, ours->outcome != LB_OK, "a waiter got ok while another holds");
    atomic_store(&trial->cutoff_ns, LB_NEVER);
    /* On a busy machine the waiter may just have asked once more: then the outcome is unknown, and
     * is settled. */
    if (ours->outcome == LB_UNKNOWN) {
        actor_close(ours);
        MUST(trial, actor_open(ours), "can't connect again: %s", ours->err.text);
        MUST_GIVE(ours, actor_settle(ours), LB_OK);
    }
    MUST_SAY_SOON(trial, key.name, "KEYS *");
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
}

/* The real client is told that it freed a lock which had expired. Ours gets LOST, and sends the
 * head of the queue its message, too. */
static void fair_expired(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    they_queue(&key, 60000);
    MUST_SAY(trial, "1", "DEL %s", key.name);
    MUST_GIVE(ours, actor_renew(ours, LB_S_NS), LB_LOST);
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}:%s=0", key.name, THEM);
    MUST(trial, strstr(seen("\"set\" \"redisson_unlock_latch:"), "\"1\" \"px\" \"18000\""),
         "the latch does not say that it was done");
}

/* --- RReadWriteLock --- */

static const char *count_of(const char *key, const char *field) {
    return SAY("HGET %s %s", key, field);
}

static void rw_readers(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
    one->request.shared = two->request.shared = true;
    one->request.lease_ns = 60 * LB_S_NS;
    two->request.lease_ns = 20 * LB_S_NS;
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    char a[100];
    snprintf(a, sizeof a, "%s",
             SAY("EVAL %s 1 %s",
                 "for _,f in ipairs(redis.call('hkeys',KEYS[1])) do "
                 "if f~='mode' then return f end end",
                 key.name));
    MUST(trial, is_holder(a, ""), "the reader is '%s'", a);
    const char *own = text_of("{%s}:%s:rwlock_timeout", key.name, a);
    MUST_SAY(trial, "read", "HGET %s mode", key.name);
    MUST_SAY(trial, "2", "HLEN %s", key.name);
    MUST(trial, strcmp(count_of(key.name, a), "1") == 0, "it reads once");
    MUST_HAVE(trial, text_of("%s {%s}:%s:rwlock_timeout:1", key.name, key.name, a));
    MUST_SAY(trial, "1", "GET %s:1", own);
    MUST_LIE(trial, 50000, 60000, "PTTL %s:1", own);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", key.name);
    /* A second reader, for less time, and the first once more. */
    MUST_GIVE(two, actor_acquire(two, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "3", "HLEN %s", key.name);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", key.name);
    one->request.held = 1;
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    own = text_of("{%s}:%s:rwlock_timeout", key.name, a);
    MUST(trial, strcmp(count_of(key.name, a), "2") == 0, "it reads twice");
    MUST_SAY(trial, "1", "GET %s:2", own);
    MUST_GIVE(writer, actor_acquire(writer, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(writer, actor_acquire(writer, &key, lb_now() + 20 * LB_MS_NS), LB_TIMEOUT);
    MUST_GIVE(one, actor_release(one), LB_OK);
    own = text_of("{%s}:%s:rwlock_timeout", key.name, a);
    MUST_SAY(trial, "0", "EXISTS %s:2", own);
    MUST_SAY(trial, "1", "EXISTS %s:1", own);
    one->request.held = 0;
    MUST_GIVE(one, actor_release(one), LB_OK);
    /* What is left is the second reader's time; nobody was told yet. */
    own = text_of("{%s}:%s:rwlock_timeout", key.name, a);
    MUST_SAY(trial, "0", "EXISTS %s:1", own);
    MUST_SAY(trial, "2", "HLEN %s", key.name);
    MUST_LIE(trial, 10000, 20000, "PTTL %s", key.name);
    MUST_HEAR(trial, "%s", "");
    MUST_GIVE(two, actor_renew(two, 90 * LB_S_NS), LB_OK);
    MUST_LIE(trial, 80000, 90000, "PTTL %s", key.name);
    /* The writer is told by the last one. */
    actor_begin_acquire(writer, &key, trial_soon());
    const char *channel = text_of("redisson_rwlock:{%s}", key.name);
    MUST_SAY_SOON(trial, text_of("redisson_rwlock:{%s} 1", key.name), "PUBSUB NUMSUB %s", channel);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, actor_end(writer), LB_OK);
    MUST_HEAR(trial, "redisson_rwlock:{%s}=0", key.name);
    MUST_GIVE(writer, actor_release(writer), LB_OK);
    MUST_HEAR(trial, "redisson_rwlock:{%s}=1", key.name);
    MUST_SAY_SOON(trial, "", "KEYS *");
    MUST_GIVE(two, actor_release(two), LB_LOST);
    MUST_GIVE(writer, actor_release(writer), LB_LOST);
}

static void rw_writer(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial), *reader = actor_new(trial);
    reader->request.shared = true;
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    char writer[120];
    snprintf(writer, sizeof writer, "%s",
             SAY("EVAL %s 1 %s",
                 "for _,f in ipairs(redis.call('hkeys',KEYS[1])) do "
                 "if f~='mode' then return f end end",
                 key.name));
    MUST(trial, is_holder(writer, ":write"), "the writer is '%s'", writer);
    MUST_SAY(trial, "write", "HGET %s mode", key.name);
    MUST_HAVE(trial, key.name);
    MUST_GIVE(reader, actor_acquire(reader, &key, TRIAL_TRY), LB_BUSY);
    /* Once more: the leases add up. */
    ours->request.held = 1;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, strcmp(count_of(key.name, writer), "2") == 0, "it writes twice");
    MUST_LIE(trial, 110000, 120000, "PTTL %s", key.name);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", key.name);
    MUST_HEAR(trial, "%s", "");
    /* It reads as well, and lets go of writing: the mode is read then, and nobody is told. */
    actor_begin_acquire(reader, &key, lb_now() + 400 * LB_MS_NS);
    MUST_SAY_SOON(trial, text_of("redisson_rwlock:{%s} 1", key.name),
                  "PUBSUB NUMSUB redisson_rwlock:{%s}", key.name);
    ours->request.shared = true;
    ours->request.held = 0;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "write", "HGET %s mode", key.name);
    MUST_SAY(trial, "3", "HLEN %s", key.name);
    ours->request.shared = false;
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_SAY(trial, "read", "HGET %s mode", key.name);
    MUST_SAY(trial, "2", "HLEN %s", key.name);
    MUST_HEAR(trial, "%s", "");
    MUST_GIVE(reader, actor_end(reader), LB_TIMEOUT);
    /* A new reader gets in. */
    MUST_GIVE(reader, actor_acquire(reader, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(reader, actor_release(reader), LB_OK);
    ours->request.shared = true;
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "redisson_rwlock:{%s}=0", key.name);
    MUST_SAY_SOON(trial, "", "KEYS *");
}

/* As RedissonWriteLock and RedissonReadLock have them. KEYS name (, timeout keys); ARGV lease,
 * holder. */
#define THEY_WRITE                                                                                 \
    "local mode = redis.call('hget', KEYS[1], 'mode'); if (mode == false) then "                   \
    "redis.call('hset', KEYS[1], 'mode', 'write'); redis.call('hset', KEYS[1], ARGV[2], 1); "      \
    "redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);"

static void rw_they_write(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial);
    one->request.shared = two->request.shared = true;
    MUST_SAY(trial, "(nil)", "EVAL %s 1 %s 60000 " THEM ":write", THEY_WRITE, key.name);
    actor_begin_acquire(one, &key, trial_soon());
    actor_begin_acquire(two, &key, trial_soon());
    MUST_SAY_SOON(trial, text_of("redisson_rwlock:{%s} 2", key.name),
                  "PUBSUB NUMSUB redisson_rwlock:{%s}", key.name);
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST(trial, actor_is_busy(one) && actor_is_busy(two), "ours do not wait for them");
    MUST_SAY(trial, "1", "DEL %s", key.name);
    MUST_SAY(trial, "3", "PUBLISH redisson_rwlock:{%s} 1", key.name); /* and our ear */
    MUST_GIVE(one, actor_end(one), LB_OK);
    MUST_GIVE(two, actor_end(two), LB_OK);
    MUST_LIE(trial, 1, 60000, "EVAL %s 1 %s 60000 " THEM ":write", THEY_WRITE, key.name);
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_SAY(trial, "(nil)", "EVAL %s 1 %s 60000 " THEM ":write", THEY_WRITE, key.name);
    MUST_GIVE(one, actor_acquire(one, &key, TRIAL_TRY), LB_BUSY);
}

REDISSON_TEST(RFairLock_three_wait_in_their_order, "redis-fair", fair_order)
REDISSON_TEST(RFairLock_ours_behind_them, "redis-fair", fair_behind_them)
REDISSON_TEST(RFairLock_a_dead_head, "redis-fair", fair_dead_head)
REDISSON_TEST(RFairLock_giving_up, "redis-fair", fair_give_up)
REDISSON_TEST(RFairLock_giving_up_at_once, "redis-fair", fair_gives_up_at_once)
REDISSON_TEST(RFairLock_cut_off, "redis-fair", fair_cut_off)
REDISSON_TEST(RFairLock_what_had_expired, "redis-fair", fair_expired)
REDISSON_TEST(RReadWriteLock_readers, "redis-rwlock", rw_readers)
REDISSON_TEST(RReadWriteLock_a_writer, "redis-rwlock", rw_writer)
REDISSON_TEST(RReadWriteLock_they_write, "redis-rwlock", rw_they_write)

TEST_MAIN(NULL, NULL)
