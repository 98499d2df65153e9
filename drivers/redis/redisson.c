/* redisson: see redisson.h. */
#include "drivers/redis/redisson.h"

#include <stdio.h>
#include <string.h>

#include "drivers/injected.h"
#include "drivers/key_names.h"
#include "drivers/wait.h"

/* Redisson's default of the longest wait for the confirmation of a subscription. */
#define SUBSCRIBE_NS (7500 * LB_MS_NS)
/* Redisson's slavesSyncTimeout. */
#define SYNC_MS "1000"
/* The time to live of an unlock's latch, which ends so if it is not deleted. Redisson computes it: (3 s timeout + 1 to
 * 2 s delay) * 4 attempts; here the middle, 18 s. */
#define LATCH_MS "18000"
#define NEVER_MS "922337203685477"

void redisson_holder(struct lb_session *session, const struct lb_request *request,
                     struct lb_grant *grant) {
    struct redisson_session *state = session->lock_state;
    struct redisson_grant *mine = grant->data;
    if (!state->uuid[0]) lb_random_uuid(&session->rng, state->uuid);
    snprintf(mine->holder, sizeof mine->holder, "%s:%u", state->uuid, request->client + 1);
}

/* --- the values of a call --- */

/* Writes the name that a letter stands for. Returns its length; 0 = it stands for none. */
static size_t write_name(struct lb_session *session, const struct lb_request *request,
                         const struct redisson_grant *mine, char letter,
                         char out[REDISSON_NAME_MAX]) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    char after[REDISSON_HOLDER_MAX + 20] = "";
    const char *before = "";
    switch (letter) {
    case 'A':
    case 'B':
        before = recipe->keys[letter - 'A'];
        break;
    case 'c':
        before = recipe->channel;
        break;
    case 'T':
        before = recipe->counter;
        break;
    case 'r':
        snprintf(after, sizeof after, ":%s:rwlock_timeout", mine->holder);
        break;
    case 's':
        snprintf(after, sizeof after, ":timeout");
        break;
    case 'u':
        before = REDISSON_LATCHES;
        after[0] = ':';
        lb_random_hex(&session->rng, after + 1, 16);
        break;
    default:
        return 0;
    }
    return redis_tagged(out, REDISSON_NAME_MAX, before, request->key, request->key_len, after);
}

/* The same for a number. now_ms: the client's wall clock, by which some of these locks order their waiters and end their
 * leases. */
static size_t write_number(const struct lb_request *request, const struct redisson_grant *mine,
                           char letter, long long now_ms, char out[REDIS_DECIMAL_BYTES]) {
    switch (letter) {
    case 'l':
        redis_lease_ms(request->lease_ns, out);
        return strlen(out);
    case 'n':
        return redis_decimal((uint64_t)now_ms, out);
    case 'e': /* rounded up, so that no grant outlasts its permit */
        now_ms += 1 + (request->lease_ns + LB_MS_NS - 1) / LB_MS_NS;
        return redis_decimal((uint64_t)now_ms, out);
    case 'W':
        return redis_decimal((uint64_t)mine->wait_ms, out);
    case 'p':
        return redis_decimal(mine->permits, out);
    case 'b':
        return redis_decimal(request->bound, out);
    default:
        return 0;
    }
}

/* The same for a text that need not be written. */
static const char *constant_of(const struct lb_session *session, const struct lb_request *request,
                               const struct redisson_grant *mine, char letter) {
    switch (letter) {
    case 'k':
        return request->key;
    case 'h':
        return mine->holder;
    case 'P':
        return redis_is_cluster(session) ? "SPUBLISH" : "PUBLISH";
    case 'L':
        return LATCH_MS;
    case 'N':
        return NEVER_MS;
    case '0':
        return "0";
    default:
        return "1";
    }
}

static size_t list_ids(const struct redisson_grant *mine, char *out) {
    for (uint32_t i = 0; i < mine->permits; i++) {
        memcpy(out + i * REDISSON_ID_BYTES, mine->id, REDISSON_ID_BYTES);
        out[(i + 1) * REDISSON_ID_BYTES - 1] = (char)(mine->id[REDISSON_ID_BYTES - 1] ^ i);
    }
    return mine->permits * REDISSON_ID_BYTES;
}

