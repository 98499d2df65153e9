/* model: see model.h. This file makes the locks and their verdicts; model_rows.c makes the
 * tables. */
#define _GNU_SOURCE
#include "report/run/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "results/format/bound.h"

static bool equal(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* The simulator has known answers for the tool's own tests: people can't use it as a lock. */
bool report_is_real(const struct run_stage *stage) {
    bool simulated = stage->backend && strcmp(stage->backend, "sim") == 0;
    return !stage->control && !stage->baseline && !simulated;
}

bool report_is_aside_stage(const struct run_stage *stage) {
    return stage->aside || stage->again;
}

bool report_limited(const struct run_stage *stage) {
    return equal(stage->limited_by, "generator");
}

bool report_competes(const struct run_stage *stage) {
    bool own = equal(stage->keys, "own") || equal(stage->key_distribution, "own");
    return !stage->baseline && stage->clients >= 2 && !own;
}

double report_count(double count) {
    return isnan(count) ? 0 : count;
}

double run_failed_requests(const struct run_stage *stage) {
    return report_count(stage->refused) + report_count(stage->broken) +
           report_count(stage->unknown);
}

/* False for a distribution, "exp:5ms". */
static bool is_no_time(const char *time) {
    if (!time) return true;
    char *end;
    return strtod(time, &end) == 0 && end > time;
}

double report_most_holders(const struct run_stage *stage) {
    char *end;
    double keys = stage->keys ? strtod(stage->keys, &end) : NAN;
    double places = equal(stage->primitive, "semaphore") ? stage->bound / stage->permits : 1;
    if (!stage->keys || end == stage->keys) return NAN;
    return keys * places;
}

bool report_wait_is_fixed(const struct run_stage *stage) {
    bool waits = !stage->mode || equal(stage->mode, "wait");
    bool always = equal(stage->arrival, "closed") && is_no_time(stage->think);
    return report_competes(stage) && waits && always && !(stage->tick_ns > 0) &&
           stage->clients > report_most_holders(stage);
}

bool report_incomplete(const struct run_stage *stage) {
    return stage->status && strcmp(stage->status, "complete") != 0;
}

static bool says(const struct run_stage *stage, enum verdict verdict) {
    return verdict_is(stage->verdict, verdict);
}

/* True if no two clients held at once, and only the tokens or what depends on them were wrong. */
static bool only_tokens(const struct run_stage *stage) {
    const double others[] = {stage->lost_updates, stage->double_holders, stage->expired_holders,
                             stage->revoked, stage->ended};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] > 0) return false;
    }
    return stage->token_errors > 0;
}

enum lock_state report_stage_state(const struct run_stage *stage) {
    if (stage->baseline || says(stage, VERDICT_BASELINE)) return LOCK_BASELINE;
    if (says(stage, VERDICT_VIOLATED))
        return stage->control       ? LOCK_CAUGHT
               : only_tokens(stage) ? LOCK_TOKENS
               : stage->revoked > 0 ? LOCK_REVOKED
                                    : LOCK_VIOLATED;
    if (says(stage, VERDICT_EXPIRED))
        return stage->control ? LOCK_CAUGHT : stage->ended > 0 ? LOCK_ENDED : LOCK_EXPIRED;
    if (says(stage, VERDICT_STUCK)) return stage->control ? LOCK_CAUGHT : LOCK_STUCK;
    if (says(stage, VERDICT_STARVED) && !stage->control)
        return stage->held_elsewhere > 0 ? LOCK_HELD : LOCK_STARVED;
    bool untested =
        says(stage, VERDICT_UNTESTED) || (says(stage, VERDICT_CLEAN) && stage->tested_grants == 0);
    bool nothing_wrong = untested || says(stage, VERDICT_CLEAN) || says(stage, VERDICT_STARVED);
    if (!nothing_wrong || !(stage->checked_grants > 0)) return LOCK_UNCHECKED;
    if (!report_competes(stage)) return LOCK_ALONE;
    if (stage->control) return stage->exposed_by ? LOCK_HIDDEN : LOCK_MISSED;
    return untested ? LOCK_ALONE : LOCK_CLEAN;
}

enum lock_state report_worse(enum lock_state a, enum lock_state b) {
    /* A short stage of a control may see nothing by chance. */
    if ((a == LOCK_CAUGHT && b == LOCK_MISSED) || (a == LOCK_MISSED && b == LOCK_CAUGHT))
        return LOCK_CAUGHT;
    return a > b ? a : b;
}

