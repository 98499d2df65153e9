/* redis-multi: Redisson's RedissonMultiLock: one RLock for each key on each server. Every client takes the
 * locks one after the other, in the same order, and holds all or none: if one lock can't be taken, the client
 * frees all and begins again.
 *
 * The client first takes each lock for twice the time that the attempt may last. When it has all locks, it
 * sets their lease by PEXPIRE, which does not check the holder, as in the real one. If a lock has expired by
 * then, the real one continues; this one frees all locks and begins again. A grant needs every server, so no
 * client gets the lock while one server is down. The real one frees all locks at once; this one frees them
 * one after the other. */
#include "drivers/redis/redisson.h"

#include "drivers/wait.h"

/* One of the locks; there are `key_count` for each server. */
struct part {
    struct redis_node *node; /* NULL: the node that serves the key */
    struct lb_request request;
};

static int servers_of(const struct lb_session *session) {
    return redis_is_cluster(session) ? 1 : redis_node_count(session);
}

static int keys_of(const struct lb_request *request) {
    return request->keys ? request->key_count : 1;
}

static int parts_of(const struct lb_session *session, const struct lb_request *request) {
    return servers_of(session) * keys_of(request);
}

/* The i-th lock: all keys on the first server come first, then those on the second server, and so on. */
static struct part part_of(struct lb_session *session, const struct lb_request *request,
                           int index) {
    int keys = keys_of(request);
    struct part part = {.request = *request};
    if (servers_of(session) > 1) part.node = redis_node_at(session, index / keys);
    if (request->keys) {
        const struct lb_key *key = &request->keys[index % keys];
        part.request.key = key->name;
        part.request.key_len = key->len;
    }
    return part;
}

/* Of two failures, returns the one after which less is known. */
static enum lb_outcome worse(enum lb_outcome one, enum lb_outcome other) {
    static const enum lb_outcome order[] = {LB_UNKNOWN, LB_BROKEN, LB_REFUSED, LB_LOST};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (one == order[i] || other == order[i]) return order[i];
    }
    return one;
}

/* Frees the first `count`. LB_LOST if one of them was not ours. */
static enum lb_outcome free_parts(struct lb_session *session, const struct lb_request *request,
                                  const char *holder, int count, bool all_holds) {
    enum lb_outcome result = LB_OK;
    for (int i = 0; i < count; i++) {
        struct part part = part_of(session, request, i);
        enum lb_outcome outcome;
        bool held = false;
        do outcome = rlock_unlock_by(session, part.node, &part.request, holder, true, &held);
        while (all_holds && outcome == LB_OK && held);
        result = worse(result, outcome);
    }
    return result;
}

/* Sends one command to all servers and returns the worst outcome; `done` judges the answer of
 * each. */
static enum lb_outcome on_all(struct lb_session *session, const struct redis_command *command,
                              enum lb_outcome (*done)(const struct redis_value *answer)) {
    struct redis_answer answers[REDIS_NODES_MAX];
    int count = redis_all(session, command, REDISSON_ANSWER_NS, answers);
    enum lb_outcome result = LB_OK;
    for (int i = 0; i < count; i++) {
        enum lb_outcome outcome = answers[i].outcome;
        if (outcome == LB_OK && answers[i].reply->value.type == REDIS_ERROR)
            outcome = redis_refuse(session, answers[i].reply);
        else if (outcome == LB_OK)
            outcome = done(&answers[i].reply->value);
        result = worse(result, outcome);
    }
    return result;
}

static enum lb_outcome if_not_nil(const struct redis_value *answer) {
    return answer->type == REDIS_NIL ? LB_LOST : LB_OK;
}

static enum lb_outcome if_one(const struct redis_value *answer) {
    return answer->integer == 1 ? LB_OK : LB_LOST;
}

/* Sets the lease of all locks. LB_LOST: a lock did not exist any more. */
static enum lb_outcome lease_all(struct lb_session *session, const struct lb_request *request) {
    char lease[24];
    redis_lease_ms(request->lease_ns, lease);
    enum lb_outcome result = LB_OK;
    for (int k = 0; k < keys_of(request); k++) {
        struct part part = part_of(session, request, k);
        const struct redis_word words[] = {
            {"PEXPIRE", 7}, {part.request.key, part.request.key_len}, {lease, 0}};
        const struct redis_command command = {.words = words, .count = 3};
        const struct redis_reply *reply = NULL;
        enum lb_outcome outcome;
        if (servers_of(session) > 1) {
            outcome = on_all(session, &command, if_one);
        } else {
            outcome = redisson_run(session, NULL, NULL, 0, words, 3, &reply);
            if (outcome == LB_OK) outcome = if_one(&reply->value);
        }
        result = worse(result, outcome);
    }
    return result;
}

/* Frees all locks. LB_LOST: one of them was not ours. */
static enum lb_outcome free_all(struct lb_session *session, const struct lb_request *request,
                                const char *holder) {
    enum lb_outcome result = LB_OK;
    if (servers_of(session) == 1)
        return free_parts(session, request, holder, parts_of(session, request), false);
    if (!holder[0]) return LB_LOST;
    for (int k = 0; k < keys_of(request); k++) {
        struct part part = part_of(session, request, k);
        struct rlock_unlocking one;
        rlock_prepare_unlock(session, &part.request, holder, &one);
        result = worse(result, on_all(session, &one.command, if_not_nil));
        for (int i = 0; i < servers_of(session); i++)
            redisson_drop_latch(session, redis_node_at(session, i), one.latch);
    }
    return result;
}

