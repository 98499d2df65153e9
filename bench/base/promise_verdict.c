/* promise_verdict: see promise_verdict.h. */
#include "bench/base/promise_verdict.h"

#include <string.h>

static const char *const names[PROMISE_VERDICTS] = {
    [PROMISE_KEPT] = "kept",
    [PROMISE_BROKEN] = "broken",
    [PROMISE_UNSURE] = "unsure",
};

const char *promise_verdict_name(enum promise_verdict verdict) {
    return names[verdict];
}

enum promise_verdict promise_verdict_from(const char *name) {
    int verdict = 0;
    while (verdict < PROMISE_VERDICTS && !(name && strcmp(name, names[verdict]) == 0)) verdict++;
    return (enum promise_verdict)verdict;
}
