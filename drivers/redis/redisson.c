/* redisson: names, holders, scripts. See redisson.h. */
#include "drivers/redis/redisson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/injected.h"
#include "drivers/key_names.h"
#include "drivers/wait.h"

void redisson_holder(struct lb_session *session, const struct lb_request *request, const char *more,
                     char out[REDISSON_HOLDER_MAX]) {
    struct redisson_session *state = session->lock_state;
    if (!state->uuid[0]) lb_random_uuid(&session->rng, state->uuid);
    snprintf(out, REDISSON_HOLDER_MAX, "%s:%u%s", state->uuid, request->client + 1, more);
}

void redisson_name(const struct lb_request *request, const char *before, const char *after,
                   char out[REDISSON_NAME_MAX]) {
    redis_tagged(out, REDISSON_NAME_MAX, before, request->key, request->key_len, after);
}

struct redisson_number redisson_number(long long value) {
    struct redisson_number number;
    snprintf(number.text, sizeof number.text, "%lld", value);
    return number;
}

long long redisson_now_ms(const struct lb_session *session) {
    return lb_client_wall_now(session) / LB_MS_NS;
}

const char *redisson_publish(const struct lb_session *session) {
    return redis_is_cluster(session) ? "SPUBLISH" : "PUBLISH";
}

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

enum lb_outcome redisson_run_synced(struct lb_session *session, const struct redis_script *script,
                                    int keys, const struct redis_word *words, int count,
                                    const struct redis_reply **ret_reply, bool *ret_synced) {
    const struct redisson_options *options = session->options;
    enum lb_outcome outcome = LB_OK;
    struct redis_node *node = NULL;
    int replicas = 0;
    *ret_synced = true;
    if (options->check_synced && redis_may_have_replicas(session)) {
        outcome = redis_node_of(session, words[0].text, words[0].len, &node);
        if (outcome == LB_OK) outcome = replicas_of(session, node, &replicas);
        if (outcome != LB_OK) return outcome;
    }
    if (replicas == 0) return redis_run(session, script, keys, words, count, ret_reply);
    struct redisson_number wanted = redisson_number(replicas);
    const struct redis_word wait[] = {{"WAIT", 4}, {wanted.text, 0}, {REDISSON_SYNC_MS, 0}};
    const struct redis_command commands[] = {{script, words, count, keys},
                                             {.words = wait, .count = 3}};
    const struct redis_reply *replies = NULL;
    outcome = redis_pipe(session, NULL, commands, 2, &replies);
    if (outcome != LB_OK) return outcome;
    if (replies[0].value.type == REDIS_ERROR) return redis_refuse(session, &replies[0]);
    /* One acknowledgement is enough for Redisson, although its documentation says otherwise. */
    *ret_synced = replies[1].value.type != REDIS_INTEGER || replies[1].value.integer > 0;
    *ret_reply = &replies[0];
    return LB_OK;
}

enum lb_outcome redisson_taken(struct redisson_try *one, bool synced, uint64_t token,
                               int64_t lease_end_ns) {
    struct lb_session *session = one->session;
    if (synced) return lb_granted(one->grant, token, lease_end_ns);
    enum lb_outcome released = session->lock->algorithm->release(session, one->request, one->grant);
    if (released != LB_OK && released != LB_LOST) return released;
    return lb_fail(session, LB_BROKEN,
                   "redis: no replica acknowledged the lock, so it was given back");
}

/* Copies the text before the prefix; leaves out the text's brace if the prefix itself contains one. */
static void before_of(const char *text, const char *prefix, char *out, size_t size) {
    size_t len = strlen(text);
    if (len > 0 && text[len - 1] == '{' && strchr(prefix, '{')) len--;
    snprintf(out, size, "%.*s", (int)len, text);
}

int redisson_residue(struct lb_session *session, const char *prefix, struct lb_residue *ret_residue,
                     struct lb_err *err) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    struct lb_residue residue = {0};
    char before[64];
    for (const char *const *key = recipe->keys; *key; key++) {
        before_of(*key, prefix, before, sizeof before);
        /* "{" alone is then the name itself, which is counted already. */
        if (**key && !before[0]) continue;
        if (redis_count_keys(session, before, prefix, &residue, err) != 0) return -1;
    }
    for (const char *const *channel = recipe->channels; *channel; channel++) {
        before_of(*channel, prefix, before, sizeof before);
        if (redis_count_channels(session, before, prefix, &residue, err) != 0) return -1;
    }
    *ret_residue = residue;
    return 0;
}

void redisson_names(const struct lb_session *session, const struct lb_request *request,
                    struct lb_names *names) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    char before[64], name[REDISSON_NAME_MAX];
    lb_names_add(names, "key", "%s", request->key);
    for (const char *const *key = recipe->keys; *key; key++) {
        if (!**key) continue; /* the name itself */
        before_of(*key, "{", before, sizeof before);
        redisson_name(request, before, "", name);
        lb_names_add(names, "keys that begin with", "%s", name);
    }
    if (recipe->counter) {
        redisson_name(request, recipe->counter, "", name);
        lb_names_add(names, "counter of the tokens", "%s", name);
    }
    for (const char *const *channel = recipe->channels; *channel; channel++) {
        before_of(*channel, "{", before, sizeof before);
        redisson_name(request, before, "", name);
        lb_names_add(names, "channel", "%s", name);
    }
}