void redisson_fill(struct lb_session *session, const struct lb_request *request,
                   const struct lb_grant *grant, const struct redisson_call *call,
                   struct redisson_words *words) {
    const struct redisson_grant *mine = grant ? grant->data : NULL;
    bool timed = strpbrk(call->values, "ne");
    long long now_ms = timed ? lb_client_wall_now(session) / LB_MS_NS : 0;
    int count = 0, keys = 0;
    words->latch = NULL;
    words->used = 0;
    for (const char *letter = call->values; *letter; letter++) {
        char *out = words->text + words->used;
        size_t len = 0;
        if (*letter == ' ') {
            keys = count;
            continue;
        }
        if (*letter == 'i')
            len = list_ids(mine, out);
        else if (*letter == 'w')
            len = (size_t)snprintf(out, REDISSON_NAME_MAX, "%s:write", mine->holder);
        if (len == 0) len = write_name(session, request, mine, *letter, out);
        if (len == 0) len = write_number(request, mine, *letter, now_ms, out);
        words->word[count].text = len ? out : constant_of(session, request, mine, *letter);
        words->word[count++].len = len;
        if (*letter == 'u') words->latch = out;
        words->used += len + (len > 0);
    }
    words->command = (struct redis_command){call->script, words->word, count, keys};
}

static enum lb_outcome run_words(struct lb_session *session, const struct redisson_words *words,
                                 const struct redis_reply **ret_reply) {
    const struct redis_command *command = &words->command;
    return redis_run(session, command->script, command->keys, command->words, command->count,
                     ret_reply);
}

enum lb_outcome redisson_run(struct lb_session *session, const struct lb_request *request,
                             const struct lb_grant *grant, const struct redisson_call *call,
                             const struct redis_reply **ret_reply) {
    struct redisson_words words;
    redisson_fill(session, request, grant, call, &words);
    return run_words(session, &words, ret_reply);
}

