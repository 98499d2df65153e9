/* redisson: names, holders, scripts. See redisson.h. */
#include "drivers/redis/redisson.h"

#include <stdio.h>
#include <string.h>

#include "drivers/injected.h"
#include "drivers/key_names.h"

void redisson_holder(struct lb_session *session, const struct lb_request *request, const char *more,
                     char out[REDISSON_HOLDER_MAX]) {
    struct redisson_session *state = session->lock_state;
    if (!state->uuid[0]) {
        char hex[33];
        redis_random_hex(&session->rng, hex, 16);
        hex[12] = '4'; /* a random UUID, as java.util.UUID's */
        hex[16] = "89ab"[rng_below(&session->rng, 4)];
        snprintf(state->uuid, sizeof state->uuid, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8,
                 hex + 12, hex + 16, hex + 20);
    }
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

enum lb_outcome redisson_run(struct lb_session *session, struct redis_node *node,
                             const struct redis_script *script, int keys,
                             const struct redis_word *words, int count,
                             const struct redis_reply **ret_reply) {
    const struct redis_command command = {script, words, count, keys};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_pipe(session, node, &command, 1, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_ERROR) return redis_refuse(session, reply);
    *ret_reply = reply;
    return LB_OK;
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

enum lb_outcome redisson_run_synced(struct lb_session *session, struct redis_node *node,
                                    const struct redis_script *script, int keys,
                                    const struct redis_word *words, int count,
                                    const struct redis_reply **ret_reply, bool *ret_synced) {
    const struct redisson_options *options = session->options;
    enum lb_outcome outcome = LB_OK;
    struct redis_node *serving = node;
    int replicas = 0;
    *ret_synced = true;
    if (options->check_synced && redis_may_have_replicas(session)) {
        if (!node) outcome = redis_node_of(session, words[0].text, words[0].len, &serving);
        if (outcome == LB_OK) outcome = replicas_of(session, serving, &replicas);
        if (outcome != LB_OK) return outcome;
    }
    if (replicas == 0) return redisson_run(session, node, script, keys, words, count, ret_reply);
    struct redisson_number wanted = redisson_number(replicas);
    const struct redis_word wait[] = {{"WAIT", 4}, {wanted.text, 0}, {REDISSON_SYNC_MS, 0}};
    const struct redis_command commands[] = {{script, words, count, keys},
                                             {.words = wait, .count = 3}};
    const struct redis_reply *replies = NULL;
    outcome = redis_pipe(session, node, commands, 2, &replies);
    if (outcome != LB_OK) return outcome;
    if (replies[0].value.type == REDIS_ERROR) return redis_refuse(session, &replies[0]);
    /* One acknowledgement is enough for Redisson, although its documentation says otherwise. */
    *ret_synced = replies[1].value.type != REDIS_INTEGER || replies[1].value.integer > 0;
    *ret_reply = &replies[0];
    return LB_OK;
}

enum lb_outcome redisson_not_synced(struct lb_session *session, enum lb_outcome given_back) {
    if (given_back != LB_OK && given_back != LB_LOST) return given_back;
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
