/* test_redisson: Redisson's mutexes on a real server: the state that each script leaves there,
 * field by field, and another client, played by hand, that holds while ours waits and waits while
 * ours holds.
 * Needs: servers. */
#include "drivers/tests/redisson_help.h"

#include <signal.h>

/* The script of Redisson 3 and 4: KEYS name; ARGV lease, holder. */
#define THEIR_LOCK                                                                                           \
    "if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then "      \
    "redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; " \
    "return redis.call('pttl', KEYS[1]);"
/* The script of older clients, without the unlock latch; they may use the same server. KEYS name,
 * channel; ARGV message, lease, holder. */
#define THEIR_OLD_UNLOCK                                                                           \
    "if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil; end; "                     \
    "local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); "                                \
    "if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; "                    \
    "else redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return 1; end;"

static const char *they_lock(const char *key, int lease_ms) {
    return SAY("EVAL %s 1 %s %d %s", THEIR_LOCK, key, lease_ms, THEM);
}

static const char *they_unlock(const char *key) {
    const char *channel = text_of("redisson_lock__channel:{%s}", key);
    return SAY("EVAL %s 2 %s %s 0 30000 %s", THEIR_OLD_UNLOCK, key, channel, THEM);
}

/* --- RLock --- */

static void rlock_state(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_HAVE(trial, key.name);
    MUST_SAY(trial, "hash", "TYPE %s", key.name);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", key.name);
    char holder[100];
    snprintf(holder, sizeof holder, "%s", SAY("HKEYS %s", key.name));
    MUST(trial, is_holder(holder, ""), "the holder is '%s'", holder);
    MUST_SAY(trial, "1", "HGET %s %s", key.name, holder);
    /* Once more, and half of it back: no message, and the lease begins anew. */
    ours->request.held = 1;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_SAY(trial, "2", "HGET %s %s", key.name, holder);
    MUST_SAY(trial, "1", "PEXPIRE %s 20000", key.name);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_SAY(trial, "1", "HGET %s %s", key.name, holder);
    MUST_LIE(trial, 50000, 60000, "PTTL %s", key.name);
    MUST_HEAR(trial, "%s", "");
    /* The watchdog's renewal. */
    MUST_GIVE(ours, actor_renew(ours, 120 * LB_S_NS), LB_OK);
    MUST_LIE(trial, 110000, 120000, "PTTL %s", key.name);
    ours->request.held = 0;
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}=0", key.name);
    MUST_SAY_SOON(trial, "", "KEYS *");
    /* What the keys of a name with a brace are called. */
    struct trial_key tagged = trial_key_named("a{b}c", 5);
    MUST_GIVE(ours, actor_acquire(ours, &tagged, trial_soon()), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:a{b}c=0");
}

/* Each unlock notes its answer under a name of its own, which is deleted after it. */
static void unlock_latch(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    char last[200] = "";
    for (int i = 0; i < 2; i++) {
        char name[200];
        MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
        MUST_GIVE(ours, actor_release(ours), LB_OK);
        const char *line = seen(text_of("\"set\" \"redisson_unlock_latch:{%s}:", key.name));
        const char *at = strstr(line, "redisson_unlock_latch");
        MUST(trial, at, "no latch was set");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
        const char *id = strrchr(name, ':') + 1;
        MUST(trial, strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32,
             "the latch's id is '%s'", id);
        MUST(trial, strcmp(name, last) != 0, "the same latch twice");
        MUST(trial, strstr(at, "\" \"1\" \"px\" \"18000\""), "the latch was set so: %s", at);
        /* It was sent after the unlock's answer, without a wait: it is there by the next answer. */
        MUST_GIVE(ours, actor_ping(ours), LB_OK);
        MUST(trial, seen(text_of("\"DEL\" \"%s\"", name))[0], "the latch was not deleted");
        snprintf(last, sizeof last, "%s", name);
    }
    MUST_HAVE(trial, "");
}

