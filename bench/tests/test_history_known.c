/* test_history_known: the judge's word on histories whose verdict is known. */
#include "bench/tests/history_say.h"

static struct judgement judgement;

static void judge(void) {
    book_end(&book, tell_dropped, !tell_partial);
    assert_int_equal(oplog_judge(&book, &judgement, NULL, &err), 0);
}

/* The verdict has the numbers of violations, of expired holders and of wrong tokens beside it; `at` and the witnesses are of the
 * first clash; depth and inside are the first hold's. */
static void check_judged(const char *story, const char *figures) {
    static const char *const clashes[] = {"none", "overlap", "token"};
    char all[600], witnesses[200] = "";
    begin_as(OPLOG_MUTEX, 1, false);
    tell(story, NULL);
    judge();
    for (int i = 0; i < judgement.witness_count; i++) {
        size_t used = strlen(witnesses);
        snprintf(witnesses + used, sizeof witnesses - used, "%s%d", i ? "," : "",
                 (int)book.holds[judgement.witness[i]].from_ns);
    }
    const struct hold first = book.hold_count ? book.holds[0] : (struct hold){0};
    snprintf(all, sizeof all,
             "|%s %d,%d,%d|witnesses %s|clash %s|at %d|inversions %d|refused %d|revoked %d|"
             "ended %d|holds %d|mishaps %d|depth %d|inside %d|",
             verdict_name(oplog_verdict_of(judgement.verdict)), (int)judgement.violations,
             (int)judgement.expired, (int)judgement.token_errors, witnesses,
             clashes[judgement.clash], (int)judgement.clash_ns, (int)judgement.inversions,
             (int)judgement.refused, (int)judgement.revoked, (int)judgement.ended,
             (int)book.hold_count, (int)book.mishap_count, first.depth, (int)first.inside_ns);
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
    begin_as(OPLOG_MUTEX, 1, false);
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

TEST_MAIN(NULL, NULL)
