/* cell_result: see cell_result.h. Several runs are merged in cell_result_merge.c. */
#include "bench/check/cell_result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHY_MAX 400

/* ---- what may or may not be there ---- */

static json_t *at(const json_t *json, const char *path) {
    char copy[80], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *name; json && (name = strsep(&rest, "."));) json = json_object_get(json, name);
    return (json_t *)(uintptr_t)json;
}

static double number(const json_t *json, const char *path) {
    const json_t *value = at(json, path);
    return json_is_number(value) ? json_number_value(value) : 0;
}

static const char *text(const json_t *json, const char *path) {
    const char *value = json_string_value(at(json, path));
    return value ? value : "";
}

static bool is(const json_t *json, const char *path, const char *word) {
    return strcmp(text(json, path), word) == 0;
}

/* A new reference to it, or null. */
static json_t *copy_of(const json_t *json, const char *path) {
    json_t *value = at(json, path);
    return value ? json_incref(value) : json_null();
}

static json_t *count_json(double count) {
    return json_integer((json_int_t)count);
}

/* ---- the verdict ---- */

struct judged {
    enum check_verdict verdict;
    char why[WHY_MAX]; /* "" = nothing to say */
};

__attribute__((format(printf, 3, 4))) static struct judged
judged(struct judged *into, enum check_verdict verdict, const char *format, ...) {
    va_list args;
    into->verdict = verdict;
    va_start(args, format);
    vsnprintf(into->why, sizeof into->why, format, args);
    va_end(args);
    return *into;
}

/* "2 double holders, 1 lost update" of what is not zero. */
static char *counts_text(const json_t *stage, char *line, size_t size) {
    static const struct {
        const char *path, *one, *many;
    } counts[] = {
        {"exclusion.double_holders", "double holder", "double holders"},
        {"exclusion.expired_holders", "expired holder", "expired holders"},
        {"exclusion.lost_updates", "lost update", "lost updates"},
        {"exclusion.token_errors", "token that did not grow", "tokens that did not grow"},
        {"exclusion.early", "client let through early", "clients let through early"},
        {"history.violations", "contradiction in the history", "contradictions in the history"},
        {"history.token_errors", "wrong token in the history", "wrong tokens in the history"},
        {"history.expired", "hold past its lease in the history",
         "holds past their leases in the history"},
        {"store.stale_accepted_fenced", "stale write that passed the fence",
         "stale writes that passed the fence"}};
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < sizeof counts / sizeof *counts && used < size; i++) {
        double count = number(stage, counts[i].path);
        if (count <= 0) continue;
        used += (size_t)snprintf(line + used, size - used, "%s%.0f %s", used ? ", " : "", count,
                                 count > 1 ? counts[i].many : counts[i].one);
    }
    return line;
}

/* How many fault sections the stage's scenario has, by its ".fault": "wire-cut+server-kill" has
 * two. */
static int sections_of(const json_t *stage) {
    int count = 1;
    for (const char *plus = strchr(text(stage, "fault"), '+'); plus; plus = strchr(plus + 1, '+'))
        count++;
    return count;
}

/* When a section of the scenario first acted, as time in the window; -1 = it never did. What has no
 * word of it did act. */
static double first_acted_s(const json_t *stage, const char *section) {
    double first = -1;
    size_t i;
    json_t *fault;
    json_array_foreach(at(stage, "faults"), i, fault) {
        if (strcmp(text(fault, "section"), section) != 0) continue;
        if (json_is_false(json_object_get(fault, "acted"))) continue;
        double from_s = number(fault, "from_s");
        if (first < 0 || from_s < first) first = from_s > 0 ? from_s : 0;
    }
    return first;
}

/* When the last section of the scenario acted; -1 = not all of them did, and why. Each one is
 * needed: a promotion without the cut before it shows nothing. */
static double all_acted_s(const json_t *stage, char *why, size_t size) {
    double last = -1;
    int sections = 0;
    size_t i;
    json_t *fault;
    json_array_foreach(at(stage, "faults"), i, fault) {
        const char *section = text(fault, "section");
        size_t before = 0;
        while (before < i &&
               strcmp(text(json_array_get(at(stage, "faults"), before), "section"), section) != 0)
            before++;
        if (before < i) continue;
        double acted_s = first_acted_s(stage, section);
        if (acted_s < 0) {
            snprintf(why, size, "%.40s, %.40s, did not act: %.200s", section, text(fault, "kind"),
                     text(fault, "sign"));
            return -1;
        }
        last = acted_s > last ? acted_s : last;
        sections++;
    }
    if (sections >= sections_of(stage)) return last;
    if (sections == 0) {
        snprintf(why, size, "no fault acted");
        return -1;
    }
    snprintf(why, size, "%d of %d faults (%.200s) acted", sections, sections_of(stage),
             text(stage, "fault"));
    return -1;
}

