/* conform_exclude: several clients on one key, checked by the code that checks the stages of a
 * run. */
#include <stdio.h>

#include "bench/conform/conform.h"
#include "bench/measure/cell.h"

#define CLIENTS 8
/* grants of all clients together, or this time, whichever comes first */
#define GRANTS 600
#define TIME_NS (3 * LB_S_NS)
#define HOLD_NS (200 * LB_US_NS) /* a hold long enough for an intruder */

struct contest {
    struct cell cell;
    struct found holders[CLIENTS]; /* for the findings */
    _Atomic uint64_t grants;
    int64_t end_ns;
    struct findings findings;
};

static void contend(struct actor *client) {
    struct contest *shared = client->arg;
    while (atomic_load(&shared->grants) < GRANTS && lb_now() < shared->end_ns && !lb_stopping()) {
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        if (client->outcome != LB_OK) {
            trial_fail(client->trial, "acquire gave %s: %s", lb_outcome_name(client->outcome),
                       client->session.err.text);
            return;
        }
        struct holding me = {client->session.client, lb_now(), client->grant.lease_end_ns,
                             client->grant.token};
        struct entry entry = cell_enter(&shared->cell, &shared->findings, 0, &me);
        atomic_fetch_add(&shared->grants, 1);
        lb_sleep_until(lb_now() + HOLD_NS);
        cell_leave(&shared->cell, me.client, &entry, lb_now());
        actor_job_release(client);
        if (client->outcome != LB_OK) {
            trial_fail(client->trial, "release gave %s: %s", lb_outcome_name(client->outcome),
                       client->session.err.text);
            return;
        }
    }
}

uint64_t conform_judge(struct trial *trial, const struct cell *cell,
                       const struct findings *findings) {
    struct exclusion exclusion = cells_judge(cell, 1, findings);
    char text[256];
    snprintf(
        text, sizeof text,
        "%llu grants, %llu lost updates, %llu double holders, %llu past their lease, %llu tokens that "
        "did not grow",
        (unsigned long long)exclusion.grants, (unsigned long long)exclusion.lost_updates,
        (unsigned long long)exclusion.double_holders, (unsigned long long)exclusion.expired_holders,
        (unsigned long long)exclusion.token_errors);
    if (exclusion.verdict == VERDICT_VIOLATED) trial_overlap(trial, "does not exclude: %s", text);
    if (exclusion.verdict != VERDICT_CLEAN) trial_fail(trial, "does not exclude: %s", text);
    return exclusion.grants;
}

void conform_exclude(struct trial *trial) {
    struct trial_key key = trial_key();
    static struct contest shared; /* static memory outlives a client that hangs */
    shared = (struct contest){.findings.holders = shared.holders};
    struct actor *clients[CLIENTS];
    if (!actors_new(trial, &key, &shared, CLIENTS, clients)) return;
    shared.end_ns = lb_now() + TIME_NS;
    actors_do(clients, CLIENTS, contend);
    uint64_t grants = conform_judge(trial, &shared.cell, &shared.findings);
    MUST(trial, grants == atomic_load(&shared.grants) && grants >= CLIENTS,
         "too few grants to say anything: %llu", (unsigned long long)grants);
}

#define ATTEMPTS 2000
#define IMPATIENT_NS (2 * LB_S_NS)

/* The same with clients that give up: soon, late, and right when their turn comes. */
static void contend_briefly(struct actor *client) {
    struct contest *shared = client->arg;
    static const int64_t waits_ns[] = {0,        2 * LB_US_NS, 50 * LB_US_NS, 300 * LB_US_NS,
                                       LB_MS_NS, 5 * LB_MS_NS};
    for (int i = 0; i < ATTEMPTS && lb_now() < shared->end_ns && !lb_stopping(); i++) {
        int64_t wait_ns =
            waits_ns[rng_u64(&client->session.rng) % (sizeof waits_ns / sizeof *waits_ns)];
        client->request.deadline_ns = lb_now() + wait_ns;
        /* the first failure is kept: not that an earlier wait ran out */
        client->session.err.code = 0;
        actor_job_acquire(client);
        if (client->outcome == LB_BUSY || client->outcome == LB_TIMEOUT) {
            lb_yield();
            continue;
        }
        /* If the server made the grant while the client withdrew its request, the driver says
         * "unknown", which is honest, and settling repairs it. */
        if (client->outcome == LB_UNKNOWN && actor_mend(client)) continue;
        if (client->outcome == LB_OK) {
            struct holding me = {client->session.client, lb_now(), client->grant.lease_end_ns,
                                 client->grant.token};
            struct entry entry = cell_enter(&shared->cell, &shared->findings, 0, &me);
            atomic_fetch_add(&shared->grants, 1);
            if (i % 4 == 0) lb_sleep_until(lb_now() + HOLD_NS);
            cell_leave(&shared->cell, me.client, &entry, lb_now());
            actor_job_release(client);
        }
        if (client->outcome == LB_OK) continue;
        trial_fail(client->trial, "a call gave %s: %s", lb_outcome_name(client->outcome),
                   client->session.err.text);
        return;
    }
}

void conform_give_up(struct trial *trial) {
    struct trial_key key = trial_key();
    static struct contest shared; /* static memory outlives a client that hangs */
    shared = (struct contest){.findings.holders = shared.holders};
    struct actor *clients[CLIENTS];
    if (!actors_new(trial, &key, &shared, CLIENTS, clients)) return;
    shared.end_ns = lb_now() + IMPATIENT_NS;
    actors_do(clients, CLIENTS, contend_briefly);
    conform_judge(trial, &shared.cell, &shared.findings);
    if (trial_failed(trial)) return;
    /* A client that gave up has left nothing that blocks others. */
    for (int i = 0; i < CLIENTS; i++) {
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
        MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    }
}