bool report_is_yours(const struct run_server *server) {
    return server && server->started_by && equal(server->started_by, "url");
}

const char *report_server_name(const struct run_server *server) {
    if (report_is_yours(server) && server->backend) return server->backend;
    return server->topology ? server->topology : server->backend ? server->backend : "?";
}

const char *report_server_version(const struct run_server *server) {
    return server ? json_string_value(json_object_get(server->facts, "version")) : NULL;
}

bool report_is_of(const struct report_lock *lock, const struct run_stage *stage) {
    const char *mine = lock->stage->topology, *its = stage->topology;
    return strcmp(lock->name, stage->lock) == 0 && (mine == its || equal(mine, its));
}

static bool is_reached(const struct run *run, const char *lock) {
    for (int s = 0; s < run->stage_count; s++)
        if (strcmp(run->stages[s].lock, lock) == 0) return true;
    for (int i = 0; i < run->skip_count; i++)
        if (equal(run->skips[i].lock, lock)) return true;
    return false;
}

const char *report_not_reached(const struct run *run, size_t *at) {
    const json_t *locks = json_object_get(run->plan, "locks");
    while (*at < json_array_size(locks)) {
        const char *lock = json_string_value(json_array_get(locks, (*at)++));
        if (lock && !is_reached(run, lock)) return lock;
    }
    return NULL;
}

int report_count_not_reached(const struct run *run) {
    size_t at = 0;
    int count = 0;
    while (report_not_reached(run, &at)) count++;
    return count;
}

struct report_lock *report_lock_of(const struct report *report, const struct run_stage *stage) {
    for (int i = 0; i < report->lock_count; i++) {
        if (report_is_of(&report->locks[i], stage)) return &report->locks[i];
    }
    return NULL;
}

/* True if the run has the lock on several topologies. */
static bool is_elsewhere_too(const struct run *run, const struct run_stage *stage) {
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *other = &run->stages[s];
        if (strcmp(other->lock, stage->lock) == 0 && other->topology && stage->topology &&
            strcmp(other->topology, stage->topology) != 0)
            return true;
    }
    return false;
}

static struct report_lock *add_report_lock(struct report *report, const struct run_stage *stage) {
    struct report_lock *lock = &report->locks[report->lock_count];
    bool elsewhere = is_elsewhere_too(report->run, stage);
    *lock = (struct report_lock){.name = stage->lock,
                                 .stage = stage,
                                 .state = LOCK_BASELINE,
                                 .inside_ns = NAN,
                                 .round_trip_ns = NAN};
    if (asprintf(&lock->label, "%s%s%s", stage->lock, elsewhere ? " @" : "",
                 elsewhere ? stage->topology : "") < 0) {
        lock->label = NULL;
        return NULL;
    }
    report->lock_count++;
    return lock;
}

void report_add_counts(struct run_stage *sums, const struct run_stage *stage) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        double sum = field->sums ? result_field_figure(field, sums) : NAN;
        double more = field->sums ? result_field_figure(field, stage) : NAN;
        if (!isnan(more)) result_field_set_figure(field, sums, isnan(sum) ? more : sum + more);
    }
}

static void note_exposure(struct report_lock *lock, const struct run_stage *stage) {
    lock->competing +=
        report_count(isnan(stage->tested_grants) ? stage->checked_grants : stage->tested_grants);
    if (isnan(stage->inside_mean_ns) || stage->inside_mean_ns <= lock->inside_ns) return;
    lock->inside_ns = stage->inside_mean_ns;
    lock->round_trip_ns = stage->latency[METRIC_PING].p50;
}

double report_known(const struct report_lock *lock, double count) {
    return lock->checked ? count : NAN;
}

bool report_hardly_tested(const struct report_lock *lock) {
    return bound_hardly_tested(lock->inside_ns, lock->round_trip_ns);
}

double report_bound(const struct report_lock *lock) {
    bool known = lock->state == LOCK_CLEAN && !report_hardly_tested(lock);
    return known ? bound_of_grants(lock->competing) : NAN;
}

