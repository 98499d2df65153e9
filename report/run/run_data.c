/* run_data: a run for machines: JSON of the schema lockbench.report, and CSV. See run_doc.h. */
#include "report/run/run_doc.h"

#include "bench/base/output.h"
#include "report/doc/escape.h"
#include "report/run/field_value.h"

/* ---- JSON ---- */

static json_t *stage_row_json(int run, const struct run_stage *stage) {
    json_t *row = json_object();
    int rc = escape_json_put(row, "run", json_integer(run));
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!result_field_in_reports(field)) continue;
        rc |= escape_json_put(row, field->path, field_json(run_stage_fields(), field, stage));
    }
    if (rc == 0) return row;
    json_decref(row);
    return NULL;
}

static json_t *not_reached_of(const struct run *run) {
    json_t *names = json_array();
    size_t at = 0;
    for (const char *lock; (lock = report_not_reached(run, &at));)
        json_array_append_new(names, escape_json(lock));
    return names;
}

static json_t *run_of(const struct run *run) {
    static const char *const copied[] = {"skipped", "slo", "warnings"};
    json_t *object = json_object();
    int rc = escape_json_put(object, "path", escape_json(run->path));
    rc |= escape_json_put(object, "workload", escape_json(run->workload));
    rc |= escape_json_put(object, "started_at", escape_json(run->started_at));
    rc |= escape_json_put(object, "command", escape_json(run->command));
    rc |= escape_json_put(object, "partial", json_boolean(run->partial));
    rc |= escape_json_put(object, "partial_reason", escape_json(run->partial_reason));
    rc |= escape_json_put(object, "verdict", escape_json(run->verdict));
    rc |= escape_json_put(object, "not_reached", not_reached_of(run));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        json_t *value = json_object_get(run->root, copied[i]);
        rc |= json_object_set(object, copied[i], value ? value : json_null());
    }
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *report_lock_json(const struct report_lock *lock) {
    json_t *object = json_object();
    double bound = report_bound(lock);
    int rc = escape_json_put(object, "run", json_integer(lock->run));
    rc |= escape_json_put(object, "lock", escape_json(lock->name));
    rc |= escape_json_put(object, "verdict", escape_json(words_state(lock->state)));
    rc |= escape_json_put(object, "grants", escape_json_figure(report_known(lock, lock->grants)));
    rc |= escape_json_put(object, "competing_grants",
                          escape_json_figure(report_known(lock, lock->competing)));
    rc |= escape_json_put(object, "lost_updates",
                          escape_json_figure(report_known(lock, lock->lost_updates)));
    rc |= escape_json_put(object, "double_holders",
                          escape_json_figure(report_known(lock, lock->double_holders)));
    rc |= escape_json_put(object, "revoked", escape_json_figure(report_known(lock, lock->revoked)));
    rc |= escape_json_put(object, "ended", escape_json_figure(report_known(lock, lock->ended)));
    rc |= escape_json_put(object, "bound95", escape_json_figure(bound));
    rc |= escape_json_put(object, "inside_mean_ns", escape_json_figure(lock->inside_ns));
    rc |= escape_json_put(object, "hardly_tested", json_boolean(report_hardly_tested(lock)));
    rc |= escape_json_put(object, "control", json_boolean(lock->stage->control));
    rc |= escape_json_put(object, "baseline", json_boolean(lock->stage->baseline));
    rc |= escape_json_put(object, "topology", escape_json(lock->stage->topology));
    rc |= escape_json_put(object, "guarantee", escape_json(lock->stage->guarantee));
    rc |= escape_json_put(object, "durability", escape_json(lock->stage->durability));
    rc |= escape_json_put(object, "durability_note", escape_json(lock->stage->durability_note));
    rc |= escape_json_put(object, "durability_kind",
                          escape_json(words_durability_text(words_durability(lock->stage))));
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static int fill_run_report(const struct report *report, const struct doc *verdict, json_t *root) {
    json_t *runs = json_array(), *locks = json_array(), *rows = json_array();
    int rc = escape_json_put(root, "schema", json_string("lockbench.report/1"));
    rc |= escape_json_put(root, "partial", json_boolean(report->partial));
    rc |= escape_json_put(root, "verdict", doc_sentences(verdict));
    rc |= escape_json_put(root, "ranking", ranking_json(report));
    rc |= escape_json_put(root, "runs", runs);
    rc |= escape_json_put(root, "locks", locks);
    rc |= escape_json_put(root, "rows", rows);
    if (rc) return rc;
    for (int i = 0; i < report->lock_count; i++)
        rc |= json_array_append_new(locks, report_lock_json(&report->locks[i]));
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        rc |= json_array_append_new(runs, run_of(run));
        for (int s = 0; s < run->stage_count; s++)
            rc |= json_array_append_new(rows, stage_row_json(r, &run->stages[s]));
    }
    return rc;
}

int run_json(const struct report *report, FILE *out, struct lb_err *err) {
    json_t *root = json_object();
    struct doc verdict = {0};
    run_verdict(report, &verdict);
    int rc = fill_run_report(report, &verdict, root);
    doc_free(&verdict);
    if (rc != 0) {
        json_decref(root);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return output_json(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the report", err);
}

/* ---- CSV ---- */

static void write_stage(FILE *out, const struct run *run, const struct run_stage *stage) {
    escape_csv(out, run->path);
    fputc(',', out);
    escape_csv(out, doc_or(run->workload, ""));
    fputc(',', out);
    escape_csv(out, doc_or(run->started_at, ""));
    fputs(run->partial ? ",true" : ",false", out);
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!result_field_in_reports(field)) continue;
        fputc(',', out);
        field_csv(out, run_stage_fields(), field, stage);
    }
    fputs("\r\n", out);
}

void run_csv(const struct report *report, FILE *out) {
    fputs("run,workload,started_at,partial", out);
    for (const struct result_field *field = run_stage_fields(); field->path; field++)
        if (result_field_in_reports(field)) fprintf(out, ",%s", field->path);
    fputs("\r\n", out);
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++)
            write_stage(out, report->runs[r], &report->runs[r]->stages[s]);
    }
}
