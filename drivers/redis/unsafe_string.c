/* unsafe-redis-setnx-expire, -del, -get-del, -ttl-short, -renew-late: redis-setnx
 * with one mistake each, as people make it. Everything else is redis-setnx's own code. For the checks to catch;
 * never to be used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/injected.h"
#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"
#include "drivers/wait.h"

/* --- setnx-expire --- */

static enum lb_outcome two_calls(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    const struct string_grant *mine = grant->data;
    char lease_ms[24];
    long long set = 0, expires = 0;
    redis_lease_ms(request->lease_ns, lease_ms);
    enum lb_outcome outcome = redis_number(session, request, "SETNX", mine->token, &set);
    if (outcome != LB_OK) return outcome;
    if (!set) return LB_BUSY;
    /* A client that dies here leaves a key that never expires. */
    int64_t sent_ns = lb_now();
    outcome = redis_number(session, request, "PEXPIRE", lease_ms, &expires);
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, 0, sent_ns + request->lease_ns);
}

const struct lb_lock lock_unsafe_redis_setnx_expire = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-setnx-expire",
    .summary = "SETNX, then EXPIRE in a second call: a crash between them leaves the key for ever",
    .caps = UNSAFE_CAPS,
    .about = {UNSAFE_ABOUT(2, 1), .crash = LB_CRASH_NEVER,
              .mistake =
                  "introductory articles: SETNX and EXPIRE as two calls; a client that dies "
                  "between them leaves a key without expiry, and no client gets the lock again",
              .exposed_by = "crash", .exposed_as = LB_EXPOSED_STUCK},
    STRING_TRY(two_calls),
    .algorithm = &(const struct lb_algorithm){STRING_MEMBERS, .acquire = string_acquire,
                                              .release = string_release},
};

/* --- del, get-del --- */

static enum lb_outcome del_release(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    (void)grant;
    long long deleted = 0;
    return redis_number(session, request, "DEL", NULL, &deleted); /* without a check of the owner */
}

struct get_del_options {
    struct string_options string; /* first: see string_acquire */
    int64_t gap_ns;
};

static enum lb_outcome get_del_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    const struct get_del_options *options = session->options;
    const struct string_grant *mine = grant->data;
    const struct redis_word words[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, NULL, 0, words, 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_NIL && reply->value.type != REDIS_STRING)
        return redis_refuse(session, reply);
    if (strcmp(reply->value.text, mine->token) != 0) return LB_LOST;
    if (options->gap_ns > 0) lb_sleep_until(lb_now() + options->gap_ns);
    return del_release(session, request, grant);
}

static const struct lb_option get_del_options[] = {
    BACKOFF_OPTIONS(struct get_del_options, string.poll, "1ms", "64ms"),
    {"gap", LB_OPT_DURATION, offsetof(struct get_del_options, gap_ns), "2ms", 0, 10e9, NULL,
     "time from the GET's answer to the DEL, as from a garbage collection or a slow network"},
    {0},
};

const struct lb_lock lock_unsafe_redis_del = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-del",
    .summary = "SET NX PX, released by DEL without a look at the owner",
    .caps = UNSAFE_CAPS,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: DEL without a check of the owner; a holder whose lease "
                  "has ended deletes the next holder's lock, and a third client enters",
              .exposed_by = "late", .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &(const struct lb_algorithm){STRING_MEMBERS, .acquire = string_acquire,
                                              .release = del_release},
};

const struct lb_lock lock_unsafe_redis_get_del = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-get-del",
    .summary = "SET NX PX, released by GET, a comparison in the client, and DEL in a second call",
    .caps = UNSAFE_CAPS,
    .about = {UNSAFE_ABOUT(1, 2), UNSAFE_LEASE,
              .mistake = "introductory articles: GET, compare, DEL as two calls; the lease may end "
                         "between them, and the DEL deletes the next holder's lock",
              .exposed_by = "late", .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm =
        &(const struct lb_algorithm){
            STRING_KEY, STRING_OPTIONS(get_del_options, struct get_del_options),
            .grant_bytes = sizeof(struct string_grant), .acquire = string_acquire,
            .release = get_del_release, .settle = string_settle},
};

/* --- ttl-short --- */

const struct lb_lock lock_unsafe_redis_ttl_short = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-ttl-short",
    .summary = "SET NX PX with a lease that is shorter than the work, and no renewal",
    .caps = UNSAFE_CAPS,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: a guessed expiry that nothing extends; work that takes "
                  "longer continues without the lock, beside the next holder",
              .exposed_by = "short-lease", .exposed_as = LB_EXPOSED_EXPIRED},
    .algorithm = &(const struct lb_algorithm){STRING_MEMBERS, .acquire = string_acquire,
                                              .release = string_release},
};

