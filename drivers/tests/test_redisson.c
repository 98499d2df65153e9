/* test_redisson: what stories/redisson.story can't tell of Redisson's locks: threads of one session, waits that are over at once
 * or cut off, clusters and replicas.
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

/* --- RFairLock --- */

static const char *queue_of(const struct trial_key *key) {
    return text_of("redisson_lock_queue:{%s}", key->name);
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

REDISSON_TEST(RLock_one_subscription_for_a_session, "redis-reentrant", one_subscription)
REDISSON_TEST(RFairLock_giving_up_at_once, "redis-fair", fair_gives_up_at_once)
REDISSON_TEST(RFairLock_cut_off, "redis-fair", fair_cut_off)
REDISSON_TEST_ON("redis-cluster", RLock_a_sharded_channel, "redis-reentrant", sharded_channel)
REDISSON_TEST_ON("redis-cluster", RLock_the_slot_moves, "redis-reentrant", slot_moves)
REDISSON_TEST_ON("redis-replicas", RLock_no_replica_acknowledges, "redis-reentrant", not_synced)

TEST_MAIN(NULL, NULL)
