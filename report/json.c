/* json: the report for machines, schema "lockbench.report/1": the verdict, the locks, and one row a stage
 * with the figures under the same paths as in run.json. Histograms are left out; null = not measured.
 */
#include <math.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"

/* jansson's setters all fail for want of memory only, and a set of NULL fails too, so one check at the end of
 * a row is enough. */
static int put(json_t *object, const char *path, json_t *value) {
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

/* Whole numbers stay whole: a time in ns with a decimal point reads badly. */
static json_t *number(double value) {
    if (!isfinite(value)) return json_null();
    if (value == floor(value) && fabs(value) < 9e15) return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *text(const char *value) {
    return value ? json_string(value) : json_null();
}

static json_t *field_value(const struct run_stage *stage, const struct run_field *field) {
    const char *at = (const char *)stage + field->offset;
    switch (field->kind) {
    case RUN_TEXT:
        return text(run_stage_text(stage, field->offset));
    case RUN_FIGURE:
        return number(run_stage_figure(stage, field->offset));
    case RUN_FLAG:
        return json_boolean(*(const bool *)at);
    }
    return NULL;
}

static json_t *row_of(int run, const struct run_stage *stage) {
    json_t *row = json_object();
    int rc = put(row, "run", json_integer(run));
    for (const struct run_field *field = run_stage_fields(); field->path; field++) {
        rc |= put(row, field->path, field_value(stage, field));
    }
    if (rc == 0) return row;
    json_decref(row);
    return NULL;
}

static json_t *run_of(const struct run *run) {
    json_t *object = json_object();
    int rc = put(object, "path", text(run->path));
    rc |= put(object, "workload", text(run->workload));
    rc |= put(object, "started_at", text(run->started_at));
    rc |= put(object, "command", text(run->command));
    rc |= put(object, "partial", json_boolean(run->partial));
    rc |= put(object, "partial_reason", text(run->partial_reason));
    rc |= put(object, "verdict", text(run->verdict));
    json_t *skipped = json_object_get(run->root, "skipped");
    rc |= json_object_set(object, "skipped", skipped ? skipped : json_null());
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *lock_of(const struct report_lock *lock) {
    json_t *object = json_object();
    bool clean = lock->state == LOCK_CLEAN && lock->competing > 0;
    int rc = put(object, "run", json_integer(lock->run));
    rc |= put(object, "lock", text(lock->name));
    rc |= put(object, "verdict", text(words_state(lock->state)));
    rc |= put(object, "grants", number(lock->grants));
    rc |= put(object, "competing_grants", number(lock->competing));
    rc |= put(object, "lost_updates", number(lock->lost_updates));
    rc |= put(object, "double_holders", number(lock->double_holders));
    rc |= put(object, "bound95", number(clean ? 3 / lock->competing : NAN));
    rc |= put(object, "control", json_boolean(lock->stage->control));
    rc |= put(object, "baseline", json_boolean(lock->stage->baseline));
    rc |= put(object, "topology", text(lock->stage->topology));
    rc |= put(object, "durability", text(lock->stage->durability));
    rc |= put(object, "durability_note", text(lock->stage->durability_note));
    rc |= put(object, "durability_kind", text(words_durability_text(words_durability(lock->stage))));
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *words_of(const struct words *words) {
    json_t *array = json_array();
    for (int i = 0; i < words->count; i++) {
        if (json_array_append_new(array, text(words->lines[i].text))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static int fill(const struct report *report, const struct words *words, json_t *root) {
    json_t *runs = json_array(), *locks = json_array(), *rows = json_array();
    int rc = put(root, "schema", json_string("lockbench.report/1"));
    rc |= put(root, "partial", json_boolean(report->partial));
    rc |= put(root, "verdict", words_of(words));
    rc |= put(root, "runs", runs);
    rc |= put(root, "locks", locks);
    rc |= put(root, "rows", rows);
    if (rc) return rc;
    for (int i = 0; i < report->lock_count; i++)
        rc |= json_array_append_new(locks, lock_of(&report->locks[i]));
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        rc |= json_array_append_new(runs, run_of(run));
        for (int s = 0; s < run->stage_count; s++)
            rc |= json_array_append_new(rows, row_of(r, &run->stages[s]));
    }
    return rc;
}

int report_write_json(const struct report *report, FILE *out, struct lb_err *err) {
    int rc = -1;
    json_t *root = json_object();
    struct words *words = words_make(report, err);
    if (!words) goto out;
    if (fill(report, words, root) ||
        (json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) && !ferror(out))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    fputc('\n', out);
    rc = 0;
out:
    words_free(words);
    json_decref(root);
    return rc;
}
