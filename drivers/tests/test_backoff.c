/* test_backoff: drivers/backoff.c: the delays, their jitter, and the sleep's ends. The only timing
 * that is asserted is that a sleep does not end too early. */
#include "bench/engine/loop.h"
#include "bench/option/option.h"
#include "bench/tests/unit.h"
#include "bench/tests/virtual_clock.h"
#include "drivers/backoff.h"

static struct lb_rng rng;

TEST(test_grows_to_its_limit) {
    const struct backoff_options options = {LB_MS_NS, 10 * LB_MS_NS, 2, 0};
    static const int expected_ms[] = {1, 2, 4, 8, 10, 10, 10};
    struct backoff backoff;
    for (int round = 0; round < 2; round++) { /* each wait begins anew */
        backoff_start(&backoff, &options);
        for (size_t i = 0; i < sizeof expected_ms / sizeof *expected_ms; i++)
            assert_int_equal(backoff_next(&backoff, &rng), expected_ms[i] * LB_MS_NS);
    }
}

TEST(test_jitter_fills_its_range) {
    static const double jitters[] = {0.1, 0.5, 1};
    for (size_t j = 0; j < sizeof jitters / sizeof *jitters; j++) {
        const struct backoff_options options = {LB_MS_NS, LB_MS_NS, 1, jitters[j]};
        struct backoff backoff;
        int64_t least = INT64_MAX, most = 0;
        double sum = 0;
        backoff_start(&backoff, &options);
        for (int i = 0; i < 10000; i++) {
            int64_t delay = backoff_next(&backoff, &rng);
            if (delay < least) least = delay;
            if (delay > most) most = delay;
            sum += (double)delay;
        }
        double low = 1e6 * (1 - jitters[j]), high = 1e6 * (1 + jitters[j]), width = high - low;
        assert_true((double)least >= low && (double)least < low + width / 20);
        assert_true((double)most <= high && (double)most > high - width / 20);
        assert_true(sum / 10000 > 1e6 - width / 20 && sum / 10000 < 1e6 + width / 20);
    }
}

struct sleeps {
    const struct backoff_options *options;
    int64_t deadline_ns, begin_ns, end_ns;
    bool more;
    struct lb_session session;
};

static const struct backoff_options hour = {3600 * LB_S_NS, 3600 * LB_S_NS, 1, 0};
static const struct backoff_options brief = {LB_MS_NS, LB_MS_NS, 1, 0};

static void sleep_once(void *arg) {
    struct sleeps *sleeps = arg;
    struct backoff backoff;
    backoff_start(&backoff, sleeps->options);
    sleeps->begin_ns = lb_now();
    sleeps->more = backoff_sleep(&backoff, &sleeps->session, sleeps->deadline_ns);
    sleeps->end_ns = lb_now();
}

TEST(test_sleep_ends_at_the_deadline) {
    struct lb_err err = {0};
    struct sleeps sleeps = {&hour, .deadline_ns = lb_now() + 30 * LB_MS_NS};
    assert_int_equal(loop_once("sleep", sleep_once, &sleeps, &err), 0);
    assert_false(sleeps.more); /* no time for another try */
    assert_int_equal(sleeps.session.wakeups, 0);
    assert_takes(sleeps.end_ns - sleeps.deadline_ns, 0);
    sleeps = (struct sleeps){&hour, .deadline_ns = 0};
    assert_int_equal(loop_once("sleep", sleep_once, &sleeps, &err), 0);
    assert_false(sleeps.more);
}

TEST(test_sleep_then_another_try) {
    struct lb_err err = {0};
    struct sleeps sleeps = {&brief, .deadline_ns = LB_NEVER};
    assert_int_equal(loop_once("sleep", sleep_once, &sleeps, &err), 0);
    assert_true(sleeps.more);
    assert_int_equal(sleeps.session.wakeups, 1);
    assert_takes(sleeps.end_ns - sleeps.begin_ns, LB_MS_NS);
}

TEST(test_sleep_ends_at_the_cutoff) {
    struct lb_err err = {0};
    _Atomic int64_t cutoff_ns = lb_now() + 50 * LB_MS_NS;
    struct sleeps sleeps = {&hour, .deadline_ns = LB_NEVER};
    struct loop *loop = loop_new(&(struct loop_config){.cutoff_ns = &cutoff_ns}, &err);
    assert_non_null(loop);
    assert_non_null(loop_start_fiber(loop, "sleep", sleep_once, &sleeps));
    loop_run(loop);
    assert_in_range(sleeps.end_ns - cutoff_ns, 0, 100 * LB_MS_NS);
    loop_free(loop);
    assert_false(sleeps.more);
}

/* An option table with the four rows that each polling lock takes from backoff.h. */
struct polling {
    int64_t before;
    struct backoff_options poll;
};

TEST(test_option_rows) {
    static const struct lb_option table[] = {BACKOFF_OPTIONS(struct polling, poll, "2ms", "64ms"),
                                             {0}};
    struct arena arena = {0};
    struct lb_err err = {0};
    struct polling *made = options_new(table, sizeof *made, &arena, &err);
    assert_non_null(made);
    assert_int_equal(made->poll.min_ns, 2 * LB_MS_NS);
    assert_int_equal(made->poll.max_ns, 64 * LB_MS_NS);
    assert_true(made->poll.factor == 2 && made->poll.jitter == 0.5);
    assert_int_equal(option_read(options_find(table, "poll_factor"), made, "0.5", &arena, &err),
                     -1);
    arena_done(&arena);
}

int main(void) {
    rng_seed(&rng, 1, 1);
    return run_all_tests(NULL, NULL);
}
