/* redisson_await: how Redisson's locks wait. See redisson.h. */
#include "drivers/redis/redisson.h"

#include "drivers/wait.h"

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
    const struct redisson_options *options = session->options;
    struct redisson_session *state = session->lock_state;
    int64_t left_ns = LB_NEVER;
    bool once = one->request->deadline_ns <= lb_now();
    enum lb_outcome outcome = one->ask(one, &left_ns);
    if (outcome != LB_BUSY || once) return outcome;
    if (over(one)) return LB_TIMEOUT;
    struct redis_node *node = one->node;
    if (!node) outcome = redis_node_of(session, one->request->key, one->request->key_len, &node);
    if (!node) return outcome;
    int64_t latest_ns = lb_after(lb_now(), options->subscription_timeout_ns);
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
