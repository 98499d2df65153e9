/* scenario: the names of the fault scenarios that `lockbench check` puts each lock through, and
 * what each lock is expected to show in them. scenario.def lists them. What happens in a scenario is a
 * workload file, workloads/check/<name>.ini; this header holds only what the drivers state.
 *
 * A driver states the worst verdict that the protocol of its lock permits in a scenario, and the
 * reason. The check reports a worse verdict as a finding; a better one is reported as well.
 * A scenario without a statement is not run for that lock. */
#ifndef DRIVERS_SCENARIO_H
#define DRIVERS_SCENARIO_H

#include <stdbool.h>

enum lb_scenario {
#define SCENARIO(constant, name, summary) constant,
#include "drivers/scenario.def"
#undef SCENARIO
    LB_SCENARIOS
};

/* The worst verdict that is expected of a lock in a scenario, from good to bad; the check's verdicts have the same
 * order. */
enum lb_expect {
    LB_EXPECT_UNSTATED, /* the scenario does not apply, or nothing is known */
    LB_EXPECT_SAFE,     /* one holder at a time, and grants continue */
    /* a holder may outlive its lease or session; only a fencing token protects the data */
    LB_EXPECT_EXPIRED,
    LB_EXPECT_STUCK,   /* a key may stay unavailable for longer than the protocol allows */
    LB_EXPECT_VIOLATED /* two holders inside their leases, or the lock's state is lost */
};

#define LB_EXPECT_SETS 3

struct lb_expectation {
    enum lb_expect worst;
    const char *why; /* one phrase: which part of the protocol permits it; static storage */
    /* settings "SECTION.KEY=VALUE" of the scenario's workload without which it would not put this lock to the test; ends
     * with NULL if there are fewer */
    const char *sets[LB_EXPECT_SETS];
};

/* What the files drivers/<backend>/expected.txt state, made by drivers/expected.awk; ends with a name that is NULL. */
extern const struct lb_stated {
    const char
        *name; /* of a lock, or of a backend: then of its locks that have no rows of their own */
    struct lb_expectation cell[LB_SCENARIOS];
} lb_stated[];

/* Whether the scenario has injections. */
bool lb_scenario_injects(enum lb_scenario scenario);
/* "pause", "server-restart", ...: also the name of the workload file in workloads/check/. */
const char *lb_scenario_name(enum lb_scenario scenario);
/* One line for help and reports. */
const char *lb_scenario_summary(enum lb_scenario scenario);
/* Returns LB_SCENARIOS for an unknown name. */
enum lb_scenario lb_scenario_from(const char *name);

/* "safe", "expired", "stuck", "violated"; "unstated". */
const char *lb_expect_name(enum lb_expect expect);

#endif