static void they_hold_ours_waits(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    char channel[200];
    snprintf(channel, sizeof channel, "%s", text_of("redisson_lock__channel:{%s}", key.name));
    MUST(trial, strcmp(they_lock(key.name, 60000), "(nil)") == 0, "they can't lock");
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_BUSY);
    MUST_SAY(trial, "", "PUBSUB CHANNELS");
    MUST_GIVE(ours, actor_acquire(ours, &key, lb_now() + 50 * LB_MS_NS), LB_TIMEOUT);
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
    MUST(trial, actor_release(ours) == LB_LOST, "ours freed what they hold");
    uint64_t before = ours->session.wakeups, sent = ours->session.commands;
    actor_begin_acquire(ours, &key, trial_soon());
    MUST_SAY_SOON(trial, text_of("%s 1", channel), "PUBSUB NUMSUB %s", channel);
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST(trial, actor_is_busy(ours), "ours does not wait for them");
    /* It asks, subscribes, and asks again, for it may have been freed in between. */
    MUST(trial, ours->session.commands == sent + 3, "it has sent %d commands before it waits",
         (int)(ours->session.commands - sent));
    MUST(trial, strcmp(they_unlock(key.name), "1") == 0, "they can't unlock");
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST(trial, ours->session.wakeups == before + 1, "one message woke it %d times",
         (int)(ours->session.wakeups - before));
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
    /* Without a message the waiter gets the lock when their lease ends. */
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    they_lock(key.name, 300);
    MUST_GIVE(ours, actor_acquire(ours, &key, LB_NEVER), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

/* Two threads of one JVM. */
struct thread {
    struct lb_session *session;
    struct lb_request request;
    struct lb_grant grant;
    char data[512];
    enum lb_outcome acquired, released;
};

static void take_and_free(void *arg) {
    struct thread *thread = arg;
    const struct lb_lock *lock = thread->session->lock;
    thread->acquired = lock->algorithm->acquire(thread->session, &thread->request, &thread->grant);
    if (thread->acquired == LB_OK)
        thread->released =
            lock->algorithm->release(thread->session, &thread->request, &thread->grant);
}

static void run_two(struct actor *client) {
    struct thread *threads = client->arg;
    struct lb_fiber *fibers[2];
    for (uint32_t i = 0; i < 2; i++) {
        threads[i] = (struct thread){.session = &client->session,
                                     .request = client->request,
                                     .acquired = LB_OUTCOMES,
                                     .released = LB_OUTCOMES};
        threads[i].request.client = 40 + i;
        threads[i].request.deadline_ns = trial_soon();
        threads[i].grant.data = threads[i].data;
        fibers[i] = lb_start_fiber("thread", take_and_free, &threads[i]);
    }
    for (int i = 0; i < 2; i++) lb_join(fibers[i]);
}

static void one_subscription(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    struct thread threads[2];
    actor_use_key(ours, &key);
    MUST(trial, ours->session.lock->algorithm->grant_bytes <= sizeof threads[0].data,
         "the grant is larger");
    char channel[200];
    snprintf(channel, sizeof channel, "%s", text_of("redisson_lock__channel:{%s}", key.name));
    they_lock(key.name, 60000);
    /* What comes only once: the scripts, the second connection. */
    MUST_GIVE(ours, actor_acquire(ours, &key, lb_now() + 50 * LB_MS_NS), LB_TIMEOUT);
    MUST_SAY_SOON(trial, "", "PUBSUB CHANNELS");
    MUST(trial, seen(text_of("\"UNSUBSCRIBE\" \"%s\"", channel))[0], "nobody unsubscribed");
    ours->arg = threads;
    uint64_t sent = ours->session.commands;
    actor_begin(ours, run_two);
    MUST_SAY_SOON(trial, text_of("%s 1", channel), "PUBSUB NUMSUB %s", channel);
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST(trial, ours->session.commands == sent + 5,
         "two waiters have sent %d commands, not 4 tries and a SUBSCRIBE",
         (int)(ours->session.commands - sent));
    MUST(trial, strcmp(they_unlock(key.name), "1") == 0, "they can't unlock");
    actor_end(ours);
    MUST(trial, threads[0].acquired == LB_OK && threads[0].released == LB_OK, "the first got %s",
         lb_outcome_name(threads[0].acquired));
    MUST(trial, threads[1].acquired == LB_OK && threads[1].released == LB_OK, "the second got %s",
         lb_outcome_name(threads[1].acquired));
    MUST(trial, seen(text_of("\"UNSUBSCRIBE\" \"%s\"", channel))[0], "nobody unsubscribed");
    MUST(trial, !seen("\"UNSUBSCRIBE\"")[0], "unsubscribed twice");
    MUST_SAY_SOON(trial, "", "KEYS *");
}

static void ours_holds_they_wait(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    ours->request.lease_ns = 60 * LB_S_NS;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    long long left_ms = strtoll(they_lock(key.name, 30000), NULL, 10);
    MUST(trial, left_ms > 50000 && left_ms <= 60000, "they are told to wait %lld ms", left_ms);
    MUST(trial, strcmp(they_unlock(key.name), "(nil)") == 0, "they freed what is ours");
    MUST_HEAR(trial, "%s", "");
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}=0", key.name);
    MUST(trial, strcmp(they_lock(key.name, 30000), "(nil)") == 0, "they can't lock what was freed");
    MUST_GIVE(ours, actor_release(ours), LB_LOST);
    MUST_GIVE(ours, actor_renew(ours, LB_S_NS), LB_LOST);
    MUST_LIE(trial, 20000, 30000, "PTTL %s", key.name);
    /* Another type under the same name is no lock. */
    MUST_SAY(trial, "OK", "SET %s x", key.name);
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_REFUSED);
    MUST(trial, strstr(ours->session.err.text, "WRONGTYPE"), "says '%s'", ours->session.err.text);
}

