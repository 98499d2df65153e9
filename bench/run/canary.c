/* canary: see canary.h. */
#include "bench/run/canary.h"

#include <math.h>

#include "bench/run/place.h"
#include "bench/run/supervise.h"
#include "results/stats/rank.h"

static void measure_once(struct canary *canary, const struct plan *plan, struct place *place,
                         const volatile sig_atomic_t *interrupts) {
    struct lb_err unused = {0};
    struct stage_ask ask = {.plan = plan,
                            .lock = &plan->locks[0],
                            .server = &place->server,
                            .clients = 1,
                            .id = "canary",
                            .version = "",
                            .seed = plan->seed,
                            .interrupts = interrupts};
    struct stage *stage = stage_run(&ask, &unused);
    if (!stage) return;
    if (stage->status == STAGE_COMPLETE && stage->result.throughput_per_s > 0)
        canary->rate_per_s[canary->count++] = stage->result.throughput_per_s;
    place->in_use |= stage->hung;
    stage_free(stage);
}

void canary_measure(struct canary *canary, const struct plan *plan,
                    const volatile sig_atomic_t *interrupts) {
    struct lb_err unused = {0};
    struct place_ask ask = {
        .lock = &plan->locks[0], .durability = plan->durability, .interrupts = interrupts};
    struct place *place = place_open(&ask, &unused);
    *canary = (struct canary){.count = 0};
    if (!place) return;
    for (int i = 0; i < CANARY_STAGES && *interrupts == 0; i++)
        measure_once(canary, plan, place, interrupts);
    place_close(place);
}

bool canary_moved(const struct canary *before, const struct canary *after, double *ret_part) {
    *ret_part = 0;
    if (before->count < CANARY_STAGES || after->count < CANARY_STAGES) return false;
    double was = rank_median(before->rate_per_s, before->count);
    double is = rank_median(after->rate_per_s, after->count);
    double p = rank_p(before->rate_per_s, before->count, after->rate_per_s, after->count);
    *ret_part = is / was - 1;
    return p < CANARY_ALPHA && fabs(*ret_part) > CANARY_PART;
}

static json_t *rates_json(const struct canary *canary) {
    json_t *array = json_array();
    for (int i = 0; i < canary->count; i++)
        json_array_append_new(array, json_real(canary->rate_per_s[i]));
    return array;
}

json_t *canary_json(const struct canary *before, const struct canary *after) {
    double part;
    bool moved = canary_moved(before, after, &part);
    return json_pack("{s:o, s:o, s:f, s:b}", "before_per_s", rates_json(before), "after_per_s",
                     rates_json(after), "moved_by", part, "moved", moved);
}