const struct lb_option redisson_options[] = {REDISSON_OPTIONS, {0}};

/* redisson_await: how Redisson's locks wait. See redisson.h. */

static int for_one(const char *message, int waiters) {
    (void)message;
    (void)waiters;
    return 1;
}

static void end_subscriptions(struct lb_session *session) {
    struct redisson_session *state = session->lock_state;
    pubsub_end(&state->pubsub);
}

static bool over(const struct redisson_try *one) {
    return lb_stopping() || lb_now() >= one->request->deadline_ns;
}

/* The part of the wait that begins when the subscription is confirmed. */
static enum lb_outcome wait_and_ask(struct redisson_try *one, struct pubsub_wait *wait) {
    for (;;) {
        int64_t left_ns = LB_NEVER;
        /* The lock may have been freed before the subscription was confirmed. Then no message comes, so the
         * client asks again here. */
        enum lb_outcome outcome = one->ask(one, &left_ns);
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

enum lb_outcome redisson_await(struct redisson_try *one) {
    struct lb_session *session = one->session;
    struct redisson_session *state = session->lock_state;
    int64_t left_ns = LB_NEVER;
    bool once = one->request->deadline_ns <= lb_now();
    enum lb_outcome outcome = one->ask(one, &left_ns);
    if (outcome != LB_BUSY || once) return outcome;
    if (over(one)) return LB_TIMEOUT;
    struct redis_node *node = NULL;
    outcome = redis_node_of(session, one->request->key, one->request->key_len, &node);
    if (outcome != LB_OK) return outcome;
    int64_t latest_ns = lb_after(lb_now(), REDISSON_SUBSCRIBE_NS);
    if (latest_ns > one->request->deadline_ns) latest_ns = one->request->deadline_ns;
    redis_at_end(session, end_subscriptions);
    struct pubsub_wait wait;
    outcome = pubsub_join(session, &state->pubsub, node, one->channel,
                          one->count ? one->count : for_one, latest_ns, &wait);
    if (outcome == LB_TIMEOUT && !over(one)) {
        return lb_fail(session, LB_BROKEN, "redis: the subscription was not confirmed in time");
    }
    if (outcome != LB_OK) return outcome;
    outcome = wait_and_ask(one, &wait);
    pubsub_leave(&wait);
    return outcome;
}

/* redisson_unlock: the client's side of every unlock. Each unlock names a key of its own, the latch, in which
 * the script stores its answer, so that the real client can repeat the unlock. After the answer the client
 * deletes the latch without waiting. See redisson.h. */

void redisson_latch(struct lb_session *session, const struct lb_request *request,
                    char out[REDISSON_NAME_MAX]) {
    char after[40] = ":";
    lb_random_hex(&session->rng, after + 1, 16);
    redisson_name(request, "redisson_unlock_latch:", after, out);
}

/* Deletes the latch without waiting for the answer. */
static void drop_latch(struct lb_session *session, struct redis_node *node, const char *latch) {
    const struct redis_word words[] = {{"DEL", 3}, {latch, 0}};
    struct lb_err before = session->err;
    redis_post(session, node, &(struct redis_command){.words = words, .count = 2});
    session->err = before; /* no failure of the unlock: the key expires */
}

enum lb_outcome redisson_unlock(struct lb_session *session, const struct lb_request *request,
                                const struct redis_script *script, int keys,
                                const struct redis_word *words, int count, bool *ret_held) {
    struct redis_node *node = NULL;
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, script, keys, words, count, &reply);
    if (outcome != LB_OK || !reply) return outcome;
    struct redis_value answer = reply->value;
    if (answer.type != REDIS_NIL && answer.type != REDIS_INTEGER)
        return redis_refuse(session, reply);
    if (redis_node_of(session, request->key, request->key_len, &node) == LB_OK)
        drop_latch(session, node, words[keys - 1].text);
    /* Nil is the real scripts' answer for a lock that the holder did not hold. The scripts of the
     * fair lock and of the read-write lock report success when the lock was already gone; ours
     * answer 2 then. */
    if (answer.type == REDIS_NIL || answer.integer == 2) return LB_LOST;
    *ret_held = answer.integer == 0;
    return LB_OK;
}

enum lb_outcome redisson_release(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    bool held = false;
    return recipe->unlock(session, request, grant, &held);
}

enum lb_outcome redisson_settle(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    enum lb_outcome outcome;
    bool held = true;
    do outcome = recipe->unlock(session, request, grant, &held);
    while (outcome == LB_OK && held);
    return outcome == LB_LOST ? LB_OK : outcome;
}