enum lb_outcome redisson_ask(struct lb_session *session, const struct lb_request *request,
                             const struct lb_grant *grant, const struct redisson_call *call,
                             long long *ret_number) {
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redisson_run(session, request, grant, call, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_number = reply->value.integer;
    return LB_OK;
}

/* --- trying and waiting --- */

/* The number of the node's replicas; asks each node once in a session. */
static enum lb_outcome replicas_of(struct lb_session *session, struct redis_node *node,
                                   int *ret_count) {
    struct redisson_session *state = session->lock_state;
    for (int i = 0; i < REDIS_NODES_MAX; i++) {
        struct redisson_replicas *known = &state->replicas[i];
        if (known->node && known->node != node) continue;
        if (!known->node) {
            int count = 0;
            enum lb_outcome outcome = redis_replicas(session, node, &count);
            if (outcome != LB_OK) return outcome == LB_UNKNOWN ? LB_BROKEN : outcome;
            *known = (struct redisson_replicas){node, count};
        }
        *ret_count = known->count;
        return LB_OK;
    }
    *ret_count = 0;
    return LB_OK;
}

/* One attempt. */
struct attempt {
    struct lb_session *session;
    const struct lb_request *request;
    struct lb_grant *grant;
    bool second;
};

/* As redisson_run for an acquire; sends WAIT after it if the node has replicas and the option check_synced is on.
 * *ret_synced is false if no replica has acknowledged the script's writes. */
static enum lb_outcome run_synced(const struct attempt *one, const struct redis_reply **ret_reply,
                                  bool *ret_synced) {
    struct lb_session *session = one->session;
    const struct redisson_recipe *recipe = session->lock->recipe;
    const struct redisson_options *options = session->options;
    enum lb_outcome outcome = LB_OK;
    struct redis_node *node = NULL;
    int replicas = 0;
    *ret_synced = true;
    if (options->check_synced && redis_may_have_replicas(session)) {
        outcome = redis_node_of(session, one->request->key, one->request->key_len, &node);
        if (outcome == LB_OK) outcome = replicas_of(session, node, &replicas);
        if (outcome != LB_OK) return outcome;
    }
    struct redisson_words words;
    char wanted[REDIS_DECIMAL_BYTES];
    redisson_fill(session, one->request, one->grant, &recipe->take[one->second], &words);
    if (replicas == 0) return run_words(session, &words, ret_reply);
    redis_decimal((uint64_t)replicas, wanted);
    const struct redis_word wait[] = {{"WAIT", 4}, {wanted, 0}, {SYNC_MS, 0}};
    const struct redis_command commands[] = {words.command, {.words = wait, .count = 3}};
    const struct redis_reply *replies = NULL;
    outcome = redis_pipe(session, NULL, commands, 2, &replies);
    if (outcome != LB_OK) return outcome;
    if (replies[0].value.type == REDIS_ERROR) return redis_refuse(session, &replies[0]);
    /* One acknowledgement is enough for Redisson, although its documentation says otherwise. */
    *ret_synced = replies[1].value.type != REDIS_INTEGER || replies[1].value.integer > 0;
    *ret_reply = &replies[0];
    return LB_OK;
}

/* Nil: taken; a number: held by another, for so many ms; below 0: without an end. */
static enum lb_outcome read_held(struct lb_session *session, const struct redis_reply *reply,
                                 uint64_t *ret_token, int64_t *ret_left_ns) {
    (void)ret_token;
    if (reply->value.type == REDIS_NIL) return LB_OK;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_left_ns = reply->value.integer < 0 ? LB_NEVER : lb_of_ms(reply->value.integer);
    return LB_BUSY;
}

/* Tries once. What no replica has acknowledged is released: LB_BROKEN, or the outcome of a release that failed. */
static enum lb_outcome try_once(const struct attempt *one, int64_t *ret_left_ns) {
    struct lb_session *session = one->session;
    const struct lb_lock *lock = session->lock;
    const struct redisson_recipe *recipe = lock->recipe;
    const struct redis_reply *reply = NULL;
    bool synced = true;
    uint64_t token = 0;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = run_synced(one, &reply, &synced);
    if (outcome == LB_OK)
        outcome = (recipe->read ? recipe->read : read_held)(session, reply, &token, ret_left_ns);
    if (outcome != LB_OK) return outcome;
    bool ends = lock->caps & LB_CAP_LEASE;
    if (synced)
        return lb_granted(one->grant, token, ends ? sent_ns + one->request->lease_ns : LB_NEVER);
    enum lb_outcome released = lock->algorithm->release(session, one->request, one->grant);
    if (released != LB_OK && released != LB_LOST) return released;
    return lb_fail(session, LB_BROKEN,
                   "redis: no replica acknowledged the lock, so it was given back");
}

static int for_one(const char *message, int waiters) {
    (void)message;
    (void)waiters;
    return 1;
}

static void end_subscriptions(struct lb_session *session) {
    struct redisson_session *state = session->lock_state;
    pubsub_end(&state->pubsub);
}

static bool over(const struct attempt *one) {
    return lb_stopping() || lb_now() >= one->request->deadline_ns;
}

/* The part of the wait that begins when the subscription is confirmed. */
static enum lb_outcome wait_and_try(const struct attempt *one, struct pubsub_wait *wait) {
    for (;;) {
        int64_t left_ns = LB_NEVER;
        /* The lock may have been freed before the subscription was confirmed. Then no message comes, so the
         * client asks again here. */
        enum lb_outcome outcome = try_once(one, &left_ns);
        if (outcome != LB_BUSY) return outcome;
        if (over(one)) return LB_TIMEOUT;
        int64_t until_ns = lb_after(lb_now(), left_ns);
        if (until_ns > one->request->deadline_ns) until_ns = one->request->deadline_ns;
        outcome = pubsub_wait(wait, until_ns);
        if (outcome != LB_OK && outcome != LB_TIMEOUT) return outcome;
        one->session->wakeups++;
        if (over(one)) return LB_TIMEOUT;
    }
}

enum lb_outcome redisson_await(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant, bool second, const char *after) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    const struct attempt one = {session, request, grant, second};
    struct redisson_session *state = session->lock_state;
    char channel[REDISSON_NAME_MAX];
    int64_t left_ns = LB_NEVER;
    bool once = request->deadline_ns <= lb_now();
    enum lb_outcome outcome = try_once(&one, &left_ns);
    if (outcome != LB_BUSY || once) return outcome;
    if (over(&one)) return LB_TIMEOUT;
    struct redis_node *node = NULL;
    outcome = redis_node_of(session, request->key, request->key_len, &node);
    if (outcome != LB_OK) return outcome;
    int64_t latest_ns = lb_after(lb_now(), SUBSCRIBE_NS);
    if (latest_ns > request->deadline_ns) latest_ns = request->deadline_ns;
    redis_tagged(channel, sizeof channel, recipe->channel, request->key, request->key_len, after);
    redis_at_end(session, end_subscriptions);
    struct pubsub_wait wait;
    outcome = pubsub_join(session, &state->pubsub, node, channel,
                          recipe->count ? recipe->count : for_one, latest_ns, &wait);
    if (outcome == LB_TIMEOUT && !over(&one))
        return lb_fail(session, LB_BROKEN, "redis: the subscription was not confirmed in time");
    if (outcome != LB_OK) return outcome;
    outcome = wait_and_try(&one, &wait);
    pubsub_leave(&wait);
    return outcome;
}

