/* check_verdict: see check_verdict.h. */
#include "bench/base/check_verdict.h"

#include <string.h>

static const char *const names[CHECK_VERDICTS] = {
    [CHECK_SAFE] = "safe",         [CHECK_EXPIRED] = "expired",           [CHECK_STUCK] = "stuck",
    [CHECK_VIOLATED] = "violated", [CHECK_INCONCLUSIVE] = "inconclusive", [CHECK_FAILED] = "failed",
};

const char *check_verdict_name(enum check_verdict verdict) {
    return names[verdict];
}

enum check_verdict check_verdict_from(const char *name) {
    int verdict = 0;
    while (verdict < CHECK_VERDICTS && !(name && strcmp(name, names[verdict]) == 0)) verdict++;
    return (enum check_verdict)verdict;
}
