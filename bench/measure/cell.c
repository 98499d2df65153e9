/* cell: see cell.h. */
#include "bench/measure/cell.h"

enum verdict exclusion_verdict(const struct exclusion *x) {
    if (x->grants == 0 && x->stuck == 0 && x->starved == 0) return VERDICT_UNCHECKED;
    if (x->double_holders || x->revoked || x->token_errors) return VERDICT_VIOLATED;
    if (x->lost_updates && !x->expired_holders) return VERDICT_VIOLATED;
    if (x->stuck) return VERDICT_STUCK;
    if (x->expired_holders || x->ended) return VERDICT_EXPIRED;
    return x->starved ? VERDICT_STARVED : VERDICT_CLEAN;
}

struct exclusion cells_sum(const struct cell *cells, uint32_t count,
                           const struct findings *findings) {
    struct exclusion result = {.detected = atomic_load(&findings->detected)};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t grants = atomic_load(&cells[i].grants), counter = atomic_load(&cells[i].counter);
        result.grants += grants;
        result.counter += counter;
        if (grants > counter) result.lost_updates += grants - counter;
    }
    result.grants += result.detected;
    return result;
}

static uint64_t alarms_of(uint64_t inside) {
    return inside / CROWD_ALARM;
}

bool crowd_enter(const struct crowds *crowds, uint32_t client, uint32_t key, uint32_t units,
                 uint32_t bound, int64_t acquired_ns) {
    struct presence *mine = &crowds->presence[client];
    struct crowd *crowd = &crowds->crowd[key];
    uint64_t before = atomic_load_explicit(&crowd->inside, memory_order_relaxed), after;
    bool too_many;
    atomic_store_explicit(&mine->key, key, memory_order_relaxed);
    atomic_store_explicit(&mine->units, units, memory_order_relaxed);
    do {
        after = before + units;
        too_many = after % CROWD_ALARM > bound;
        if (too_many) after += CROWD_ALARM;
    } while (!atomic_compare_exchange_weak(&crowd->inside, &before, after));
    mine->alarms = alarms_of(after);
    atomic_store_explicit(&mine->acquired_ns, acquired_ns, memory_order_release);
    if (units != CROWD_ALL) atomic_fetch_add_explicit(&crowd->grants, 1, memory_order_relaxed);
    return !too_many;
}

bool crowd_leave(const struct crowds *crowds, uint32_t client) {
    struct presence *mine = &crowds->presence[client];
    uint32_t key = atomic_load_explicit(&mine->key, memory_order_relaxed);
    uint32_t units = atomic_load_explicit(&mine->units, memory_order_relaxed);
    atomic_store_explicit(&mine->acquired_ns, 0, memory_order_relaxed);
    uint64_t before = atomic_fetch_sub(&crowds->crowd[key].inside, units);
    return alarms_of(before) == mine->alarms;
}

bool crowd_abandon(const struct crowds *crowds, uint32_t client) {
    const struct presence *mine = &crowds->presence[client];
    uint32_t key = atomic_load_explicit(&mine->key, memory_order_relaxed);
    if (atomic_load_explicit(&mine->units, memory_order_relaxed) != CROWD_ALL)
        atomic_fetch_sub_explicit(&crowds->crowd[key].grants, 1, memory_order_relaxed);
    return crowd_leave(crowds, client);
}

void crowd_bury(const struct crowds *crowds, uint32_t client) {
    if (atomic_load(&crowds->presence[client].acquired_ns) != 0) crowd_leave(crowds, client);
}

bool crowd_inside(const struct crowds *crowds, uint32_t key) {
    for (uint32_t i = 0; i < crowds->clients; i++) {
        const struct presence *presence = &crowds->presence[i];
        if (atomic_load(&presence->acquired_ns) != 0 && atomic_load(&presence->key) == key)
            return true;
    }
    return false;
}

void crowds_sum(struct exclusion *exclusion, const struct crowds *crowds, uint32_t keys) {
    for (uint32_t i = 0; crowds->crowd && i < keys; i++) {
        uint64_t grants = atomic_load(&crowds->crowd[i].grants);
        exclusion->grants += grants;
        exclusion->counter += grants;
    }
}

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

void versions_sum(struct exclusion *exclusion, const struct versions *versions, uint32_t keys) {
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
