/* backoff: see backoff.h. */
#include "drivers/backoff.h"

#include "drivers/wait.h"

const struct lb_known_cause backoff_causes[] = {
    {.figure = "fairness.jain",
     .below = 0.8,
     .cause = "whoever releases asks again at once while the others sleep between two tries, "
              "so few clients get most of the grants, and acquire p50 is the time of those few",
     .option = "poll_max"},
    {0},
};

void backoff_start(struct backoff *backoff, const struct backoff_options *options) {
    backoff->options = options;
    backoff->next_ns = (double)options->min_ns;
}

int64_t backoff_next(struct backoff *backoff, struct lb_rng *rng) {
    const struct backoff_options *options = backoff->options;
    double delay = backoff->next_ns;
    backoff->next_ns = delay * options->factor;
    if (backoff->next_ns > (double)options->max_ns) backoff->next_ns = (double)options->max_ns;
    return (int64_t)(delay * (1 - options->jitter + 2 * options->jitter * rng_unit(rng)));
}

bool backoff_sleep(struct backoff *backoff, struct lb_session *session, int64_t deadline_ns) {
    int64_t now_ns = lb_now();
    if (now_ns >= deadline_ns || lb_stopping()) return false;
    int64_t until_ns = now_ns + backoff_next(backoff, &session->rng);
    lb_sleep_until(until_ns < deadline_ns ? until_ns : deadline_ns);
    if (lb_now() >= deadline_ns || lb_stopping()) return false;
    session->wakeups++;
    return true;
}