static void spin_is_silent(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    they_lock(key.name, 60000);
    actor_begin_acquire(ours, &key, trial_soon());
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST(trial, actor_is_busy(ours), "ours does not wait for them");
    MUST_SAY(trial, "", "PUBSUB CHANNELS");
    MUST(trial, strcmp(they_unlock(key.name), "1") == 0, "they can't unlock");
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}=0", key.name); /* theirs */
    MUST_SAY(trial, "hash", "TYPE %s", key.name);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "%s", "");
    MUST_SAY_SOON(trial, "", "KEYS *");
}

static void fenced_token(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial), *other = actor_new(trial);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, ours->grant.token == 1, "the first token is %d", (int)ours->grant.token);
    MUST_HAVE(trial, text_of("%s redisson_lock_token:{%s}", key.name, key.name));
    MUST_SAY(trial, "1", "GET redisson_lock_token:{%s}", key.name);
    MUST_SAY(trial, "-1", "PTTL redisson_lock_token:{%s}", key.name);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    MUST_SAY(trial, "1", "GET redisson_lock_token:{%s}", key.name);
    ours->request.held = 1;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, ours->grant.token == 2, "re-entry gives token %d", (int)ours->grant.token);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    ours->request.held = 0;
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST_HEAR(trial, "redisson_lock__channel:{%s}=0", key.name);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_OK);
    MUST(trial, other->grant.token == 3, "the third token is %d", (int)other->grant.token);
    MUST_GIVE(other, actor_release(other), LB_OK);
    MUST_SAY_SOON(trial, text_of("redisson_lock_token:{%s}", key.name), "KEYS *");
}

/* --- more servers --- */

/* How many clients all nodes together know to be subscribed. */
static int ears_of(struct trial *trial, const char *command, const char *channel) {
    int count = 0;
    for (int i = 0; i < topo_about(trial->place->topo)->nodes; i++) {
        redisContext *node = dial(topo_port(trial->place->topo, i, 0));
        const char *said =
            node && !node->err ? say_on(node, "PUBSUB %s %s", command, channel) : " 0";
        const char *number = strrchr(said, ' ');
        count += number ? atoi(number) : 0;
        redisFree(node);
    }
    return count;
}

static bool await_ears(struct trial *trial, const char *channel, int wanted) {
    int64_t until_ns = trial_soon();
    while (ears_of(trial, "SHARDNUMSUB", channel) != wanted) {
        if (lb_now() >= until_ns) return false;
        trial_sleep_until(lb_now() + LB_MS_NS);
    }
    return true;
}

/* A cluster would tell a plain message to every node. */
static void sharded_channel(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial);
    char channel[200];
    snprintf(channel, sizeof channel, "%s", text_of("redisson_lock__channel:{%s}", key.name));
    holder->request.lease_ns = 600 * LB_S_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, trial_soon());
    MUST(trial, await_ears(trial, channel, 1), "nobody listens to the sharded channel");
    MUST(trial, ears_of(trial, "NUMSUB", channel) == 0, "somebody listens to the plain channel");
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
    MUST(trial, await_ears(trial, channel, 0), "somebody still listens");
}

