/* run_data: a run for machines: JSON of the schema lockbench.report. See run_doc.h. */
#include "report/run/run_doc.h"

#include "bench/base/output.h"
#include "report/doc/escape.h"

static json_t *known(const struct report_lock *lock, double count) {
    return escape_json_figure(report_known(lock, count));
}

static json_t *report_lock_json(const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o}",
        "lock", escape_json(lock->name), "verdict", escape_json(words_state(lock->state)), "grants",
        known(lock, lock->grants), "competing_grants", known(lock, lock->competing), "lost_updates",
        known(lock, lock->lost_updates), "double_holders", known(lock, lock->double_holders),
        "revoked", known(lock, lock->revoked), "ended", known(lock, lock->ended), "bound95",
        escape_json_figure(report_bound(lock)), "inside_mean_ns",
        escape_json_figure(lock->inside_ns), "hardly_tested", (int)report_hardly_tested(lock),
        "control", (int)stage->control, "baseline", (int)stage->baseline, "topology",
        escape_json(stage->topology), "guarantee", escape_json(stage->guarantee), "durability",
        escape_json(stage->durability), "durability_note", escape_json(stage->durability_note),
        "durability_kind", escape_json(words_durability_text(words_durability(stage))));
}

int run_json(const struct report *report, FILE *out, struct lb_err *err) {
    json_t *locks = json_array();
    struct doc verdict = {0};
    int rc = 0;
    run_verdict(report, &verdict);
    for (int i = 0; i < report->lock_count; i++)
        rc |= json_array_append_new(locks, report_lock_json(&report->locks[i]));
    json_t *root = json_pack(
        "{s:s, s:b, s:o, s:o, s:o, s:o, s:O}", "schema", "lockbench.report/2", "partial",
        (int)report->partial, "verdict", doc_sentences(&verdict), "ranking", ranking_json(report),
        "path", escape_json(report->run->path), "locks", locks, "run", report->run->root);
    doc_free(&verdict);
    if (rc != 0) {
        json_decref(root);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return output_json(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the report", err);
}
