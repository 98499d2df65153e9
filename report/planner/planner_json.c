/* planner_json: a planner's answers as JSON, lockbench.plan/1. See planner.h. */
#include <jansson.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"
#include "report/planner/planner.h"

static json_t *answer_json(const struct planner_answer *answer) {
    const struct capacity_lock *lock = answer->lock;
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "lock", lock->lock,
        "guarantee", escape_json(lock->guarantee), "topology", escape_json(lock->topology),
        "durability", escape_json(lock->durability), "durability_class",
        escape_json(lock->durability_class), "durability_note", escape_json(lock->durability_note),
        "verdict", planner_word(answer->verdict), "model", (int)answer->model, "carries",
        escape_json_figure(answer->carries), "breaks", escape_json_figure(answer->breaks), "margin",
        escape_json_figure(answer->margin), "why", escape_json(answer->why), "settle",
        escape_json(answer->settle));
    json_t *from = json_pack(
        "{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", answer->from->path,
        "started_at", escape_json(answer->from->started_at), "partial", (int)answer->from->partial,
        "partial_reason", escape_json(answer->from->partial_reason), "slo", escape_json(lock->slo),
        "hold", escape_json(lock->hold), "keys", escape_json(lock->keys), "clients",
        escape_json_figure(lock->clients), "value", escape_json_figure(lock->value), "low",
        escape_json_figure(lock->low), "high", escape_json_figure(lock->high));
    if (json && from) json_object_set(json, "from", from);
    json_decref(from);
    return json;
}

int planner_write_json(const struct planner *planner, FILE *out, struct lb_err *err) {
    const struct planner_ask *ask = &planner->ask;
    json_t *answers = json_array();
    for (int i = 0; i < planner->count; i++)
        json_array_append_new(answers, answer_json(&planner->answers[i]));
    json_t *json = json_pack(
        "{s:s, s:i, s:{s:o, s:o, s:o, s:o, s:s}, s:b, s:o, s:i, s:o}", "schema", "lockbench.plan/1",
        "exit_code", planner_exit(planner), "ask", "rate_per_s", escape_json_figure(ask->rate),
        "clients", escape_json_figure(ask->clients), "hold_ns", escape_json_figure(ask->hold_ns),
        "keys", escape_json_figure(ask->keys), "slo", ask->slo, "impossible",
        (int)planner->impossible, "settle", escape_json(planner->settle), "left_out",
        planner->unsafe, "answers", answers);
    return output_json(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the answer", err);
}
