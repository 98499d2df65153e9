/* stage_store: see stage_store.h. */
#include "bench/run/stage_store.h"

#include "bench/load/store.h"

/* One transaction changes the stock and adds the order, so that no fault leaves one without the other. */
static void add_orders(struct stage_sale *sale, uint64_t orders, uint64_t missing) {
    sale->orders += orders;
    sale->oversold += orders > missing ? orders - missing : missing - orders;
}

static struct stage_sale sum_sale(const struct shared *shared) {
    struct stage_sale sale = {.known = shared->store.collected,
                              .orders_known = shared->store.collected && shared->store.orders};
    for (uint32_t i = 0; i < shared->cell_count; i++) {
        uint64_t stock = store_stock_of_cell(shared, i);
        uint64_t sold = atomic_load(&shared->store.keys[i].fenced_writes);
        uint64_t missing = sale.known ? shared->store.values[i] : 0;
        sale.stock += stock;
        sale.sold += sold;
        sale.left += stock - missing;
        if (sale.known && sold > missing) sale.oversold += sold - missing;
        if (sale.orders_known) add_orders(&sale, shared->store.orders[i], missing);
    }
    return sale;
}

void stage_store_sum(struct stage *stage, const struct shared *shared) {
    if (!shared->store.keys) return;
    stage->store = (struct stage_store){
        .where = shared->store.backend ? "backend" : "memory",
        .fenced = shared->store.fenced,
        .fenced_known = shared->store.fenced && (!shared->store.backend || shared->store.collected),
        .sum = store_judge(shared->store.keys, shared->cell_count, &shared->store.counts,
                           shared->store.values)};
    if (shared->store.backend && shared->plan->stock > 0) stage->store.sale = sum_sale(shared);
}
