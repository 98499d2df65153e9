/* redis-segmented: a resource that is divided into request->bound segments. Each segment has a string lock of
 * its own (see redis-setnx), so that as many clients hold at once, each with a part of the stock. A round begins
 * at a random segment and tries each segment once. After a round without success the client waits as with
 * redis-setnx. The users of the lock must make sure that a holder uses only its own part of the stock, and that
 * the parts add up to the whole.
 *
 * The keys are {resource}:seg:i, all in one slot of a cluster. */
#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"

#include <stdio.h>

#include "drivers/key_names.h"

struct segmented_grant {
    struct string_grant string; /* first: see string.h */
    uint32_t slot;              /* the segment that is held, or that was tried last */
};

size_t redis_segment_key(const struct lb_request *request, uint32_t slot,
                         char out[REDIS_SEGMENT_MAX]) {
    char after[16];
    snprintf(after, sizeof after, ":seg:%u", slot);
    return redis_tagged(out, REDIS_SEGMENT_MAX, "", request->key, request->key_len, after);
}

/* One round: tries each segment once. */
static enum lb_outcome try_round(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    struct segmented_grant *mine = grant->data;
    uint32_t first = (uint32_t)rng_below(&session->rng, request->bound);
    for (uint32_t i = 0; i < request->bound; i++) {
        char key[REDIS_SEGMENT_MAX];
        uint32_t slot = (first + i) % request->bound;
        mine->slot = slot;
        size_t len = redis_segment_key(request, slot, key);
        enum lb_outcome outcome = string_try_key(session, key, len, request, grant);
        if (outcome == LB_OK) grant->slot = slot;
        if (outcome != LB_BUSY) return outcome;
    }
    return LB_BUSY;
}

static enum lb_outcome segmented_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    if (request->bound < 1 || request->bound > LB_SLOTS_MAX)
        return lb_fail(session, LB_REFUSED, "redis-segmented: 1 to %d segments, not %u",
                       LB_SLOTS_MAX, request->bound);
    return string_acquire(session, request, grant);
}

static enum lb_outcome segmented_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    const struct segmented_grant *mine = grant->data;
    char key[REDIS_SEGMENT_MAX];
    size_t len = redis_segment_key(request, mine->slot, key);
    return string_if_mine(session, key, len, grant, &script_string_release, NULL);
}

static enum lb_outcome segmented_renew(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    const struct segmented_grant *mine = grant->data;
    char key[REDIS_SEGMENT_MAX], lease_ms[24];
    size_t len = redis_segment_key(request, mine->slot, key);
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        string_if_mine(session, key, len, grant, &script_string_renew, lease_ms);
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

/* Only the segment that was tried last is in doubt. The ones before it were busy. */
static enum lb_outcome segmented_settle(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    enum lb_outcome outcome = segmented_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static int segmented_residue(struct lb_session *session, const char *prefix,
                             struct lb_residue *ret_residue, struct lb_err *err) {
    struct lb_residue residue = {0};
    if (redis_count_keys(session, "", prefix, &residue, err) != 0) return -1;
    if (redis_count_keys(session, "{", prefix, &residue, err) != 0) return -1;
    *ret_residue = residue;
    return 0;
}

static void segmented_names(const struct lb_session *session, const struct lb_request *request,
                            struct lb_names *names) {
    char key[REDIS_SEGMENT_MAX];
    (void)session;
    redis_segment_key(request, 0, key);
    lb_names_add(names, "key of the first segment", "%s", key);
}

static const struct lb_algorithm algorithm = {
    STRING_OPTIONS(string_option_table, struct string_options),
    .causes = backoff_causes,
    .grant_bytes = sizeof(struct segmented_grant),
    .acquire = segmented_acquire,
    .release = segmented_release,
    .renew = segmented_renew,
    .settle = segmented_settle,
    .residue = segmented_residue,
    .names = segmented_names,
};

const struct lb_lock lock_redis_segmented = {
    .name = "redis-segmented",
    .summary =
        "a hot key divided into segments, each a SET NX PX of its own: several holders at once, "
        "one for each segment",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SLOTS | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about = {.compatible = "SET NX PX by hand on the keys {resource}:seg:i",
              .order = "none",
              .hazards =
                  "as redis-setnx, for each segment; the last goods cost up to one try for each "
                  "segment; a sum over all segments needs all of them locked",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_LEASE,
              .crash_slack_ns = 100 * LB_MS_NS},
    .algorithm = &algorithm,
    STRING_TRY(try_round),
};