static bool granted_after(const json_t *stage, double from_s) {
    size_t i;
    json_t *second;
    json_array_foreach(at(stage, "series"), i, second) {
        if (number(second, "t_s") >= from_s && number(second, "ok") > 0) return true;
    }
    /* Of several faults it may be an early one's. */
    return sections_of(stage) == 1 && number(stage, "recovery.count") > 0;
}

/* Whether what recovered did so within reason. */
static bool took_too_long(const json_t *stage, double *ret_max_ns, double *ret_theory_ns) {
    if (!json_is_number(at(stage, "recovery.max_ns"))) return false;
    if (!json_is_number(at(stage, "recovery.theory_max_ns"))) return false;
    *ret_max_ns = number(stage, "recovery.max_ns");
    *ret_theory_ns = number(stage, "recovery.theory_max_ns");
    return *ret_max_ns > CELL_STUCK_TIMES * *ret_theory_ns + CELL_STUCK_SLACK_NS;
}

/* Since when the lock has had the servers that a fault left or gave back, as time in the window;
 * -1 = it should have come back and has not. */
static double server_settled_s(const json_t *run, const json_t *fault) {
    const json_t *section = json_object_get(at(run, "plan"), text(fault, "section"));
    if (json_is_number(at(fault, "to_s"))) return number(fault, "to_s");
    return json_is_number(at(section, "for_ns")) && number(section, "for_ns") == 0
               ? number(fault, "from_s")
               : -1;
}

/* The servers that were hit are gone for good or back for long, and nobody was granted anything
 * since. */
static bool stays_away(const json_t *run, const json_t *stage, double acted_s) {
    bool hit = false;
    size_t i;
    json_t *fault;
    if (acted_s < 0 || !is(stage, "status", "complete") || number(stage, "exclusion.grants") == 0)
        return false;
    if (number(stage, "recovery.unrecovered") <= 0 || number(stage, "recovery.count") > 0)
        return false;
    json_array_foreach(at(stage, "faults"), i, fault) {
        if (strncmp(text(fault, "kind"), "server-", 7) != 0) continue;
        if (json_is_false(json_object_get(fault, "acted"))) continue;
        double settled_s = server_settled_s(run, fault);
        if (settled_s < 0 || number(stage, "duration_s") - settled_s < CELL_AWAY_S) return false;
        hit = true;
    }
    return hit && !granted_after(stage, acted_s);
}

/* Whether a history that the plan asks for is missing. What nobody holds has none, and neither has
 * a control that ran by another plan than the run's. */
static bool lacks_history(const json_t *run, const json_t *stage) {
    bool holds = !is(stage, "primitive", "latch") && !is(stage, "primitive", "optimistic");
    bool own = !json_is_string(at(stage, "workload"));
    return holds && own && json_is_true(at(run, "plan.check.history")) &&
           !json_is_object(at(stage, "history"));
}

