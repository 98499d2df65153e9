/* versions: see versions.h. */
#include "bench/measure/versions.h"

void versions_add(struct versions *versions, uint64_t version) {
    if (version == 0) return;
    atomic_fetch_add_explicit(&versions->writes, 1, memory_order_relaxed);
    uint64_t least = atomic_load(&versions->least), greatest = atomic_load(&versions->greatest);
    while ((least == 0 || version < least) &&
           !atomic_compare_exchange_weak(&versions->least, &least, version)) {
    }
    while (version > greatest &&
           !atomic_compare_exchange_weak(&versions->greatest, &greatest, version)) {
    }
}

void versions_judge(struct exclusion *exclusion, const struct versions *versions, uint32_t keys) {
    for (uint32_t i = 0; i < keys; i++) {
        uint64_t writes = atomic_load(&versions[i].writes);
        if (writes == 0) continue;
        uint64_t room = atomic_load(&versions[i].greatest) - atomic_load(&versions[i].least) + 1;
        uint64_t lost = writes > room ? writes - room : 0;
        exclusion->grants += writes;
        exclusion->counter += writes - lost;
        exclusion->lost_updates += lost;
    }
}
