/* conform_run: one check of one lock, with what it needs beside servers. */
#include <stdio.h>

#include "drivers/tests/conform.h"
#include "drivers/tests/conform_child.h"
#include "drivers/tests/conform_place.h"

void conform_run(const struct conform_check *check, const struct plan_lock *lock,
                 const struct plan_lock *far_lock, struct place *place,
                 struct conform_result *ret_result) {
    struct lb_err err = {0};
    struct trial trial = {.lock = lock, .place = place};
    /* First the forks, while there is one thread. */
    if (check->needs & CONFORM_CHILDREN) {
        struct trial_key key = trial_key();
        trial.holder = child_start(&trial, &key);
        trial.waiter = child_start(&trial, &key);
    }
    if (check->needs & CONFORM_FAR)
        trial.far = conform_open_far(far_lock, place, &trial.proxy, &err);
    if (err.code)
        snprintf(trial.failure, sizeof trial.failure, "%s", err.text);
    else
        trial_run(&trial, check->script);
    place_close(trial.far);
    proxy_stop(trial.proxy);
    child_free(trial.holder);
    child_free(trial.waiter);
    snprintf(ret_result->failure, sizeof ret_result->failure, "%s", trial.failure);
    ret_result->overlap = trial.overlap;
}
