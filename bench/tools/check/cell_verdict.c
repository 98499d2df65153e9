/* cell_verdict: the verdict on a stage of a cell's run, and its comparison with what was expected;
 * see cell_result.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "bench/tools/check/cell_result.h"
#include "bench/workload/plan.h"
#include "results/format/bound.h"
#include "results/format/tree.h"

/* A number of an element of the stage's faults or series; 0 if there is none. */
static double number_of(const json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

/* The next of the stage's faults that acted, from *at on; NULL = there is none. */
static const json_t *next_acted(const struct run_stage *stage, size_t *at) {
    const json_t *fault;
    while ((fault = json_array_get(stage->faults, (*at)++)) &&
           json_is_false(json_object_get(fault, "acted"))) {
    }
    return fault;
}

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

__attribute__((format(printf, 3, 4))) static enum check_verdict
verdict_because(char *why, enum check_verdict verdict, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, CELL_WHY_MAX, format, args);
    va_end(args);
    return verdict;
}

/* Writes the counts that are not zero: "2 double holders, 1 lost update". */
static void write_counts(const struct run_stage *stage, char *line, size_t size) {
    const struct {
        double count;
        const char *one, *many;
    } counts[] = {{stage->double_holders, "double holder", "double holders"},
                  {stage->expired_holders, "expired holder", "expired holders"},
                  {stage->revoked, "grant lost inside its lease or session",
                   "grants lost inside their leases or sessions"},
                  {stage->ended, "session ended by the server", "sessions ended by the server"},
                  {stage->lost_updates, "lost update", "lost updates"},
                  {stage->token_errors, "token that did not grow", "tokens that did not grow"},
                  {stage->stale_accepted_fenced, "stale write that passed the fence",
                   "stale writes that passed the fence"},
                  {stage->refused_fenced, "write of the rightful holder that the fence refused",
                   "writes of the rightful holder that the fence refused"}};
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < sizeof counts / sizeof *counts && used < size; i++) {
        double count = counts[i].count;
        if (!(count > 0)) continue;
        used += (size_t)snprintf(line + used, size - used, "%s%.0f %s", used ? ", " : "", count,
                                 count > 1 ? counts[i].many : counts[i].one);
    }
}

/* The number of fault sections in the stage's scenario, from its ".fault": "wire-cut+server-kill"
 * has two. */
static int sections_of(const struct run_stage *stage) {
    int count = 1;
    for (const char *plus = stage->fault ? strchr(stage->fault, '+') : NULL; plus;
         plus = strchr(plus + 1, '+'))
        count++;
    return count;
}

/* Whether a server that loses its grants in a restart (its memory, or all its data) was to be back within a lease, but
 * came back after the last of these grants had ended. Such a restart tests nothing: no lost grant could be granted
 * twice. False in scenarios of several sections, where other servers serve meanwhile. */
static bool fault_was_late(const struct run *run, const struct run_stage *stage,
                           const json_t *fault) {
    const json_t *section = json_object_get(run->plan, tree_word(fault, "section"));
    const char *kind = tree_word(fault, "kind");
    const json_t *outlasted = json_object_get(fault, "outlasted");
    bool killed = strcmp(kind, "server-kill") == 0;
    bool forgets = strcmp(kind, "server-empty") == 0 ||
                   (killed && durability_from(stage->durability_class) == DURABILITY_MEMORY);
    if (!forgets || sections_of(stage) > 1) return false;
    if (number_of(section, "for_ns") >= stage->lease_ns) return false;
    return number_of(fault, "held") > 0 && json_is_integer(outlasted) &&
           json_integer_value(outlasted) == 0;
}

/* Whether the fault put the lock to the test. */
static bool tested_lock(const json_t *fault) {
    const json_t *tested = json_object_get(fault, "tested");
    if (strcmp(tree_word(fault, "target"), "waiter") == 0) return true;
    return !json_is_integer(tested) || json_integer_value(tested) > 0;
}

static int section_of(const json_t *fault) {
    const char *name = tree_word(fault, "section");
    return strncmp(name, "fault.", 6) == 0 ? atoi(name + 6) - 1 : 0;
}

