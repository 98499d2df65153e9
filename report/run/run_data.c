/* run_data: a run for machines: JSON of the schema lockbench.report, and CSV. See run_doc.h. */
#include "report/run/run_doc.h"

#include <string.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"
#include "report/run/field_value.h"

/* ---- JSON ---- */

/* Sets a value at a dotted path, and makes the objects on the way. The value may be NULL (out of memory). 0, or -1 when
 * out of memory. */
static int put_at(json_t *object, const char *path, json_t *value) {
    char part[64];
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        size_t length = (size_t)(dot - path);
        if (length >= sizeof part) length = sizeof part - 1;
        memcpy(part, path, length);
        part[length] = '\0';
        json_t *inner = json_object_get(object, part);
        if (!inner) {
            inner = json_object();
            if (json_object_set_new(object, part, inner)) break;
        }
        object = inner;
    }
    return json_object_set_new(object, path, value);
}

static json_t *stage_row_json(int run, const struct run_stage *stage) {
    json_t *row = json_object();
    int rc = put_at(row, "run", json_integer(run));
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!result_field_in_reports(field)) continue;
        rc |= put_at(row, field->path, field_json(run_stage_fields(), field, stage));
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

/* A member of the file as it is there. */
static json_t *copied(const struct run *run, const char *name) {
    json_t *value = json_object_get(run->root, name);
    return value ? json_incref(value) : json_null();
}

static json_t *run_of(const struct run *run) {
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
                     escape_json(run->path), "workload", escape_json(run->workload), "started_at",
                     escape_json(run->started_at), "command", escape_json(run->command), "partial",
                     (int)run->partial, "partial_reason", escape_json(run->partial_reason),
                     "verdict", escape_json(run->verdict), "not_reached", not_reached_of(run),
                     "skipped", copied(run, "skipped"), "slo", copied(run, "slo"), "warnings",
                     copied(run, "warnings"));
}

static json_t *known(const struct report_lock *lock, double count) {
    return escape_json_figure(report_known(lock, count));
}

static json_t *report_lock_json(const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, "
        "s:o}",
        "run", lock->run, "lock", escape_json(lock->name), "verdict",
        escape_json(words_state(lock->state)), "grants", known(lock, lock->grants),
        "competing_grants", known(lock, lock->competing), "lost_updates",
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
    json_t *runs = json_array(), *locks = json_array(), *rows = json_array();
    struct doc verdict = {0};
    int rc = 0;
    run_verdict(report, &verdict);
    for (int i = 0; i < report->lock_count; i++)
        rc |= json_array_append_new(locks, report_lock_json(&report->locks[i]));
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        rc |= json_array_append_new(runs, run_of(run));
        for (int s = 0; s < run->stage_count; s++)
            rc |= json_array_append_new(rows, stage_row_json(r, &run->stages[s]));
    }
    json_t *root =
        json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "schema", "lockbench.report/1", "partial",
                  (int)report->partial, "verdict", doc_sentences(&verdict), "ranking",
                  ranking_json(report), "runs", runs, "locks", locks, "rows", rows);
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
