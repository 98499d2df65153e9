/* crowd: see crowd.h. */
#include "bench/measure/crowd.h"

/* A consistent copy of a presence. */
struct seen {
    uint32_t key, units;
    int64_t acquired_ns, lease_end_ns, left_ns;
};

static struct seen read_presence(struct presence *presence) {
    struct seen seen;
    uint32_t before, after;
    do {
        before = atomic_load_explicit(&presence->version, memory_order_acquire);
        /* Acquire: none of these reads may move below the second read of the version, as they could
         * on ARM. (A fence would do, but ThreadSanitizer does not know fences.) */
        seen.key = atomic_load_explicit(&presence->key, memory_order_acquire);
        seen.units = atomic_load_explicit(&presence->units, memory_order_acquire);
        seen.acquired_ns = atomic_load_explicit(&presence->acquired_ns, memory_order_acquire);
        seen.lease_end_ns = atomic_load_explicit(&presence->lease_end_ns, memory_order_acquire);
        seen.left_ns = atomic_load_explicit(&presence->left_ns, memory_order_acquire);
        after = atomic_load_explicit(&presence->version, memory_order_relaxed);
    } while ((before & 1) || before != after);
    return seen;
}

static bool is_gone(const struct findings *findings, uint32_t client) {
    return atomic_load_explicit(&findings->holders[client].gone, memory_order_relaxed);
}

/* The units that the other clients had inside at one moment. */
struct weight {
    uint64_t units, good; /* all units, and the units of clients whose lease and session lasted */
    int64_t latest_ns;    /* the last of the others' entries so far */
    bool any_good, any_late;
    struct holding holder; /* a client whose lease and session lasted */
    struct holding late;   /* a client that had outlived its lease or its session */
    enum how how;          /* which of the two `late` had outlived */
};

static struct weight weigh_evidence(const struct crowds *crowds, const struct findings *findings,
                                    uint32_t key, uint32_t units, uint32_t me, int64_t when_ns) {
    struct weight weight = {0};
    for (uint32_t i = 0; i < crowds->clients; i++) {
        if (i == me || is_gone(findings, i)) continue;
        struct seen seen = read_presence(&crowds->presence[i]);
        if (seen.units == 0 || seen.key != key) continue;
        if (units == CROWD_ALL && seen.units == CROWD_ALL) continue;
        if (seen.acquired_ns > weight.latest_ns) weight.latest_ns = seen.acquired_ns;
        if (seen.acquired_ns > when_ns || seen.left_ns < when_ns) continue;
        const struct holding holder = {i, seen.acquired_ns, seen.lease_end_ns, 0};
        enum how how = findings_how(findings, &holder, &(struct holding){me, when_ns, LB_NEVER, 0});
        weight.units += seen.units;
        if (how == FOUND_DOUBLED) {
            weight.good += seen.units;
            if (!weight.any_good) weight.holder = holder;
            weight.any_good = true;
        } else if (!weight.any_late) {
            weight.late = holder;
            weight.how = how;
            weight.any_late = true;
        }
    }
    return weight;
}

/* True if there were too many at that moment, and it has been noted. */
static bool too_many(const struct weight *weight, struct findings *findings, uint32_t key,
                     uint32_t units, uint32_t bound, const struct holding *me, int64_t when_ns) {
    if ((!weight->any_good && !weight->any_late) || weight->units + units <= bound) return false;
    bool late = when_ns >= me->lease_end_ns, doubled = !late && weight->good + units > bound;
    /* If one client's session had ended while the others' lasted, that client is the one too
     * many. */
    const struct holding *holder = weight->any_late && !doubled ? &weight->late : &weight->holder;
    findings_note(findings,
                  doubled ? FOUND_DOUBLED
                  : late  ? FOUND_EXPIRED
                          : weight->how,
                  key, holder, me);
    return true;
}