/* Whether both are of one injection, which hit several servers. */
static bool is_same_injection(const json_t *a, const json_t *b) {
    const json_t *injection = json_object_get(a, "injection");
    return injection && section_of(a) == section_of(b) &&
           json_equal(injection, json_object_get(b, "injection")) == 1;
}

static bool is_trial(const struct run *run, const struct run_stage *stage, const json_t *fault,
                     bool broken) {
    /* A broken one: it met a holder (or a waiter, if it was to hit one). */
    const json_t *held = json_object_get(fault, "held");
    if (broken) return tested_lock(fault) || json_number_value(held) > 0;
    return tested_lock(fault) && !fault_was_late(run, stage, fault);
}

/* The kind of the scenario's last section. A step before it, such as a cut of the replication, only prepares the fault
 * that the lock is to survive. */
static const char *decisive_kind(const struct run_stage *stage) {
    const json_t *last = NULL, *fault;
    size_t i;
    json_array_foreach(stage->faults, i, fault) {
        if (!last || section_of(fault) > section_of(last)) last = fault;
    }
    return tree_word(last, "kind");
}

/* An injection counts once, however many servers it hit: with the first of its faults. It is a trial if one of them is. */
struct cell_trials cell_trials(const struct run *run, const struct run_stage *stage, bool broken) {
    int acted[PLAN_FAULTS_MAX] = {0}, hit = 0, rounds = 0;
    const char *decisive = decisive_kind(stage);
    const json_t *fault, *other;
    for (size_t at = 0; (fault = next_acted(stage, &at));) {
        int section = section_of(fault);
        bool first = true, counts = is_trial(run, stage, fault, broken);
        for (size_t other_at = 0; (other = next_acted(stage, &other_at));) {
            if (other == fault || !is_same_injection(fault, other)) continue;
            first &= other_at > at;
            counts |= is_trial(run, stage, other, broken);
        }
        if (!first || section < 0 || section >= PLAN_FAULTS_MAX) continue;
        acted[section]++;
        if (broken || strcmp(tree_word(fault, "kind"), decisive) == 0) hit += counts;
    }
    for (int section = 0; section < PLAN_FAULTS_MAX; section++) {
        if (acted[section] > 0 && (rounds == 0 || acted[section] < rounds)) rounds = acted[section];
    }
    if (hit > rounds) hit = rounds;
    return (struct cell_trials){hit, rounds - hit};
}

/* The first fault that acted, if all that acted were too late; else NULL. */
static const json_t *all_too_late(const struct run *run, const struct run_stage *stage) {
    const json_t *fault, *first = NULL;
    for (size_t at = 0; (fault = next_acted(stage, &at));) {
        if (!fault_was_late(run, stage, fault)) return NULL;
        if (!first) first = fault;
    }
    return first;
}

/* The first fault of a section that acted; if none did, the first one; NULL if there is none. */
static const json_t *first_of(const struct run_stage *stage, int section) {
    const json_t *fault, *idle = NULL;
    size_t i;
    json_array_foreach(stage->faults, i, fault) {
        if (section_of(fault) != section) continue;
        if (!json_is_false(json_object_get(fault, "acted"))) return fault;
        if (!idle) idle = fault;
    }
    return idle;
}

/* The time in the window at which the last section of the scenario acted; -1 = not all of them did, and `why`
 * says why. Each one is needed: a promotion without the cut before it shows nothing. */
static double all_acted_s(const struct run_stage *stage, char *why, size_t size) {
    double last = -1;
    int sections = 0;
    for (int section = 0; section < PLAN_FAULTS_MAX; section++) {
        const json_t *fault = first_of(stage, section);
        if (!fault) continue;
        if (json_is_false(json_object_get(fault, "acted"))) {
            snprintf(why, size, "%.40s, %.40s, did not act: %.200s", tree_word(fault, "section"),
                     tree_word(fault, "kind"), tree_word(fault, "sign"));
            return -1;
        }
        last = fmax(last, fmax(0, number_of(fault, "from_s")));
        sections++;
    }
    if (sections >= sections_of(stage)) return last;
    if (sections == 0)
        snprintf(why, size, "no fault acted");
    else
        snprintf(why, size, "%d of %d faults (%.200s) acted", sections, sections_of(stage),
                 stage->fault ? stage->fault : "");
    return -1;
}

