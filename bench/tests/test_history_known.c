/* test_history_known: the judge's word on histories whose verdict is known. On several hosts a lock that excludes is never
 * accused, and one that does not is caught when its overlaps are longer than the clocks hide. */
#include <inttypes.h>

#include "bench/base/rng.h"
#include "bench/tests/history_say.h"

static struct judgement judgement;

static void judge(void) {
    book_end(&book, tell_dropped, !tell_partial);
    assert_int_equal(oplog_judge(&book, &judgement, NULL, &err), 0);
}

/* The verdict has the numbers of violations, of expired holders and of wrong tokens beside it; `at` and the witnesses
 * are of the first clash; inside is the first hold's. */
static void check_judged(const char *story, const char *figures) {
    static const char *const clashes[] = {"none", "overlap", "token"};
    char all[600], witnesses[200] = "";
    begin_mutex();
    tell(story, NULL);
    judge();
    for (int i = 0; i < judgement.witness_count; i++) {
        size_t used = strlen(witnesses);
        snprintf(witnesses + used, sizeof witnesses - used, "%s%d", i ? "," : "",
                 (int)book.holds[judgement.witness[i]].from_ns);
    }
    const struct hold first = book.hold_count ? book.holds[0] : (struct hold){0};
    snprintf(all, sizeof all,
             "|%s %d,%d,%d|witnesses %s|clash %s|at %d|refused %d|revoked %d|"
             "ended %d|holds %d|mishaps %d|inside %d|",
             verdict_name(judgement.verdict), (int)judgement.violations, (int)judgement.expired,
             (int)judgement.token_errors, witnesses, clashes[judgement.clash],
             (int)judgement.clash_ns, (int)judgement.refused, (int)judgement.revoked,
             (int)judgement.ended, (int)book.hold_count, (int)book.mishap_count,
             (int)first.inside_ns);
    assert_figures(all, figures);
    book_done(&book);
}

TEST(a_mutex) {
    check_file("mutex", check_judged);
}

TEST(other_locks_tokens_and_hosts) {
    check_file("kinds", check_judged);
}

/* Of two that overlapped, the one that came in may be the one whose session was over: it wrote nothing. */
TEST(the_note_names_whose_session_had_ended) {
    struct oplog_line lines[EXPLAIN_LINES];
    begin_mutex();
    tell("0 got 40 50; 1 got 90 100; 1 learned 150; 0 released 200 210", NULL);
    judge();
    const struct hold witness[] = {book.holds[judgement.witness[0]],
                                   book.holds[judgement.witness[1]]};
    assert_int_equal(oplog_explain(&book.rules, &judgement, witness, lines), 3);
    assert_string_equal(
        lines[1].note,
        "came in while another was there, and learned later that its own session had ended");
    book_done(&book);
}

/* ---- clients on several hosts, whose clocks are off by an unknown part of a known error ---- */

#define ERROR_NS 1000
#define HOSTS 3
#define GRANTS 400

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char step[200];
    va_list args;
    va_start(args, format);
    vsnprintf(step, sizeof step, format, args);
    va_end(args);
    tell(step, NULL);
}

static void assert_violations(uint64_t count) {
    judge();
    assert_int_equal(judgement.verdict, count ? VERDICT_VIOLATED : VERDICT_CLEAN);
    assert_int_equal(judgement.violations, count);
    book_done(&book);
}

/* True holds, one after the other, told by clocks that are off by up to the error and wander within it. */
struct telling {
    struct lb_rng rng;
    int64_t off_ns[HOSTS];
};

static int64_t below(struct telling *telling, int64_t most) {
    return (int64_t)rng_below(&telling->rng, (uint64_t)most + 1);
}

/* Never backwards for one client: two of its stamps are further apart than its clock wanders. */
static int64_t told(struct telling *telling, uint32_t client, int64_t true_ns) {
    int64_t *off_ns = &telling->off_ns[client % HOSTS];
    *off_ns += below(telling, 20) - 10;
    if (*off_ns > ERROR_NS) *off_ns = ERROR_NS;
    if (*off_ns < -ERROR_NS) *off_ns = -ERROR_NS;
    return true_ns + *off_ns;
}

static void begin_telling(struct telling *telling, uint64_t seed) {
    rng_seed(&telling->rng, seed, 1);
    for (int host = 0; host < HOSTS; host++)
        telling->off_ns[host] = below(telling, 2 * ERROR_NS) - ERROR_NS;
    begin_mutex();
    book.rules.error_ns = ERROR_NS;
}

/* Holds of 20 ns to 10 us, a moment apart, with tokens that grow. */
TEST(test_a_lock_that_excludes_is_never_accused) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct telling telling;
        begin_telling(&telling, seed);
        int64_t now_ns = 100000;
        uint32_t last = CLIENTS;
        for (uint64_t token = 1; token <= GRANTS; token++) {
            uint32_t client = (uint32_t)below(&telling, CLIENTS - 1);
            if (client == last) client = (client + 1) % CLIENTS;
            last = client;
            int64_t called_ns = told(&telling, client, now_ns + 30);
            now_ns += 60 + below(&telling, 200);
            int64_t from_ns = told(&telling, client, now_ns);
            say("%u got %" PRId64 " %" PRId64 " token %" PRIu64, client, called_ns,
                from_ns > called_ns ? from_ns : called_ns, token);
            now_ns += 20 + below(&telling, below(&telling, 1) ? 100 : 10000);
            int64_t to_ns = told(&telling, client, now_ns);
            say("%u released %" PRId64 " %" PRId64, client, to_ns, to_ns + 15);
            now_ns += 30;
        }
        assert_violations(0);
    }
}

/* Both hold for long enough that no error of their clocks explains it. */
TEST(test_a_long_overlap_is_seen_whatever_the_clocks_are) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct telling telling;
        begin_telling(&telling, seed);
        for (uint32_t client = 0; client < 2; client++) {
            int64_t called_ns = told(&telling, client, 100050);
            int64_t from_ns = told(&telling, client, 110000);
            int64_t to_ns = told(&telling, client, 110000 + 4 * ERROR_NS + 100);
            say("%u got %" PRId64 " %" PRId64 "; %u released %" PRId64 " 200000", client, called_ns,
                from_ns, client, to_ns);
        }
        assert_violations(1);
    }
}

TEST_MAIN(NULL, NULL)