static struct judged judge_stage(const json_t *run, const json_t *stage, bool needs_fault) {
    struct judged result = {0};
    char counts[WHY_MAX], not_acted[WHY_MAX];
    double max_ns, theory_ns, acted_s = all_acted_s(stage, not_acted, sizeof not_acted);
    counts_text(stage, counts, sizeof counts);
    if (is(stage, "exclusion.verdict", "violated") || is(stage, "history.verdict", "violated") ||
        number(stage, "store.stale_accepted_fenced") > 0)
        return judged(&result, CHECK_VIOLATED, "%s", counts);
    if (is(stage, "exclusion.verdict", "stuck")) {
        return judged(&result, CHECK_STUCK, "%.0f keys that are free and that nobody got any more",
                      number(stage, "exclusion.stuck"));
    }
    if (took_too_long(stage, &max_ns, &theory_ns)) {
        return judged(&result, CHECK_STUCK,
                      "the next grant came after %.1f s; theory: %.1f s at the most", max_ns / 1e9,
                      theory_ns / 1e9);
    }
    if (needs_fault && stays_away(run, stage, acted_s)) {
        return judged(&result, CHECK_STUCK,
                      "nobody was granted anything after the fault, until %.0f s later",
                      number(stage, "duration_s") - acted_s);
    }
    if (is(stage, "exclusion.verdict", "expired") || is(stage, "history.verdict", "expired"))
        return judged(&result, CHECK_EXPIRED, "%s", counts);
    if (!is(stage, "status", "complete"))
        return judged(&result, CHECK_FAILED, "%s", text(stage, "error"));
    if (number(stage, "exclusion.grants") == 0)
        return judged(&result, CHECK_INCONCLUSIVE, "nobody was ever granted anything");
    if (needs_fault && acted_s < 0) return judged(&result, CHECK_INCONCLUSIVE, "%s", not_acted);
    if (needs_fault && !granted_after(stage, acted_s))
        return judged(&result, CHECK_INCONCLUSIVE, "nobody was granted anything after the fault");
    if (lacks_history(run, stage))
        return judged(&result, CHECK_INCONCLUSIVE, "the history was not judged");
    if (number(stage, "history.dropped") > 0) {
        return judged(&result, CHECK_SAFE,
                      "%.0f records of the history were lost: the disk was too slow for them",
                      number(stage, "history.dropped"));
    }
    return result;
}

/* ---- a stage, a run ---- */

static json_t *recovery_json(const json_t *stage) {
    const json_t *recovery = at(stage, "recovery");
    if (!json_is_object(recovery)) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count",
                     copy_of(recovery, "count"), "min", copy_of(recovery, "min_ns"), "p50",
                     copy_of(recovery, "p50_ns"), "p90", copy_of(recovery, "p90_ns"), "max",
                     copy_of(recovery, "max_ns"), "theory_min", copy_of(recovery, "theory_min_ns"),
                     "theory_max", copy_of(recovery, "theory_max_ns"), "theory",
                     copy_of(recovery, "theory"), "trials", copy_of(recovery, "trials_ns"));
}

static json_t *recovered_json(const json_t *stage, enum check_verdict verdict) {
    if (verdict == CHECK_STUCK || number(stage, "exclusion.stuck") > 0) return json_false();
    if (number(stage, "recovery.unrecovered") > 0) return json_false(); /* though others were */
    return number(stage, "recovery.count") > 0 ? json_true() : json_null();
}

/* The longest from the end of a grant until its holder knew. */
static json_t *detect_json(const json_t *stage) {
    double worst = -1;
    static const char *const paths[] = {"exclusion.detect_ns_max", "recovery.detect.max_ns"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (json_is_number(at(stage, paths[i])) && number(stage, paths[i]) > worst)
            worst = number(stage, paths[i]);
    }
    return worst < 0 ? json_null() : count_json(worst);
}

static double greater(double a, double b) {
    return a > b ? a : b;
}

/* "redis 7.0.15": the stage's server, as it called itself. */
static json_t *server_json(const json_t *run, const json_t *stage) {
    size_t i;
    json_t *server;
    json_array_foreach(at(run, "servers"), i, server) {
        if (strcmp(text(server, "backend"), text(stage, "backend")) != 0) continue;
        const char *version = text(server, "facts.version");
        return json_sprintf("%s%s%s", text(stage, "backend"), *version ? " " : "", version);
    }
    return json_null();
}