#define MUST_DO(trial, node, ...)                                                                  \
    do {                                                                                           \
        const char *said_ = say_on((node), __VA_ARGS__);                                           \
        MUST((trial), strcmp(said_, "OK") == 0, "line %d: the server said '%s'", __LINE__, said_); \
    } while (0)

/* When a slot moves to another node, the old node drops its channels' subscribers: a waiter would
 * hear nothing any more, and must notice that. */
static void slot_moves(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial);
    const char *channel = text_of("redisson_lock__channel:{%s}", key.name);
    holder->request.lease_ns = 600 * LB_S_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, trial_soon());
    MUST(trial, await_ears(trial, channel, 1), "nobody listens to the sharded channel");
    trial_sleep_until(lb_now() + 50 * LB_MS_NS); /* it asks once more */
    int slot = atoi(SAY("CLUSTER KEYSLOT %s", key.name));
    int from = slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2, to = (from + 1) % 3;
    int to_port = topo_port(trial->place->topo, to, 0);
    redisContext *source = dial(topo_port(trial->place->topo, from, 0)), *target = dial(to_port);
    MUST(trial, source && !source->err && target && !target->err, "no connections by hand");
    const char *source_id = text_of("%s", say_on(source, "CLUSTER MYID"));
    const char *target_id = text_of("%s", say_on(target, "CLUSTER MYID"));
    MUST_DO(trial, target, "CLUSTER SETSLOT %d IMPORTING %s", slot, source_id);
    MUST_DO(trial, source, "CLUSTER SETSLOT %d MIGRATING %s", slot, target_id);
    MUST_DO(trial, source, "MIGRATE 127.0.0.1 %d %s 0 5000 AUTH %s", to_port, key.name,
            getenv("REDISCLI_AUTH"));
    MUST_DO(trial, target, "CLUSTER SETSLOT %d NODE %s", slot, target_id);
    MUST_DO(trial, source, "CLUSTER SETSLOT %d NODE %s", slot, target_id);
    redisFree(source);
    redisFree(target);
    MUST_GIVE(waiter, actor_end(waiter), LB_BROKEN);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
}

/* An acquire that no replica acknowledges is no acquire. */
static void not_synced(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, seen("\"WAIT\" \"2\" \"1000\"")[0], "no WAIT came along");
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    int replicas = topo_about(trial->place->topo)->nodes - 1;
    for (int i = 1; i <= replicas; i++)
        MUST(trial, topo_signal(trial->place->topo, i, SIGSTOP) == 0, "replica %d can't be stopped",
             i);
    enum lb_outcome outcome = actor_acquire(ours, &key, TRIAL_TRY);
    for (int i = 1; i <= replicas; i++) topo_signal(trial->place->topo, i, SIGCONT);
    MUST_GIVE(ours, outcome, LB_BROKEN);
    MUST(trial, strstr(ours->session.err.text, "no replica"), "says '%s'", ours->session.err.text);
    MUST_SAY(trial, "0", "EXISTS %s", key.name);
}

REDISSON_TEST(RLock_what_is_on_the_server, "redis-reentrant", rlock_state)
REDISSON_TEST(RLock_the_latch_of_an_unlock, "redis-reentrant", unlock_latch)
REDISSON_TEST(RLock_they_hold_ours_waits, "redis-reentrant", they_hold_ours_waits)
REDISSON_TEST(RLock_one_subscription_for_a_session, "redis-reentrant", one_subscription)
REDISSON_TEST(RLock_ours_holds_they_wait, "redis-reentrant", ours_holds_they_wait)
REDISSON_TEST(RFencedLock_they_hold_ours_waits, "redis-fenced", they_hold_ours_waits)
REDISSON_TEST(RFencedLock_the_token, "redis-fenced", fenced_token)
REDISSON_TEST(RSpinLock_nothing_is_published, "redis-spin", spin_is_silent)
REDISSON_TEST(MultiLock_of_one_they_hold_ours_waits, "redis-multi", they_hold_ours_waits)
REDISSON_TEST_ON("redis-cluster", RLock_a_sharded_channel, "redis-reentrant", sharded_channel)
REDISSON_TEST_ON("redis-cluster", RLock_the_slot_moves, "redis-reentrant", slot_moves)
REDISSON_TEST_ON("redis-replicas", RLock_no_replica_acknowledges, "redis-reentrant", not_synced)

TEST_MAIN(NULL, NULL)
