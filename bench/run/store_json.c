/* store_json: what a stage's guarded store has seen, for run.json and for people; see stage_store.h. */
#include <stdio.h>

#include "bench/run/stage_store.h"

static json_t *count_if(bool known, uint64_t count) {
    return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *sale_json(const struct stage_sale *sale) {
    if (sale->stock == 0) return json_null();
    return json_pack("{s:I, s:I, s:o}", "stock", (json_int_t)sale->stock, "sold",
                     (json_int_t)sale->sold, "left", count_if(sale->known, sale->left));
}

json_t *store_json(const struct stage *stage) {
    const struct stage_store *store = &stage->store;
    const struct store_sum *sum = &store->sum;
    if (!store->where) return json_null();
    return json_pack("{s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o}", "where", store->where,
                     "fenced", store->fenced, "writes", (json_int_t)sum->writes, "stale_attempted",
                     (json_int_t)sum->stale_attempted, "stale_accepted_unfenced",
                     (json_int_t)sum->stale_accepted_unfenced, "stale_rejected_fenced",
                     count_if(store->fenced, sum->stale_rejected_fenced), "stale_accepted_fenced",
                     count_if(store->fenced, sum->stale_accepted_fenced), "lost_updates_unfenced",
                     (json_int_t)sum->lost_updates_unfenced, "lost_updates_fenced",
                     count_if(store->fenced_known, sum->lost_updates_fenced), "sale",
                     sale_json(&store->sale));
}

bool store_warning(const struct stage *stage, char *text, size_t size) {
    const struct store_sum *sum = &stage->store.sum;
    if (sum->stale_accepted_unfenced == 0 && sum->stale_accepted_fenced == 0) return false;
    int used = snprintf(
        text, size, "stale writes: %llu overwrote what a later holder had been let in to change",
        (unsigned long long)sum->stale_accepted_unfenced);
    if (used < 0 || (size_t)used >= size) return true;
    if (!stage->store.fenced) {
        snprintf(text + used, size - (size_t)used,
                 "; the lock has no tokens by which to reject them");
    } else {
        snprintf(text + used, size - (size_t)used,
                 "; a check of tokens rejected %llu and let %llu pass",
                 (unsigned long long)sum->stale_rejected_fenced,
                 (unsigned long long)sum->stale_accepted_fenced);
    }
    return true;
}
