/* unsafe-redis-getset, -getset-repaired: the key's value is the time at which the lock ends, by the client's
 * wall clock. SETNX takes a free lock, and GETSET takes over a lock whose time has passed. The first is the code
 * as articles print it; in the second its last `return` is repaired. Controls: the checks must catch them. */
#include "drivers/redis/string.h"
#include "drivers/redis/unsafe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/injected.h"

/* Sends SETNX, and then GET and GETSET if necessary. `got`: whether this client takes the lock for its own. */
static enum lb_outcome takeover(struct lb_session *session, const struct lb_request *request,
                                bool *ret_got) {
    char expires[24], before[24];
    const struct redis_reply *reply = NULL;
    snprintf(expires, sizeof expires, "%lld",
             (long long)((lb_client_wall_now(session) + request->lease_ns) / LB_MS_NS) + 1);
    const struct redis_word setnx[] = {
        {"SETNX", 5}, {request->key, request->key_len}, {expires, 0}};
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_word getset[] = {
        {"GETSET", 6}, {request->key, request->key_len}, {expires, 0}};
    enum lb_outcome outcome = redis_call(session, setnx, 3, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_got = reply->value.integer == 1;
    if (*ret_got) return LB_OK;
    outcome = redis_call(session, get, 2, &reply);
    if (outcome != LB_OK || reply->value.type == REDIS_NIL) return outcome;
    if (atoll(reply->value.text) >= lb_client_wall_now(session) / LB_MS_NS) return LB_OK;
    snprintf(before, sizeof before, "%s", reply->value.text);
    outcome = redis_call(session, getset, 3, &reply);
    if (outcome == LB_OK) *ret_got = strcmp(reply->value.text, before) == 0;
    return outcome;
}

static enum lb_outcome try_repaired(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    bool got = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = takeover(session, request, &got);
    if (outcome != LB_OK) return outcome;
    if (!got) return LB_BUSY;
    grant->token = 0;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static enum lb_outcome try_printed(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    enum lb_outcome outcome = try_repaired(session, request, grant);
    if (outcome != LB_BUSY) return outcome;
    grant->token = 0;
    grant->lease_end_ns = lb_now() + request->lease_ns;
    return LB_OK; /* the printed code ends in "return true" */
}

/* Releases by DEL. It can't compare the owner, because the value does not name one. */
static enum lb_outcome del(struct lb_session *session, const struct lb_request *request,
                           struct lb_grant *grant) {
    (void)grant;
    const struct redis_word words[] = {{"DEL", 3}, {request->key, request->key_len}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_call(session, words, 2, &reply);
    if (outcome == LB_OK && reply->value.type != REDIS_INTEGER)
        outcome = redis_refuse(session, reply);
    return outcome;
}

static const struct lb_algorithm algorithm = {
    STRING_KEY,
    STRING_OPTIONS(string_option_table, struct string_options),
    .grant_bytes = sizeof(struct string_grant),
    .acquire = string_acquire,
    .release = del,
    .settle = del,
};

const struct lb_lock lock_unsafe_redis_getset = {
    UNSAFE_MUTEX("never: it always believes that it got it"),
    .name = "unsafe-redis-getset",
    .summary = "SETNX of an end time, GETSET to take over; as usually printed, every path "
               "returns true",
    .caps = UNSAFE_CAPS,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: the code for taking over an ended lock, printed with "
                  "\"return true\" as its last line; it excludes nobody",
              .exposed_by = "late", .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = unsafe_getset_expected,
    STRING_TRY(try_printed),
    .algorithm = &algorithm,
};

const struct lb_lock lock_unsafe_redis_getset_repaired = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-getset-repaired",
    .summary = "SETNX of an end time, GETSET to take over, DEL: no owner, and the clients' "
               "clocks must agree",
    .caps = UNSAFE_CAPS,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles, with the last return repaired: the value has no owner, "
                  "so a late holder's DEL frees the next holder's lock; the GETSET of a loser "
                  "moves the end of the winner's lease; clocks must agree",
              .exposed_by = "late", .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = unsafe_getset_repaired_expected,
    STRING_TRY(try_repaired),
    .algorithm = &algorithm,
};