/* --- renew-late --- */

struct late_grant {
    struct string_grant string; /* first: see string.h */
    int64_t next_ns;            /* when the holder will renew */
};

/* The time before the lease's end at which the holder renews: one second; for a shorter lease a thirtieth of it, as
 * in the article (1 of 30 s). */
static int64_t margin_ns(int64_t lease_ns) {
    return lease_ns > LB_S_NS ? LB_S_NS : lease_ns / 30;
}

static enum lb_outcome late_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    struct late_grant *mine = grant->data;
    enum lb_outcome outcome = string_acquire(session, request, grant);
    if (outcome == LB_OK) mine->next_ns = grant->lease_end_ns - margin_ns(request->lease_ns);
    return outcome;
}

/* Called every third of the lease; does nothing if the renewal is not yet due. */
static enum lb_outcome late_renew(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct late_grant *mine = grant->data;
    int64_t more_ns = request->lease_ns / 3 * 2;
    int64_t sent_ns = lb_now();
    char more_ms[24];
    long long extended = 0;
    if (sent_ns < mine->next_ns) return LB_OK;
    redis_lease_ms(more_ns, more_ms);
    enum lb_outcome outcome = redis_number(session, request, "PEXPIRE", more_ms, &extended);
    if (outcome != LB_OK) return outcome;
    /* The mistake: the answer, which tells whether there was a key, is not checked, and neither is
     * its owner. */
    mine->next_ns = sent_ns + more_ns;
    grant->lease_end_ns = sent_ns + more_ns;
    return LB_OK;
}

const struct lb_lock lock_unsafe_redis_renew_late = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-renew-late",
    .summary = "SET NX PX, renewed a second before it ends and then when it ends, by EXPIRE "
               "without owner check",
    .caps = UNSAFE_CAPS | LB_CAP_RENEW,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: a watchdog that renews a 30 s lease after 29 s, then "
                  "every 20 s by 20 s, by EXPIRE, without a check of the owner or of the answer: "
                  "it extends a lease that has ended, or another client's",
              .exposed_by = "late-renewal", .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm =
        &(const struct lb_algorithm){
            STRING_KEY, STRING_OPTIONS(string_option_table, struct string_options),
            .grant_bytes = sizeof(struct late_grant), .acquire = late_acquire,
            .release = string_release, .renew = late_renew, .settle = string_settle},
};

/* unsafe-redis-getset-repaired: the key's value is the time at which the lock ends, by the client's
 * wall clock. SETNX takes a free lock, and GETSET takes over a lock whose time has passed. Articles print it with a
 * last `return true`, which excludes nobody; that is repaired here. */

/* Sends SETNX, and then GET and GETSET if necessary. `got`: whether this client takes the lock for its own. */
static enum lb_outcome takeover(struct lb_session *session, const struct lb_request *request,
                                bool *ret_got) {
    char expires[24], before[24];
    const struct redis_reply *reply = NULL;
    long long set = 0;
    snprintf(expires, sizeof expires, "%lld",
             (long long)((lb_client_wall_now(session) + request->lease_ns) / LB_MS_NS) + 1);
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_word getset[] = {
        {"GETSET", 6}, {request->key, request->key_len}, {expires, 0}};
    enum lb_outcome outcome = redis_number(session, request, "SETNX", expires, &set);
    *ret_got = set == 1;
    if (outcome != LB_OK || *ret_got) return outcome;
    outcome = redis_run(session, NULL, 0, get, 2, &reply);
    if (outcome != LB_OK || reply->value.type == REDIS_NIL) return outcome;
    if (atoll(reply->value.text) >= lb_client_wall_now(session) / LB_MS_NS) return LB_OK;
    snprintf(before, sizeof before, "%s", reply->value.text);
    outcome = redis_run(session, NULL, 0, getset, 3, &reply);
    if (outcome == LB_OK) *ret_got = strcmp(reply->value.text, before) == 0;
    return outcome;
}

static enum lb_outcome try_takeover(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    bool got = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = takeover(session, request, &got);
    if (outcome != LB_OK) return outcome;
    if (!got) return LB_BUSY;
    return lb_granted(grant, 0, sent_ns + request->lease_ns);
}

static const struct lb_algorithm algorithm = {
    STRING_KEY,
    STRING_OPTIONS(string_option_table, struct string_options),
    .grant_bytes = sizeof(struct string_grant),
    .acquire = string_acquire,
    .release = del_release, /* the value names no owner */
    .settle = del_release,
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
    STRING_TRY(try_takeover),
    .algorithm = &algorithm,
};
