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

/* The functions PREFIX_name and PREFIX_from of an enum, whose words are in the array PREFIX_words. */
#define WORDS(type, prefix, unknown)                                                               \
    const char *prefix##_name(enum type word) {                                                    \
        return prefix##_words[word];                                                               \
    }                                                                                              \
    enum type prefix##_from(const char *name) {                                                    \
        int word = 0;                                                                              \
        while (word < (unknown) && !(name && strcmp(name, prefix##_words[word]) == 0)) word++;     \
        return (enum type)word;                                                                    \
    }

static const char *const check_verdict_words[CHECK_VERDICTS] = {
    [CHECK_SAFE] = "safe",         [CHECK_EXPIRED] = "expired",           [CHECK_STUCK] = "stuck",
    [CHECK_VIOLATED] = "violated", [CHECK_INCONCLUSIVE] = "inconclusive", [CHECK_FAILED] = "failed",
};
WORDS(check_verdict, check_verdict, CHECK_VERDICTS)

static const char *const promise_verdict_words[PROMISE_VERDICTS] = {
    [PROMISE_KEPT] = "kept",
    [PROMISE_BROKEN] = "broken",
    [PROMISE_UNSURE] = "unsure",
};
WORDS(promise_verdict, promise_verdict, PROMISE_VERDICTS)

static const char *const durability_words[DURABILITIES] = {
    [DURABILITY_NONE] = "none",
    [DURABILITY_MEMORY] = "memory",
    [DURABILITY_LOG] = "log",
    [DURABILITY_DISK] = "disk",
};
WORDS(durability, durability, DURABILITY_UNKNOWN)

static const char *const lb_guarantee_words[LB_GUARANTEES + 1] = {
    [LB_ON_ONE_HOST] = "host",
    [LB_ON_ONE_NODE] = "node",
    [LB_ON_ASYNC_REPLICA] = "async-replica",
    [LB_ON_MAJORITY] = "majority",
    [LB_NO_GUARANTEE] = "none",
};
WORDS(lb_guarantee, lb_guarantee, LB_GUARANTEES)

const char *lb_guarantee_text(enum lb_guarantee guarantee) {
    static const char *const texts[LB_GUARANTEES + 1] = {
        [LB_ON_ONE_HOST] = "one host",
        [LB_ON_ONE_NODE] = "one server",
        [LB_ON_ASYNC_REPLICA] = "async replicas",
        [LB_ON_MAJORITY] = "a majority",
        [LB_NO_GUARANTEE] = "no guarantee",
        [LB_GUARANTEES] = "not stated",
    };
    return texts[guarantee];
}