static json_t *stage_seen(const json_t *run, const json_t *stage, bool needs_fault) {
    struct judged judged = judge_stage(run, stage, needs_fault);
    double grants = number(stage, "exclusion.grants");
    bool safe = judged.verdict == CHECK_SAFE && grants > 0;
    double overlaps = greater(
        number(stage, "exclusion.double_holders") + number(stage, "exclusion.expired_holders"),
        number(stage, "history.violations") + number(stage, "history.expired"));
    json_t *cell_result = json_object();
    const struct {
        const char *name;
        json_t *value;
    } members[] = {
        {"topology", copy_of(stage, "topology")},
        {"durability", copy_of(stage, "durability")},
        {"server", server_json(run, stage)},
        {"verdict", json_string(check_verdict_name(judged.verdict))},
        {"why", judged.why[0] ? json_string(judged.why) : json_null()},
        {"grants", count_json(grants)},
        {"bound95", safe ? json_real(3.0 / grants) : json_null()},
        {"overlaps", count_json(overlaps)},
        {"detected", count_json(number(stage, "exclusion.detected"))},
        {"detect_ns_max", detect_json(stage)},
        {"lost_updates", count_json(number(stage, "exclusion.lost_updates"))},
        {"stale_attempted", copy_of(stage, "store.stale_attempted")},
        {"stale_accepted_unfenced", copy_of(stage, "store.stale_accepted_unfenced")},
        {"stale_rejected_fenced", copy_of(stage, "store.stale_rejected_fenced")},
        {"stale_accepted_fenced", copy_of(stage, "store.stale_accepted_fenced")},
        {"recovered", recovered_json(stage, judged.verdict)},
        {"recovery_ns", recovery_json(stage)},
        {"unavailable_ns", copy_of(stage, "recovery.unavailable_ns")},
        {"grants_lost", copy_of(stage, "recovery.grants_lost")},
        {"lost_wakeups", copy_of(stage, "recovery.lost_wakeups")},
        {"inversions", copy_of(stage, "fairness.inversions")},
        {"residue", copy_of(stage, "residue")},
        {"lease_ns", copy_of(stage, "lease_ns")},
        {"clients", copy_of(stage, "clients")},
        {"faults", copy_of(stage, "faults")},
        {"counterexample", copy_of(stage, "history.counterexample")},
        {"timeline", copy_of(stage, "history.timeline")},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set_new(cell_result, members[i].name, members[i].value);
    return cell_result;
}

static json_t *nothing_seen(const char *why) {
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "verdict", check_verdict_name(CHECK_FAILED),
                     "why", why, "grants", 0, "overlaps", 0, "detected", 0, "lost_updates", 0);
}

json_t *cell_result_of_run(const json_t *run, const char *trouble, bool needs_fault) {
    json_t *all = NULL, *stage;
    size_t i;
    json_array_foreach(at(run, "stages"), i, stage) {
        json_t *one = stage_seen(run, stage, needs_fault);
        json_t *both = all ? cell_result_merge(all, one) : json_incref(one);
        json_decref(all);
        json_decref(one);
        all = both;
    }
    if (!all) return nothing_seen(trouble ? trouble : "the run has no stage");
    /* What it showed until then stays what it is, if it is bad. */
    if (trouble && cell_result_verdict(all) == CHECK_SAFE) {
        json_object_set_new(all, "verdict", json_string(check_verdict_name(CHECK_FAILED)));
        json_object_set_new(all, "bound95", json_null());
    }
    if (trouble && (cell_result_verdict(all) == CHECK_FAILED ||
                    cell_result_verdict(all) == CHECK_INCONCLUSIVE))
        json_object_set_new(all, "why", json_string(trouble));
    return all;
}

enum check_verdict cell_result_verdict(const json_t *cell_result) {
    for (int verdict = 0; verdict < CHECK_VERDICTS; verdict++) {
        if (is(cell_result, "verdict", check_verdict_name((enum check_verdict)verdict)))
            return (enum check_verdict)verdict;
    }
    return CHECK_FAILED;
}

int cell_result_trials(const json_t *cell_result) {
    return (int)json_array_size(at(cell_result, "recovery_ns.trials"));
}

/* ---- beside the expectation ---- */

enum check_compared cell_result_compare(enum check_verdict verdict, enum lb_expect expected) {
    static const int rank_expected[] = {[LB_EXPECT_SAFE] = CHECK_SAFE,
                                        [LB_EXPECT_EXPIRED] = CHECK_EXPIRED,
                                        [LB_EXPECT_STUCK] = CHECK_STUCK,
                                        [LB_EXPECT_VIOLATED] = CHECK_VIOLATED};
    if (expected == LB_EXPECT_UNSTATED || verdict == CHECK_INCONCLUSIVE || verdict == CHECK_FAILED)
        return CHECK_NOT_COMPARED;
    if ((int)verdict == rank_expected[expected]) return CHECK_AS_EXPECTED;
    return (int)verdict > rank_expected[expected] ? CHECK_WORSE : CHECK_BETTER;
}

const char *cell_result_compared_name(enum check_compared compared) {
    static const char *const names[] = {
        [CHECK_AS_EXPECTED] = "as expected", [CHECK_WORSE] = "worse", [CHECK_BETTER] = "better"};
    return compared == CHECK_NOT_COMPARED ? NULL : names[compared];
}