static void suspect_overlap(const struct crowds *crowds, struct findings *findings, uint32_t key,
                            uint32_t units, uint32_t bound, const struct holding *me) {
    struct weight weight =
        weigh_evidence(crowds, findings, key, units, me->client, me->acquired_ns);
    if (too_many(&weight, findings, key, units, bound, me, me->acquired_ns)) return;
    int64_t latest_ns = weight.latest_ns;
    if (latest_ns <= me->acquired_ns) return;
    /* Another client has a later stamp than ours but added its units before us, so it could not see
     * ours. */
    weight = weigh_evidence(crowds, findings, key, units, me->client, latest_ns);
    too_many(&weight, findings, key, units, bound, me, latest_ns);
}

void crowd_enter(const struct crowds *crowds, struct findings *findings, uint32_t key,
                 uint32_t units, uint32_t bound, const struct holding *me) {
    struct presence *mine = &crowds->presence[me->client];
    struct crowd *crowd = &crowds->crowd[key];
    uint32_t version = atomic_load_explicit(&mine->version, memory_order_relaxed);
    atomic_store_explicit(&mine->version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&mine->key, key, memory_order_release);
    atomic_store_explicit(&mine->units, units, memory_order_release);
    atomic_store_explicit(&mine->acquired_ns, me->acquired_ns, memory_order_release);
    atomic_store_explicit(&mine->lease_end_ns, me->lease_end_ns, memory_order_release);
    atomic_store_explicit(&mine->left_ns, LB_NEVER, memory_order_release);
    atomic_store_explicit(&mine->version, version + 2, memory_order_release);
    int64_t before = atomic_fetch_add(&crowd->inside, units);
    atomic_store_explicit(&mine->counted, true, memory_order_relaxed);
    if (units != CROWD_ALL) atomic_fetch_add_explicit(&crowd->grants, 1, memory_order_relaxed);
    if (before + units > bound) suspect_overlap(crowds, findings, key, units, bound, me);
}

void crowd_leave(const struct crowds *crowds, uint32_t client, int64_t releasing_ns) {
    struct presence *mine = &crowds->presence[client];
    uint32_t key = atomic_load_explicit(&mine->key, memory_order_relaxed);
    uint32_t units = atomic_load_explicit(&mine->units, memory_order_relaxed);
    atomic_store_explicit(&mine->left_ns, releasing_ns, memory_order_release);
    atomic_store_explicit(&mine->counted, false, memory_order_relaxed);
    atomic_fetch_sub(&crowds->crowd[key].inside, units);
}

void crowd_abandon(const struct crowds *crowds, uint32_t client, int64_t now_ns) {
    struct presence *mine = &crowds->presence[client];
    uint32_t key = atomic_load_explicit(&mine->key, memory_order_relaxed);
    uint32_t units = atomic_load_explicit(&mine->units, memory_order_relaxed);
    crowd_leave(crowds, client, now_ns);
    if (units != CROWD_ALL) {
        atomic_fetch_sub_explicit(&crowds->crowd[key].grants, 1, memory_order_relaxed);
    }
}

void crowd_renewed(const struct crowds *crowds, uint32_t client, int64_t lease_end_ns) {
    atomic_store_explicit(&crowds->presence[client].lease_end_ns, lease_end_ns,
                          memory_order_release);
}

void crowd_bury(const struct crowds *crowds, uint32_t client, int64_t now_ns) {
    struct presence *presence = &crowds->presence[client];
    uint32_t version = atomic_load(&presence->version);
    /* the client was killed while it wrote its presence */
    if (version & 1) atomic_store(&presence->version, version + 1);
    if (atomic_load(&presence->counted)) {
        crowd_leave(crowds, client, now_ns);
    } else {
        atomic_store(&presence->left_ns, 0);
    }
}

bool crowd_inside(const struct crowds *crowds, const struct findings *findings, uint32_t key) {
    for (uint32_t i = 0; i < crowds->clients; i++) {
        if (is_gone(findings, i)) continue;
        struct seen seen = read_presence(&crowds->presence[i]);
        if (seen.units > 0 && seen.key == key && seen.left_ns == LB_NEVER) return true;
    }
    return false;
}

void crowds_judge(struct exclusion *exclusion, const struct crowds *crowds, uint32_t keys) {
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