static bool granted_after(const struct run_stage *stage, double from_s) {
    size_t i;
    json_t *second;
    json_array_foreach(stage->series, i, second) {
        if (number_of(second, "t_s") >= from_s && number_of(second, "ok") > 0) return true;
    }
    /* If there are several faults, the recovery may be from an earlier one. */
    return sections_of(stage) == 1 && stage->recovery_count > 0;
}

/* For how long lockbench itself stood still in the window, so that no client could get a grant. */
static double stood_still_ns(const struct run_stage *stage) {
    return isnan(stage->stood_still_ns) ? 0 : stage->stood_still_ns;
}

/* True if the slowest recovery took much longer than the theory of the lock says. */
static bool took_too_long(const struct run_stage *stage, double *ret_max_ns,
                          double *ret_theory_ns) {
    *ret_max_ns = stage->recovery_max;
    *ret_theory_ns = stage->theory_max;
    /* false if one of them is not known (NAN) */
    return *ret_max_ns - stood_still_ns(stage) >
           CELL_STUCK_TIMES * *ret_theory_ns + VERDICT_STUCK_PATIENCE_NS;
}

/* The time in the window since which the lock has had the servers that a fault left or gave back;
 * -1 = a server should have come back and has not. */
static double server_settled_s(const struct run *run, const json_t *fault) {
    const json_t *section = json_object_get(run->plan, tree_word(fault, "section"));
    if (json_is_number(json_object_get(fault, "to_s"))) return number_of(fault, "to_s");
    return json_is_number(json_object_get(section, "for_ns")) && number_of(section, "for_ns") == 0
               ? number_of(fault, "from_s")
               : -1;
}

/* True if a client got a grant after the fault, by the history of operations. A lock without holders has no history,
 * only its grants of each second. An attempt from before the fault may be counted in a second long after the fault,
 * when its release ends, so for such locks only the end of the window counts. */
static bool recovered(const struct run_stage *stage) {
    if (isnan(stage->unrecovered)) return granted_after(stage, stage->duration_s - CELL_AWAY_S);
    return !(stage->unrecovered > 0) || stage->recovery_count > 0;
}

static bool hits_servers(const json_t *fault) {
    return strncmp(tree_word(fault, "kind"), "server-", 7) == 0;
}

/* True if the servers that were hit are gone for good, or have been back for long, and no client
 * got a grant since. */
static bool stays_away(const struct run *run, const struct run_stage *stage, double acted_s) {
    /* While lockbench stood still so did its servers, and an election that was late begins anew. */
    double lost_s = 2 * stood_still_ns(stage) / 1e9;
    bool hit = false;
    const json_t *fault;
    if (acted_s < 0 || !is(stage->status, "complete") || !(stage->checked_grants > 0)) return false;
    if (recovered(stage)) return false;
    for (size_t at = 0; (fault = next_acted(stage, &at));) {
        if (!hits_servers(fault)) continue;
        double settled_s = server_settled_s(run, fault);
        if (settled_s < 0 || stage->duration_s - lost_s - settled_s < CELL_AWAY_S) return false;
        hit = true;
    }
    return hit;
}

/* True if a history that the plan asks for is missing. Optimistic locks, which nobody holds, have none. */
static bool lacks_history(const struct run *run, const struct run_stage *stage) {
    bool holds = !is(stage->primitive, "optimistic");
    return holds && json_is_true(tree_at(run->plan, "check.history")) && !stage->history_model;
}

