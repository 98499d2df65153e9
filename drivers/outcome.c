/* outcome: the small functions of driver.h, facts.h and scenario.h: the names of outcomes, primitives, claims and
 * scenarios; the calls by which a driver fails an operation and reports a lost or renewed session; look-ups in the
 * tables of a lock. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/text.h"
#include "bench/base/verdict.h"
#include "drivers/driver.h"
#include "drivers/facts.h"

const char *lb_outcome_name(enum lb_outcome outcome) {
    static const char *const names[LB_OUTCOMES] = {"ok",      "busy",    "timeout", "lost",
                                                   "unknown", "refused", "broken"};
    return (unsigned)outcome < LB_OUTCOMES ? names[outcome] : "?";
}

const char *lb_primitive_name(enum lb_primitive primitive) {
    static const char *const names[] = {"mutex", "rwlock", "semaphore", "optimistic", "none"};
    return (unsigned)primitive < sizeof names / sizeof *names ? names[primitive] : "?";
}

const char *lb_crash_name(enum lb_crash crash) {
    static const char *const names[] = {[LB_CRASH_NEVER] = "never",
                                        [LB_CRASH_AT_ONCE] = "at-once",
                                        [LB_CRASH_LEASE] = "lease",
                                        [LB_CRASH_SESSION] = "session"};
    return names[crash];
}

const char *lb_claim_name(enum lb_claim claim) {
    static const struct {
        enum lb_claim claim;
        const char *name;
    } claims[] = {{LB_CLAIM_EXCLUDES, "excludes"},
                  {LB_CLAIM_SAFE_PAUSE, "safe-pause"},
                  {LB_CLAIM_SAFE_FAILOVER, "safe-failover"},
                  {LB_CLAIM_CRASH_RELEASE, "crash-release"}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        if (claims[i].claim == claim) return claims[i].name;
    }
    return NULL;
}

enum verdict lb_exposed_verdict(enum lb_exposed as) {
    static const enum verdict verdicts[] = {[LB_EXPOSED_VIOLATED] = VERDICT_VIOLATED,
                                            [LB_EXPOSED_EXPIRED] = VERDICT_EXPIRED,
                                            [LB_EXPOSED_STUCK] = VERDICT_STUCK};
    return verdicts[as];
}

void lb_random_hex(struct lb_rng *rng, char *out, int bytes) {
    static const char hex[] = "0123456789abcdef";
    unsigned char drawn[32];
    rng_bytes(rng, drawn, (unsigned)bytes);
    for (int i = 0; i < bytes; i++) {
        out[2 * i] = hex[drawn[i] >> 4];
        out[2 * i + 1] = hex[drawn[i] & 15];
    }
    out[2 * bytes] = '\0';
}

void lb_random_uuid(struct lb_rng *rng, char out[LB_UUID_CHARS + 1]) {
    char hex[33];
    lb_random_hex(rng, hex, 16);
    hex[12] = '4';
    hex[16] = "89ab"[rng_below(rng, 4)];
    snprintf(out, LB_UUID_CHARS + 1, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
             hex + 20);
}

void lb_left(struct lb_residue *residue, uint64_t count, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (count > 0 && residue->count == 0)
        vsnprintf(residue->example, sizeof residue->example, format, args);
    va_end(args);
    residue->count += count;
}

enum lb_outcome lb_fail(struct lb_session *session, enum lb_outcome outcome, const char *format,
                        ...) {
    if (session->err.code == 0) {
        char text[sizeof session->err.text];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        err_set(&session->err, outcome == LB_REFUSED ? LB_EXIT_USAGE : LB_EXIT_MACHINE, "%s", text);
    }
    return outcome;
}

void lb_session_renewed(struct lb_session *session, int64_t until_ns) {
    session->lasts_until_ns = until_ns;
}

void lb_session_lost(struct lb_session *session) {
    if (session->on_lost) session->on_lost(session);
}

const char *const *lb_topologies(const struct lb_lock *lock) {
    return lock->topologies ? lock->topologies : lock->backend->topologies;
}

const char *lb_unavailable(const struct lb_backend *backend) {
    return backend->connector ? NULL : backend->missing;
}

const struct lb_option *lb_backend_options(const struct lb_backend *backend) {
    return backend->connector ? backend->connector->options : NULL;
}

const struct lb_expectation *lb_expected(const struct lb_lock *lock, enum lb_scenario scenario) {
    static const struct lb_expectation unstated;
    const struct lb_expectation *ret = &unstated;
    for (const struct lb_stated *stated = lb_stated; stated->name; stated++) {
        if (strcmp(stated->name, lock->name) == 0) return &stated->cell[scenario];
        if (strcmp(stated->name, lock->backend->name) == 0) ret = &stated->cell[scenario];
    }
    return ret;
}

/* scenarios: see scenario.h. */

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

/* facts: see facts.h, and driver.h for lb_fact. Beyond LB_FACTS_MAX further names are dropped. */

void lb_fact(struct lb_facts *facts, const char *name, const char *format, ...) {
    int i = 0;
    while (i < facts->count && strcmp(facts->item[i].name, name) != 0) i++;
    if (i == LB_FACTS_MAX) return;
    if (i == facts->count) {
        snprintf(facts->item[i].name, sizeof facts->item[i].name, "%s", name);
        facts->count++;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(facts->item[i].value, sizeof facts->item[i].value, format, args);
    va_end(args);
    utf8_clean(facts->item[i].value); /* a server said it, and JSON takes nothing else */
}

void lb_facts_durability(struct lb_facts *facts, const char *durability_class, const char *format,
                         ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(facts->durability, sizeof facts->durability, format, args);
    va_end(args);
    utf8_clean(facts->durability);
    facts->durability_class = durability_class;
}

void lb_facts_unfit(const struct lb_session *session, struct lb_facts *facts,
                    enum lb_scenario scenario, const char *what) {
    const struct lb_lock *lock = session->lock;
    facts->kind = scenario;
    bool asks = lock && lock->algorithm->acquire; /* `doctor` asks for no lock */
    const struct lb_expectation *expected = asks ? lb_expected(lock, scenario) : NULL;
    if (scenario == LB_SCENARIO_NONE || !expected)
        snprintf(facts->unfit, sizeof facts->unfit, "%s", what);
    else if (expected->worst > LB_EXPECT_SAFE)
        snprintf(facts->unfit, sizeof facts->unfit, "%s: %s", what, expected->why);
}

const char *lb_facts_value(const struct lb_facts *facts, const char *name) {
    for (int i = 0; i < facts->count; i++) {
        if (strcmp(facts->item[i].name, name) == 0) return facts->item[i].value;
    }
    return NULL;
}
