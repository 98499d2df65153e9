/* string: see string.h. */
#include "drivers/redis/string.h"

#include "drivers/key_names.h"

REDIS_SCRIPT(string_release);
REDIS_SCRIPT(string_renew);

enum lb_outcome string_try_key(struct lb_session *session, const char *key, size_t key_len,
                               const struct lb_request *request, struct lb_grant *grant) {
    struct string_grant *mine = grant->data;
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    const struct redis_word words[] = {STRING_SET(key, key_len, mine, lease_ms)};
    const struct redis_reply *reply = NULL;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = redis_call(session, words, 6, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) return LB_BUSY;
    if (reply->value.type != REDIS_STATUS) return redis_refuse(session, reply);
    grant->token = 0;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

enum lb_outcome string_try(struct lb_session *session, const struct lb_request *request,
                           struct lb_grant *grant) {
    return string_try_key(session, request->key, request->key_len, request, grant);
}

enum lb_outcome string_acquire(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    const struct string_options *options = session->options;
    const struct string_recipe *recipe = session->lock->recipe;
    string_try_fn *try_once = recipe ? recipe->try_once : string_try;
    struct string_grant *mine = grant->data;
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    bool once = request->deadline_ns != LB_NEVER && request->deadline_ns <= lb_now();
    if (request->held == 0) redis_random_hex(&session->rng, mine->token, STRING_TOKEN_BYTES);
    for (;;) {
        enum lb_outcome outcome = try_once(session, request, grant);
        if (outcome != LB_BUSY || once) return outcome;
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
    }
}

enum lb_outcome string_if_mine(struct lb_session *session, const char *key, size_t key_len,
                               const struct lb_grant *grant, const struct redis_script *script,
                               const char *argument) {
    const struct string_grant *mine = grant->data;
    const struct redis_word words[] = {
        {key, key_len}, {mine->token, 2 * STRING_TOKEN_BYTES}, {argument ? argument : "", 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_eval(session, script, 1, words, argument ? 3 : 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

enum lb_outcome string_release(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    return string_if_mine(session, request->key, request->key_len, grant, &script_string_release,
                          NULL);
}

enum lb_outcome string_renew(struct lb_session *session, const struct lb_request *request,
                             struct lb_grant *grant) {
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = string_if_mine(session, request->key, request->key_len, grant,
                                             &script_string_renew, lease_ms);
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

enum lb_outcome string_settle(struct lb_session *session, const struct lb_request *request,
                              struct lb_grant *grant) {
    enum lb_outcome outcome = string_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

int string_residue(struct lb_session *session, const char *prefix, struct lb_residue *ret_residue,
                   struct lb_err *err) {
    struct lb_residue residue = {0};
    if (redis_count_keys(session, "", prefix, &residue, err) != 0) return -1;
    *ret_residue = residue;
    return 0;
}

void string_names(const struct lb_session *session, const struct lb_request *request,
                  struct lb_names *names) {
    (void)session;
    lb_names_add(names, "key (a string)", "%s", request->key);
}

const struct lb_option string_option_table[] = {
    BACKOFF_OPTIONS(struct string_options, poll, "1ms", "64ms"),
    {0},
};
