/* run_self: the self-checks of the stages: their number in a line, and the failed ones in
 * sentences. See run_doc.h. */
#include <math.h>
#include <string.h>

#include "report/run/run_doc.h"

#define NAMES_MAX 16

struct tally {
    int passed, failed, other, stages; /* stages: the number of stages that have checks */
    int bad_stages;
    const char *name[NAMES_MAX]; /* the names of checks that failed, with the number of stages */
    int count[NAMES_MAX];
    int name_count;
};

static void count_failed(struct tally *tally, const char *name) {
    int at = 0;
    while (at < tally->name_count && strcmp(tally->name[at], name) != 0) at++;
    if (at == NAMES_MAX) return;
    if (at == tally->name_count) tally->name[tally->name_count++] = name;
    tally->count[at]++;
}

static void count_stage(struct tally *tally, const struct run_stage *stage) {
    size_t i;
    const json_t *check;
    int failed = tally->failed;
    tally->stages += json_array_size(stage->self_checks) > 0;
    json_array_foreach(stage->self_checks, i, check) {
        const char *result = doc_or(json_string_value(json_object_get(check, "result")), "");
        bool bad = strcmp(result, "failed") == 0, good = strcmp(result, "passed") == 0;
        tally->passed += good;
        tally->failed += bad;
        tally->other += !good && !bad;
        if (bad)
            count_failed(tally, doc_or(json_string_value(json_object_get(check, "name")), "?"));
    }
    tally->bad_stages += tally->failed > failed;
}

static struct tally tally_of(const struct run *run) {
    struct tally tally = {0};
    for (int s = 0; s < run->stage_count; s++) count_stage(&tally, &run->stages[s]);
    return tally;
}

static bool has_moved(const struct run *run) {
    return json_is_true(json_object_get(run->canary, "moved"));
}

bool run_machine_changed(const struct report *report) {
    bool moved = false;
    for (int r = 0; r < report->run_count; r++) moved |= has_moved(report->runs[r]);
    return moved;
}

/* The load generator's own speed, measured before the run and after it. */
static void say_moved(const struct run *run, struct doc *doc) {
    if (!has_moved(run)) return;
    double part = json_number_value(json_object_get(run->canary, "moved_by"));
    doc_say(
        doc, TONE_WARN,
        "THE MACHINE CHANGED: without a lock the load generator was %.0f %% %s after the run than "
        "before it. A comparison of locks that ran at different times is void: run them again.",
        100 * fabs(part), part < 0 ? "slower" : "faster");
    doc_set_shown(doc);
}

void run_self_failed(const struct report *report, struct doc *doc) {
    for (int r = 0; r < report->run_count; r++) say_moved(report->runs[r], doc);
    for (int r = 0; r < report->run_count; r++) {
        struct tally tally = tally_of(report->runs[r]);
        if (tally.failed == 0) continue;
        doc_say(doc, TONE_WARN, "SELF-CHECKS FAILED in %d of %d stages:", tally.bad_stages,
                tally.stages);
        for (int i = 0; i < tally.name_count; i++)
            doc_span(doc, DOC_PLAIN, "%s %s (%d)", i > 0 ? "," : "", tally.name[i], tally.count[i]);
        doc_span(doc, DOC_PLAIN, ". The warnings say what each of them means for the figures.");
    }
}

void run_self_line(const struct run *run, struct doc *doc) {
    struct tally tally = tally_of(run);
    if (tally.stages == 0) return;
    doc_say(doc, TONE_PLAIN,
            "Self-checks of %d stage%s: %d passed, %d failed, %d did not apply (run.json: "
            ".stages[].self_checks)",
            tally.stages, tally.stages == 1 ? "" : "s", tally.passed, tally.failed, tally.other);
}
