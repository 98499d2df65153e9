/* scenario: see scenario.h. */
#include "drivers/scenario.h"

#include <string.h>

#include "bench/base/verdict.h"

static const struct {
    const char *name, *summary;
} scenarios[LB_SCENARIOS] = {
#define SCENARIO(constant, name, summary) [constant] = {name, summary},
#include "drivers/scenario.def"
#undef SCENARIO
};

bool lb_scenario_injects(enum lb_scenario scenario) {
    return scenario != LB_SCENARIO_NONE && scenario != LB_SCENARIO_POOLED &&
           scenario != LB_SCENARIO_MULTI_PRIMARY;
}

const char *lb_scenario_name(enum lb_scenario scenario) {
    return scenarios[scenario].name;
}

const char *lb_scenario_summary(enum lb_scenario scenario) {
    return scenarios[scenario].summary;
}

enum lb_scenario lb_scenario_from(const char *name) {
    int scenario = 0;
    while (scenario < LB_SCENARIOS && strcmp(scenarios[scenario].name, name) != 0) scenario++;
    return (enum lb_scenario)scenario;
}

const char *lb_expect_name(enum lb_expect expect) {
    static const enum check_verdict verdicts[] = {[LB_EXPECT_SAFE] = CHECK_SAFE,
                                                  [LB_EXPECT_EXPIRED] = CHECK_EXPIRED,
                                                  [LB_EXPECT_STUCK] = CHECK_STUCK,
                                                  [LB_EXPECT_VIOLATED] = CHECK_VIOLATED};
    return expect == LB_EXPECT_UNSTATED ? "unstated" : check_verdict_name(verdicts[expect]);
}
