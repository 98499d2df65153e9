/* html_holders: the holders of a key around the faults, and the time until a client got the key
 * again. See html_views.h.
 *
 * Members of the file's objects are copied one by one, numbers as numbers and texts as texts, so
 * that nothing else in a file gets into the page. */
#include "report/doc/escape.h"
#include "report/page/html_views.h"

#define HOLDS_MAX 300 /* holds of a stage: a reader can't tell more apart */

/* Makes {"from", "to", ...} of an object's members, by pairs of names: the name in the page, the
 * name in the file. */
struct member {
    const char *name, *from;
};

static json_t *plain(const json_t *value) {
    if (json_is_string(value)) return escape_json(json_string_value(value));
    if (json_is_boolean(value)) return json_boolean(json_is_true(value));
    return json_is_number(value) ? escape_json_figure(json_number_value(value)) : json_null();
}

/* Makes a list of objects with these members only, from the first `most` of them. NULL when out of
 * memory. */
static json_t *list_of(const json_t *objects, const struct member *members, size_t most) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(objects) && i < most; i++) {
        json_t *one = json_object();
        int rc = json_array_append_new(list, one);
        for (const struct member *member = members; member->name && rc == 0; member++) {
            rc |= json_object_set_new(
                one, member->name,
                plain(json_object_get(json_array_get(objects, i), member->from)));
        }
        if (rc == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *holders_of(const struct report *report, int run, const struct run_stage *stage) {
    static const struct member holds[] = {{"client", "client"},        {"key", "key"},
                                          {"from", "acquired_s"},      {"to", "released_s"},
                                          {"leaseEnd", "lease_end_s"}, {"outcome", "outcome"},
                                          {"shared", "shared"},        {NULL, NULL}};
    static const struct member faults[] = {
        {"kind", "kind"}, {"target", "target"}, {"client", "client"}, {"from", "from_s"},
        {"to", "to_s"},   {"acted", "acted"},   {NULL, NULL}};
    static const struct member against[] = {{"client", "client"}, {"key", "key"},  {"op", "op"},
                                            {"from", "begin_s"},  {"to", "end_s"}, {NULL, NULL}};
    static const struct member hosts[] = {{"name", "name"}, {"clients", "clients"}, {NULL, NULL}};
    json_t *object = json_object();
    int rc = escape_json_put(object, "lock", json_integer(html_lock_of(report, run, stage)));
    rc |= escape_json_put(object, "stage", escape_json(stage->id ? stage->id : stage->lock));
    rc |= escape_json_put(object, "hosts", list_of(stage->hosts, hosts, HOLDS_MAX));
    rc |= escape_json_put(object, "model", escape_json(stage->history_model));
    rc |= escape_json_put(object, "total",
                          json_integer((json_int_t)json_array_size(stage->timeline)));
    rc |= escape_json_put(object, "holds", list_of(stage->timeline, holds, HOLDS_MAX));
    rc |= escape_json_put(object, "faults", list_of(stage->faults, faults, HOLDS_MAX));
    rc |= escape_json_put(object, "against", list_of(stage->counterexample, against, HOLDS_MAX));
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *recovery_of(const struct report *report, int run, const struct run_stage *stage) {
    json_t *object = json_object(), *trials = json_array();
    int rc = escape_json_put(object, "lock", json_integer(html_lock_of(report, run, stage)));
    for (size_t i = 0; i < json_array_size(stage->trials); i++)
        rc |= json_array_append_new(trials, plain(json_array_get(stage->trials, i)));
    rc |= escape_json_put(object, "stage", escape_json(stage->id ? stage->id : stage->lock));
    rc |= escape_json_put(object, "fault", escape_json(stage->fault));
    rc |= escape_json_put(object, "trials", trials);
    rc |= escape_json_put(object, "unrecovered", escape_json_figure(stage->unrecovered));
    rc |= escape_json_put(object, "theory", escape_json(stage->recovery_theory));
    rc |= escape_json_put(object, "theoryMin", escape_json_figure(stage->theory_min));
    rc |= escape_json_put(object, "theoryMax", escape_json_figure(stage->theory_max));
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static bool has_timeline(const struct run_stage *stage) {
    return json_array_size(stage->timeline) > 0;
}

static bool has_recovery(const struct run_stage *stage) {
    return json_array_size(stage->trials) > 0 || stage->unrecovered > 0;
}

static int add_stages(const struct report *report, json_t *root, const char *name,
                      bool (*wanted)(const struct run_stage *),
                      json_t *(*make)(const struct report *, int, const struct run_stage *),
                      struct lb_err *err) {
    json_t *list = json_array();
    int rc = json_object_set_new(root, name, list);
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count && rc == 0; s++) {
            const struct run_stage *stage = &report->runs[r]->stages[s];
            if (wanted(stage)) rc |= json_array_append_new(list, make(report, r, stage));
        }
    }
    return rc ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
}

int html_holders(const struct report *report, json_t *root, struct lb_err *err) {
    return add_stages(report, root, "holders", has_timeline, holders_of, err);
}

int html_recoveries(const struct report *report, json_t *root, struct lb_err *err) {
    return add_stages(report, root, "recoveries", has_recovery, recovery_of, err);
}
