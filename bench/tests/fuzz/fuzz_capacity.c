/* fuzz_capacity: capacity.json from anywhere: an error in one line, or locks and probes that can be
 * asked for. */
#include "bench/tests/fuzz/fuzz.h"
#include "results/format/capacity_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct lb_err err = {0};
    struct capacity *capacity = capacity_parse((const char *)data, size, "capacity.json", &err);
    if (!capacity) expect_reason(&err);
    for (int i = 0; capacity && i < capacity->lock_count; i++) {
        const struct capacity_lock *lock = &capacity->locks[i];
        if (!lock->lock) abort();
        for (int k = 0; k < lock->probe_count; k++) {
            if (!promise_verdict_name(lock->probes[k].verdict)) abort();
        }
    }
    capacity_free(capacity);
    return 0;
}
