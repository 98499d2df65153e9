/* cell_suite: makes a cell of a check from the conformance suite's result for a lock; see
 * cell_result.h. */
#include <stdio.h>
#include <string.h>

#include "bench/check/cell_result.h"
#include "results/format/tree.h"

struct counted {
    int passed, failed, left_out;
    const json_t *worst; /* the failure that decides the verdict */
    enum check_verdict verdict;
};

static enum check_verdict verdict_of(const json_t *check) {
    const char *shown = tree_word(check, "shown");
    if (json_is_true(json_object_get(check, "overlap"))) return CHECK_VIOLATED;
    if (strcmp(shown, "granted") == 0) return CHECK_VIOLATED;
    return strcmp(shown, "refused") == 0 ? CHECK_STUCK : CHECK_FAILED;
}

/* The weight of a failure. Two clients that held at once weigh most. */
static int weight_of(const json_t *check) {
    if (!check) return -1;
    if (json_is_true(json_object_get(check, "overlap"))) return 2;
    return verdict_of(check) != CHECK_FAILED;
}

/* Of several failures with the same weight the first decides, because the checks after it are tried
 * once and with little patience. */
static void count_check(struct counted *counted, const json_t *check) {
    const char *result = tree_word(check, "result");
    bool failed = strcmp(result, "failed") == 0;
    counted->passed += strcmp(result, "passed") == 0;
    counted->failed += failed;
    counted->left_out += strcmp(result, "left out") == 0;
    if (!failed || weight_of(check) <= weight_of(counted->worst)) return;
    counted->worst = check;
    counted->verdict = verdict_of(check);
}

static void say_why(const struct counted *counted, bool complete, const char *last_words, char *why,
                    size_t size) {
    if (counted->worst) {
        snprintf(why, size, "'%.60s': %.240s (%d of %d checks failed)",
                 tree_word(counted->worst, "check"), tree_word(counted->worst, "why"),
                 counted->failed, counted->passed + counted->failed);
    } else if (!complete) {
        snprintf(why, size, "%.390s", last_words);
    } else {
        snprintf(why, size, "%d checks passed, %d left out", counted->passed, counted->left_out);
    }
}

int cell_result_of_suite(const json_t *suite, const char *last_words, struct cell_result *ret,
                         struct lb_err *err) {
    struct counted counted = {.verdict = CHECK_SAFE};
    bool complete = json_is_true(json_object_get(suite, "complete"));
    char why[CELL_WHY_MAX];
    const json_t *check;
    size_t i;
    json_array_foreach(json_object_get(suite, "checks"), i, check) {
        count_check(&counted, check);
    }
    if (counted.verdict == CHECK_SAFE && (!complete || counted.passed == 0))
        counted.verdict = CHECK_FAILED;
    say_why(&counted, complete, last_words, why, sizeof why);
    if (cell_result_of_run(NULL, why, false, ret, err) != 0) return -1;
    ret->cell.verdict = counted.verdict;
    ret->cell.verdict_word = check_verdict_name(counted.verdict);
    return 0;
}