/* Redisson's tryLock: takes all locks by a deadline (in the past: asks each once), each for lease_ns at first. */
static enum lb_outcome take_parts(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant, int64_t deadline_ns, int64_t lease_ns) {
    const struct rlock_grant *mine = grant->data;
    bool once = deadline_ns <= lb_now();
    for (int i = 0; i < parts_of(session, request); i++) {
        struct part part = part_of(session, request, i);
        char channel[REDISSON_NAME_MAX];
        struct lb_grant unused = {.data = grant->data};
        part.request.deadline_ns = once ? 0 : deadline_ns;
        part.request.lease_ns = lease_ns;
        rlock_channel(&part.request, channel);
        enum lb_outcome outcome = redisson_await(&(struct redisson_try){.session = session,
                                                                        .request = &part.request,
                                                                        .grant = &unused,
                                                                        .node = part.node,
                                                                        .ask = rlock_ask,
                                                                        .channel = channel});
        if (outcome == LB_OK) continue;
        /* the deadline has passed between two locks */
        if (outcome == LB_BUSY && !once) outcome = LB_TIMEOUT;
        /* If a lock's outcome is unknown, settle frees it together with the others. */
        enum lb_outcome freed = free_parts(session, request, mine->holder, i, false);
        return freed == LB_OK || freed == LB_LOST ? outcome : LB_UNKNOWN;
    }
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = lease_all(session, request);
    if (outcome != LB_OK) {
        enum lb_outcome freed =
            free_parts(session, request, mine->holder, parts_of(session, request), false);
        if (outcome != LB_LOST || (freed != LB_OK && freed != LB_LOST)) return LB_UNKNOWN;
        return once ? LB_BUSY : LB_TIMEOUT;
    }
    grant->token = 0;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

/* How long lock(), which has no deadline, tries before it frees all and begins again. */
static int64_t round_ns(struct lb_session *session, int parts, int64_t lease_ns) {
    int64_t base_ns = parts * 1500 * LB_MS_NS;
    if (lease_ns <= 2 * LB_S_NS) return 2 * LB_S_NS;
    int64_t least_ns = lease_ns <= base_ns ? lease_ns / 2 : base_ns;
    return least_ns + (int64_t)rng_below(&session->rng, (uint64_t)(lease_ns - least_ns));
}

/* Refuses a session that lacks a server, because a grant needs all servers. */
static int multi_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct redis_word words[] = {{"PING", 4}};
    const struct redis_command command = {.words = words, .count = 1};
    struct redis_answer answers[REDIS_NODES_MAX];
    if (servers_of(session) == 1) return 0;
    int count = redis_all(session, &command, deadline_ns - lb_now(), answers);
    for (int i = 0; i < count; i++) {
        if (answers[i].outcome == LB_OK) continue;
        return err_set(err, LB_EXIT_MACHINE, "redis: server %d of %d does not answer", i + 1,
                       count);
    }
    return 0;
}

static enum lb_outcome multi_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct rlock_grant *mine = grant->data;
    redisson_holder(session, request, "", mine->holder);
    int64_t now_ns = lb_now();
    if (request->deadline_ns <= now_ns)
        return take_parts(session, request, grant, 0, request->lease_ns);
    if (request->deadline_ns != LB_NEVER) {
        int64_t wait_ns = request->deadline_ns - now_ns;
        for (;;) {
            enum lb_outcome outcome =
                take_parts(session, request, grant, request->deadline_ns, 2 * wait_ns);
            if (outcome != LB_TIMEOUT || lb_now() >= request->deadline_ns || lb_stopping())
                return outcome;
        }
    }
    for (;;) {
        int64_t wait_ns = round_ns(session, parts_of(session, request), request->lease_ns);
        enum lb_outcome outcome =
            take_parts(session, request, grant, lb_now() + wait_ns, 2 * wait_ns);
        if (outcome != LB_TIMEOUT || lb_stopping()) return outcome;
    }
}

static enum lb_outcome multi_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    const struct rlock_grant *mine = grant->data;
    return free_all(session, request, mine->holder);
}

static enum lb_outcome multi_renew(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    const struct rlock_grant *mine = grant->data;
    enum lb_outcome result = LB_OK;
    int64_t sent_ns = lb_now();
    for (int i = 0; i < parts_of(session, request); i++) {
        struct part part = part_of(session, request, i);
        result = worse(result, rlock_extend(session, part.node, &part.request, mine->holder));
    }
    if (result == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return result;
}

static enum lb_outcome multi_settle(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct rlock_grant *mine = grant->data;
    enum lb_outcome outcome =
        free_parts(session, request, mine->holder, parts_of(session, request), true);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static const char *const multi_topologies[] = {
    "redis-independents", "redis", "redis-replicas", "redis-sentinel", "redis-cluster", NULL};

static const struct redisson_recipe recipe = {.keys = rlock_keys, .channels = rlock_channels};

static const struct lb_algorithm algorithm = {
    REDISSON_MEMBERS,         .grant_bytes = sizeof(struct rlock_grant),
    .prepare = multi_prepare, .acquire = multi_acquire,
    .release = multi_release, .renew = multi_renew,
    .settle = multi_settle,
};

const struct lb_lock lock_redis_multi = {
    .name = "redis-multi",
    .summary = "Redisson's MultiLock: an RLock for each key on each server, all or none",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_MULTI | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of the channel of the first key that is held, at most until its lease "
             "ends",
    .topologies = multi_topologies,
    .about =
        {REDISSON_ABOUT("RedissonMultiLock", 10, 10), .order = "none",
         .hazards =
             "every server is needed: one that is down stops all clients; two clients that take "
             "the same locks in different orders may block each other until their time is over",
         .crash = LB_CRASH_LEASE},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