/* Why no fault put the lock to the test, though all acted. */
static void say_no_trial(const struct run_stage *stage, char *why) {
    bool met_holder = false, hit_clients = false;
    const char *decisive = decisive_kind(stage);
    const json_t *fault;
    for (size_t at = 0; (fault = next_acted(stage, &at));) {
        if (strcmp(tree_word(fault, "kind"), decisive) != 0) continue;
        met_holder |= number_of(fault, "held") > 0;
        hit_clients |= json_is_integer(json_object_get(fault, "process"));
    }
    const char *text =
        "not tested: who held when the fault acted had left before another client asked for its "
        "key and a server was known to answer, and no server said later that it still knew the "
        "grant; longer holds of different length may show more (--set load.hold=exponential:8s, "
        "and a longer acquire.lease)";
    if (!met_holder) {
        text = "no client held a grant when the fault acted: nothing put the lock to the test";
    } else if (hit_clients) {
        text = "not tested: no other client asked for the key of a holder that was hit while that "
               "holder was inside (of a killed one: afterwards); fewer keys or more clients may "
               "show more (--set load.keys=1)";
    }
    snprintf(why, CELL_WHY_MAX, "%s", text);
}

/* A machine that is too busy for lockbench is too busy for its servers, too. */
static void say_not_granted(const struct run_stage *stage, char *why) {
    double still_s = stood_still_ns(stage) / 1e9;
    size_t used =
        (size_t)snprintf(why, CELL_WHY_MAX, "nobody was granted anything after the fault");
    if (still_s >= 0.5)
        snprintf(why + used, CELL_WHY_MAX - used, "; lockbench itself stood still for %.1f s",
                 still_s);
}

/* False if the scenario did not put the lock to the test, and `why` says why. not_acted: why acted_s is
 * below 0. *ret_no_trial: the faults acted, and clients were granted the lock after them. */
static bool was_tried(const struct run *run, const struct run_stage *stage, double acted_s,
                      const char *not_acted, char *why, bool *ret_no_trial) {
    const json_t *late = all_too_late(run, stage);
    bool granted = acted_s >= 0 && granted_after(stage, acted_s);
    *ret_no_trial = granted && cell_trials(run, stage, false).hit == 0;
    if (acted_s < 0) {
        snprintf(why, CELL_WHY_MAX, "%s", not_acted);
    } else if (late) {
        snprintf(why, CELL_WHY_MAX,
                 "the server was back only after its holders' grants had ended: %.200s",
                 tree_word(late, "sign"));
    } else if (!granted) {
        say_not_granted(stage, why);
    } else if (*ret_no_trial) {
        say_no_trial(stage, why);
    } else {
        return true;
    }
    return false;
}

bool cell_was_hardly_tested(const struct run_stage *stage) {
    return bound_hardly_tested(stage->inside_mean_ns, stage->latency[METRIC_PING].p50);
}

/* Whether an injection took servers away. */
static bool servers_were_hit(const struct run_stage *stage) {
    const json_t *fault;
    for (size_t at = 0; (fault = next_acted(stage, &at));) {
        if (hits_servers(fault)) return true;
    }
    return false;
}

/* What a safe cell tells although it decides no verdict. */
static void tell_besides(const struct run_stage *stage, char *why) {
    /* Holders that let go before a server answered again meet nobody, whatever the servers have forgotten. */
    if (stage->grants_lost > 0 && servers_were_hit(stage)) {
        verdict_because(why, CHECK_SAFE,
                        "%.0f grant%s lost, though no holder met another one: it was told, or had "
                        "called release by then",
                        stage->grants_lost, stage->grants_lost == 1 ? " was" : "s were");
    } else if (stage->lost_wakeups > 0) {
        /* A server that stood still for a moment looks the same. */
        verdict_because(why, CHECK_SAFE,
                        "%.0f lost wake-up%s: the key had been free for longer than half a lease "
                        "when a waiter got it",
                        stage->lost_wakeups, stage->lost_wakeups == 1 ? "" : "s");
    }
}

