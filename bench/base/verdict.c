/* verdict: see verdict.h. */
#include "bench/base/verdict.h"

#include <string.h>

#include "bench/base/err.h"

static const struct {
    const char *name;
    int exit;
} verdicts[VERDICTS] = {
    [VERDICT_UNCHECKED] = {"unchecked", LB_EXIT_OK},
    [VERDICT_CLEAN] = {"clean", LB_EXIT_OK},
    [VERDICT_STARVED] = {"starved", LB_EXIT_MACHINE},
    [VERDICT_EXPIRED] = {"expired", LB_EXIT_VIOLATED},
    [VERDICT_STUCK] = {"stuck", LB_EXIT_MACHINE},
    [VERDICT_VIOLATED] = {"violated", LB_EXIT_VIOLATED},
    [VERDICT_UNTESTED] = {"untested", LB_EXIT_OK},
    [VERDICT_BASELINE] = {"baseline", LB_EXIT_OK},
    [VERDICT_NOTHING_GRANTED] = {"nothing-granted", LB_EXIT_MACHINE},
    [VERDICT_CONTROL_MISSED] = {"control-missed", LB_EXIT_MACHINE},
};

const char *verdict_name(enum verdict verdict) {
    return verdicts[verdict].name;
}

bool verdict_is(const char *word, enum verdict verdict) {
    return word && strcmp(word, verdicts[verdict].name) == 0;
}

int verdict_exit(enum verdict verdict) {
    return verdicts[verdict].exit;
}