enum lb_outcome redisson_acquire(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    redisson_holder(session, request, grant);
    return redisson_await(session, request, grant, request->shared, "");
}

enum lb_outcome redisson_renew(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    const struct redisson_grant *mine = grant->data;
    long long renewed = 0;
    int64_t sent_ns = lb_now();
    if (!mine->holder[0] && mine->permits == 0) return LB_LOST;
    enum lb_outcome outcome =
        redisson_ask(session, request, grant, &recipe->extend[request->shared], &renewed);
    if (outcome != LB_OK) return outcome;
    if (renewed != (mine->permits ? mine->permits : 1)) return LB_LOST;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

/* --- unlocking --- */

/* Deletes the latch without waiting for the answer. The real client can repeat an unlock thanks to it. */
static void drop_latch(struct lb_session *session, const struct lb_request *request,
                       const char *latch) {
    const struct redis_word words[] = {{"DEL", 3}, {latch, 0}};
    struct redis_node *node = NULL;
    struct lb_err before = session->err;
    if (redis_node_of(session, request->key, request->key_len, &node) == LB_OK)
        redis_post(session, node, &(struct redis_command){.words = words, .count = 2});
    session->err = before; /* no failure of the unlock: the key expires */
}

/* Unlocks once. LB_OK: *ret_held tells whether the holder still holds the lock, since it took the lock more than once.
 * LB_LOST: the holder did not hold the lock. */
static enum lb_outcome unlock_once(struct lb_session *session, const struct lb_request *request,
                                   const struct lb_grant *grant, bool *ret_held) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    const struct redisson_grant *mine = grant->data;
    const struct redis_reply *reply = NULL;
    struct redisson_words words;
    if (!mine->holder[0]) return LB_LOST;
    redisson_fill(session, request, grant, &recipe->unlock[request->shared], &words);
    enum lb_outcome outcome = run_words(session, &words, &reply);
    if (outcome != LB_OK) return outcome;
    struct redis_value answer = reply->value;
    if (answer.type != REDIS_NIL && answer.type != REDIS_INTEGER)
        return redis_refuse(session, reply);
    if (words.latch) drop_latch(session, request, words.latch);
    /* Nil is the real scripts' answer for a lock that the holder did not hold. The scripts of the
     * fair lock and of the read-write lock report success when the lock was already gone; ours
     * answer 2 then. */
    if (answer.type == REDIS_NIL || answer.integer == 2) return LB_LOST;
    *ret_held = answer.integer == 0;
    return LB_OK;
}

enum lb_outcome redisson_release(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    bool held = false;
    return unlock_once(session, request, grant, &held);
}

enum lb_outcome redisson_settle(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    enum lb_outcome outcome;
    bool held = true;
    do outcome = unlock_once(session, request, grant, &held);
    while (outcome == LB_OK && held);
    return outcome == LB_LOST ? LB_OK : outcome;
}

/* --- names, leftovers --- */

int redisson_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                     struct lb_err *err) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    const char *brace = strchr(prefix, '{') ? "" : "{";
    char before[64];
    if (redis_count_keys(session, "", prefix, residue, err) != 0) return -1;
    for (const char *const *key = recipe->keys; *key; key++) {
        snprintf(before, sizeof before, "%s%s", *key, brace);
        if (before[0] && redis_count_keys(session, before, prefix, residue, err) != 0) return -1;
    }
    snprintf(before, sizeof before, "%s%s", recipe->channel, brace);
    return redis_count_channels(session, before, prefix, residue, err);
}

static void add_name(struct lb_names *names, const char *what, const struct lb_request *request,
                     const char *before) {
    char name[REDISSON_NAME_MAX];
    redis_tagged(name, sizeof name, before, request->key, request->key_len, "");
    lb_names_add(names, what, "%s", name);
}

void redisson_names(const struct lb_session *session, const struct lb_request *request,
                    struct lb_names *names) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    lb_names_add(names, "key", "%s", request->key);
    for (const char *const *key = recipe->keys; *key; key++)
        add_name(names, "keys that begin with", request, *key);
    if (recipe->counter) add_name(names, "counter of the tokens", request, recipe->counter);
    add_name(names, "channel", request, recipe->channel);
}

const struct lb_option redisson_options[] = {REDISSON_OPTIONS, {0}};
