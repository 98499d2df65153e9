/* stock: see stock.h. */
#include "bench/measure/stock.h"

void stock_fill(struct stock *slots, uint32_t count, uint64_t goods) {
    for (uint32_t i = 0; i < count; i++) {
        slots[i].stock = goods / count + (i == 0 ? goods % count : 0);
        atomic_store(&slots[i].left, slots[i].stock);
    }
}

struct stock_sum stock_judge(const struct stock *stock, uint32_t count) {
    struct stock_sum sum = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t sold = atomic_load(&stock[i].sold), left = atomic_load(&stock[i].left);
        uint64_t had = stock[i].stock, accounted = sold + left;
        sum.stock += had;
        sum.sold += sold;
        sum.left += left;
        if (sold > had) sum.oversold += sold - had;
        sum.astray += accounted > had ? accounted - had : had - accounted;
    }
    return sum;
}