static void judge(struct report_lock *lock, const struct run_stage *stage) {
    enum lock_state state = report_stage_state(stage);
    lock->state = report_worse(lock->state, state);
    if (state >= LOCK_REVOKED) {
        lock->unstepped |= !((!stage->crash || equal(stage->crash, "lease")) &&
                             stage->wall_step_ns > (double)stage->lease_ns / 2);
        lock->stepped = !lock->unstepped;
    }
    lock->checked |= !isnan(stage->checked_grants);
    report_add_counts(&lock->sums, stage);
    if (report_competes(stage)) note_exposure(lock, stage);
    if (stage->residue > 0 && (!lock->residue || stage->residue > lock->residue->residue))
        lock->residue = stage;
    if (!lock->overlap && stage->overlap) lock->overlap = stage;
    if (!lock->ending && stage->ended > 0) lock->ending = stage;
    if (report_incomplete(stage)) lock->partial = true;
}

/* The stage of a lock on the servers of another stage; NULL if there is none. */
static const struct run_stage *stage_beside(const struct run *run, const struct run_stage *stage,
                                            const char *lock) {
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *other = &run->stages[s];
        if (strcmp(other->lock, lock) == 0 && equal(other->topology, stage->topology) &&
            equal(other->backend, stage->backend))
            return other;
    }
    return NULL;
}

/* Orders the locks on a stage's servers by the plan, since the stages ran in a random order. 0, or
 * -1 when out of memory. */
static int add_locks_beside(struct report *report, const struct run_stage *stage) {
    const struct run *run = report->run;
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(run->plan, "locks"), i, name) {
        const char *lock = json_string_value(name);
        const struct run_stage *other = lock ? stage_beside(run, stage, lock) : NULL;
        if (other && !report_lock_of(report, other) && !add_report_lock(report, other)) return -1;
    }
    return report_lock_of(report, stage) || add_report_lock(report, stage) ? 0 : -1;
}

static int make_locks(struct report *report) {
    report->locks = calloc((size_t)report->run->stage_count + 1, sizeof *report->locks);
    if (!report->locks) return -1;
    for (int s = 0; s < report->run->stage_count; s++) {
        const struct run_stage *stage = &report->run->stages[s];
        if (!report_lock_of(report, stage) && add_locks_beside(report, stage) != 0) return -1;
        judge(report_lock_of(report, stage), stage);
    }
    return 0;
}

/* True for one statement where clients of other rows hold a lock for some time: nobody is kept out for
 * that time, so that the statement ranks beside no lock. */
static bool holds_nothing(const struct run_stage *stage) {
    return stage->atomic && !equal(stage->hold, "0");
}

/* If some locks were tested, a lock that was not is no candidate; if none was, all are equal. */
static void mark_candidates(struct report *report) {
    bool tested = false;
    for (int i = 0; i < report->lock_count; i++) tested |= report->locks[i].state >= LOCK_CLEAN;
    for (int g = 0; g < report->group_count; g++) {
        for (int r = 0; r < report->groups[g].row_count; r++) {
            struct report_row *row = &report->groups[g].rows[r];
            const struct report_lock *lock = row->lock;
            /* As in compare and in a history, what did not come to its end shows no speed. */
            bool whole = row->incomplete < row->repeats;
            row->candidate = whole && report_is_real(lock->stage) && !holds_nothing(row->typical) &&
                             (lock->state == LOCK_CLEAN || (lock->state == LOCK_ALONE && !tested));
        }
    }
}

struct report *report_make(struct run *run, struct lb_err *err) {
    struct report *report = calloc(1, sizeof *report);
    if (!report) {
        run_free(run);
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    report->run = run;
    report->partial = run->partial;
    int failed = make_locks(report) || report_make_groups(report);
    if (!failed) {
        mark_candidates(report);
        failed = report_rank(report);
    }
    for (int i = 0; i < report->lock_count; i++) report->partial |= report->locks[i].partial;
    if (!failed) return report;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    report_free(report);
    return NULL;
}

struct report *report_load(const char *path, struct lb_err *err) {
    struct run *run = run_read(path, err);
    return run ? report_make(run, err) : NULL;
}

struct report *report_from_json(json_t *json, const char *path, struct lb_err *err) {
    struct run *run = run_from_json(json, path, err);
    return run ? report_make(run, err) : NULL;
}

void report_free(struct report *report) {
    if (!report) return;
    for (char **load = report->loads; load && *load; load++) free(*load);
    free(report->loads);
    free(report->stages);
    free(report->rows);
    free(report->classes);
    free(report->by_rank);
    free(report->groups);
    for (int i = 0; i < report->lock_count; i++) free(report->locks[i].label);
    free(report->locks);
    run_free(report->run);
    free(report);
}
