/* conform_slots: a key that is divided into slots, each with one holder. */
#include "bench/conform/conform.h"

#define SLOTS 4

void conform_slots(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[SLOTS + 1];
    trial->bound = SLOTS;
    if (!actors_new(trial, NULL, NULL, SLOTS + 1, clients)) return;
    struct actor *late = clients[SLOTS];
    for (int round = 0; round < 3; round++) {
        unsigned seen = 0;
        for (int i = 0; i < SLOTS; i++) {
            MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
            uint32_t slot = clients[i]->grant.slot;
            MUST_REFUSE(trial, slot < SLOTS && !(seen >> slot & 1), "slot %u of %d was given %s",
                        slot, SLOTS, slot < SLOTS ? "twice" : "out");
            seen |= 1U << slot;
        }
        MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(late, actor_acquire(late, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
        actor_begin_acquire(late, &key, trial_soon());
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
        MUST_SAY_NO(trial, late->outcome, actor_is_busy(late), "got %s while all slots are held",
                    lb_outcome_name(late->outcome));
        uint32_t freed = clients[round]->grant.slot;
        MUST_GIVE(clients[round], actor_release(clients[round]), LB_OK);
        MUST_GIVE(late, actor_end(late), LB_OK);
        MUST_REFUSE(trial, late->grant.slot == freed, "slot %u was freed, %u was given", freed,
                    late->grant.slot);
        MUST_GIVE(late, actor_release(late), LB_OK);
        for (int i = 0; i < SLOTS; i++) {
            if (i != round) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
        }
    }
}