/* The verdict on a stage that shows nothing wrong: whether it could have. acted_s, not_acted: as of was_tried. */
static enum check_verdict verdict_on_good(const struct run *run, const struct run_stage *stage,
                                          bool needs_fault, double acted_s, const char *not_acted,
                                          char *why, bool *ret_no_trial) {
    /* No client waits for a control that lets every client in, so the control was missed. */
    if (!needs_fault && !stage->control && verdict_is(stage->verdict, VERDICT_UNTESTED))
        return verdict_because(
            why, CHECK_INCONCLUSIVE,
            "no client ever waited for another: nothing put the lock to the test");
    bool no_trial = false, judged = !lacks_history(run, stage);
    if (needs_fault && !was_tried(run, stage, acted_s, not_acted, why, &no_trial)) {
        *ret_no_trial = no_trial && judged;
        return CHECK_INCONCLUSIVE;
    }
    if (!judged) return verdict_because(why, CHECK_INCONCLUSIVE, "the history was not judged");
    if (stage->history_dropped > 0) {
        return verdict_because(
            why, CHECK_SAFE,
            "%.0f records of the history were lost: the disk was too slow for them",
            stage->history_dropped);
    }
    if (!needs_fault && cell_was_hardly_tested(stage))
        return verdict_because(
            why, CHECK_SAFE,
            "exclusion was hardly tested: holders were inside for %.3g ms, and a round trip took %.3g ms",
            stage->inside_mean_ns / 1e6, stage->latency[METRIC_PING].p50 / 1e6);
    tell_besides(stage, why);
    return CHECK_SAFE;
}

enum check_verdict cell_verdict(const struct run *run, const struct run_stage *stage,
                                bool needs_fault, char *why, bool *ret_no_trial) {
    char counts[CELL_WHY_MAX], not_acted[CELL_WHY_MAX];
    double max_ns, theory_ns, acted_s = all_acted_s(stage, not_acted, sizeof not_acted);
    why[0] = '\0';
    *ret_no_trial = false;
    write_counts(stage, counts, sizeof counts);
    if (verdict_is(stage->verdict, VERDICT_VIOLATED) || stage->stale_accepted_fenced > 0)
        return verdict_because(why, CHECK_VIOLATED, "%s", counts);
    if (verdict_is(stage->verdict, VERDICT_STUCK)) {
        return verdict_because(why, CHECK_STUCK, "%.0f key%s free and that nobody got any more",
                               stage->stuck, stage->stuck == 1 ? " that is" : "s that are");
    }
    if (took_too_long(stage, &max_ns, &theory_ns)) {
        return verdict_because(why, CHECK_STUCK,
                               "the next grant came after %.1f s; theory: %.1f s at the most",
                               max_ns / 1e9, theory_ns / 1e9);
    }
    if (needs_fault && stays_away(run, stage, acted_s)) {
        return verdict_because(
            why, CHECK_STUCK,
            "no client got a grant in the %.0f s from the fault to the end of the window",
            stage->duration_s - acted_s);
    }
    /* Beside what a fault planned: a holder may have outlived its lease by that alone. */
    bool stood = fmin(stood_still_ns(stage), stage->latency[METRIC_HICCUP].max) > stage->lease_ns;
    bool expired = verdict_is(stage->verdict, VERDICT_EXPIRED);
    if (expired && stood) {
        *ret_no_trial = true; /* so it is tried again */
        return verdict_because(
            why, CHECK_INCONCLUSIVE,
            "%s; lockbench itself stood still for %.1f s, longer than the lease of %.1f s", counts,
            stood_still_ns(stage) / 1e9, stage->lease_ns / 1e9);
    }
    if (expired) return verdict_because(why, CHECK_EXPIRED, "%s", counts);
    if (!is(stage->status, "complete"))
        return verdict_because(why, CHECK_FAILED, "%s", stage->error ? stage->error : "");
    if (!(stage->checked_grants > 0))
        return verdict_because(why, CHECK_INCONCLUSIVE, "nobody was ever granted anything");
    if (verdict_is(stage->verdict, VERDICT_UNCHECKED))
        return verdict_because(why, CHECK_INCONCLUSIVE,
                               "nobody was granted anything in the window");
    if (verdict_is(stage->verdict, VERDICT_STARVED))
        return verdict_because(
            why, CHECK_INCONCLUSIVE,
            "%.0f clients waited for the whole window, or until the drain limit ended their waits",
            fmax(stage->starved, 0) + fmax(stage->passed_over, 0));
    return verdict_on_good(run, stage, needs_fault, acted_s, not_acted, why, ret_no_trial);
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
