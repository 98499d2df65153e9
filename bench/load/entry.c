/* entry: see entry.h. */
#include "bench/load/entry.h"

#define JUDGED_NS LB_S_NS               /* an intruder that takes longer counts as killed */
#define JUDGED_LOOK_NS (100 * LB_US_NS) /* the pause between two looks whether it has judged */

/* The entry of a grant that several holders may share. It is not known which release enabled this grant, so it has no
 * previous holder and no handoff. */
static const struct entry shared_entry = {.run = 1};

static struct cell *enter_cell(struct client *client, uint32_t place, const struct holding *me,
                               struct entry *ret_entry) {
    struct shared *shared = client->worker->shared;
    struct cell *cell = &shared->cells[place];
    *ret_entry = cell_enter(cell, &shared->findings, place, me);
    return cell;
}

static bool is_writer(const struct client *client) {
    return client->worker->shared->entry == ENTRY_READERS && !client->request.shared;
}

void entry_enter_other(struct client *client, const struct holding *me) {
    struct shared *shared = client->worker->shared;
    uint32_t key = client->key_index;
    struct holding no_token = *me; /* a grant of several keys has the token of the first key only */
    no_token.token = 0;
    switch (client->worker->shared->entry) {
    case ENTRY_CELL:
        break;
    case ENTRY_CELLS:
        client->stats->inside = client->request.key_count;
        for (int i = client->request.key_count - 1; i > 0; i--) {
            enter_cell(client, client->request.keys[i].index, &no_token, &client->keys->entry[i]);
        }
        client->at.cell = enter_cell(client, key, me, &client->at.entry);
        /* The grant was possible only when the last of the keys was free. */
        for (int i = 1; i < client->request.key_count; i++) {
            int64_t releasing_ns = client->keys->entry[i].releasing_ns;
            if (releasing_ns > client->at.entry.releasing_ns)
                client->at.entry.releasing_ns = releasing_ns;
        }
        break;
    case ENTRY_SLOT:
        client->stats->inside = 1;
        client->at.cell =
            enter_cell(client, key * shared->slots + client->grant.slot % shared->slots, me,
                       &client->at.entry);
        break;
    case ENTRY_READERS:
        client->at.cell = &shared->cells[key];
        if (is_writer(client)) {
            client->stats->inside = 1;
            enter_cell(client, key, me, &client->at.entry);
        } else {
            client->at.entry = shared_entry;
        }
        crowd_enter(&shared->crowds, &shared->findings, key, is_writer(client) ? CROWD_ALL : 1,
                    CROWD_ALL, me);
        break;
    case ENTRY_PERMITS:
        client->at.cell = &shared->cells[key];
        client->at.entry = shared_entry;
        crowd_enter(&shared->crowds, &shared->findings, key, client->request.permits,
                    client->request.bound, me);
        break;
    }
}

static void leave_cell(struct client *client, struct cell *cell, const struct entry *entry,
                       int64_t releasing_ns) {
    client->at.replaced += !cell_leave(cell, client->index, entry, releasing_ns);
}

void entry_leave_other(struct client *client, int64_t releasing_ns) {
    struct shared *shared = client->worker->shared;
    switch (client->worker->shared->entry) {
    case ENTRY_CELL:
        break;
    case ENTRY_CELLS:
        for (int i = 1; i < client->request.key_count; i++) {
            leave_cell(client, &shared->cells[client->request.keys[i].index],
                       &client->keys->entry[i], releasing_ns);
        }
        leave_cell(client, client->at.cell, &client->at.entry, releasing_ns);
        break;
    case ENTRY_SLOT:
        leave_cell(client, client->at.cell, &client->at.entry, releasing_ns);
        break;
    case ENTRY_READERS:
    case ENTRY_PERMITS:
        if (is_writer(client)) {
            leave_cell(client, client->at.cell, &client->at.entry, releasing_ns);
        } else {
            atomic_store_explicit(&client->at.cell->releasing_ns, releasing_ns,
                                  memory_order_relaxed);
        }
        crowd_leave(&shared->crowds, client->index, releasing_ns);
        break;
    }
    client->at.was_found = true; /* perhaps; entry_was_found looks */
    client->stats->inside = 0;
}

/* An intruder that the system has taken off its processor is back within milliseconds. An intruder that was killed
 * never judges, so the wait has a limit. */
static void wait_judged(struct client *client) {
    const struct findings *findings = &client->worker->shared->findings;
    int64_t until_ns = lb_now() + JUDGED_NS;
    while (!findings_judged(findings, client->index, client->at.replaced)) {
        if (lb_now() >= until_ns) {
            client->at.replaced = atomic_load(&findings->holders[client->index].judged);
            return;
        }
        lb_sleep_until(lb_now() + JUDGED_LOOK_NS);
    }
}

void entry_was_found(struct client *client, enum lb_outcome outcome, bool over) {
    struct shared *shared = client->worker->shared;
    struct found *found = &shared->findings.holders[client->index];
    wait_judged(client);
    atomic_fetch_add(&shared->findings.detected, client->at.abandoned);
    if ((client->at.abandoned || over) && client->grant.lease_end_ns == LB_NEVER) {
        /* No answer to the release says so, but somebody else was let in. */
        bool ended = over && outcome != LB_LOST && !shared->faulted;
        if (ended && atomic_load(&found->doubled) != client->at.found_at)
            atomic_fetch_add(&shared->findings.ended, 1);
        findings_excuse_told(&shared->findings, client->index, client->at.found_at);
    }
    atomic_store_explicit(&found->told_ns, 0, memory_order_relaxed);
    uint32_t excused = atomic_load(&found->excused);
    if (outcome == LB_OK && excused != client->at.excused_at) {
        findings_untold(&shared->findings, client->index, excused - client->at.excused_at);
    }
    /* The next grant compares the findings with their present counts. */
    client->at.excused_at = excused;
    client->at.found_at = atomic_load(&found->doubled);
    client->at.was_found = false;
    client->at.abandoned = 0;
}

void entry_lost(struct client *client, const struct holding *me, bool over, int64_t when_ns) {
    struct shared *shared = client->worker->shared;
    if (shared->faulted || findings_ended(&shared->findings, me, when_ns)) return;
    atomic_fetch_add(over ? &shared->findings.ended : &shared->findings.revoked, 1);
}

void entry_told(struct client *client, int64_t told_ns) {
    struct found *found = &client->worker->shared->findings.holders[client->index];
    if (client->grant.lease_end_ns != LB_NEVER)
        atomic_store_explicit(&found->told_ns, told_ns, memory_order_release);
}

static void abandon_cell(struct client *client, struct cell *cell) {
    client->at.replaced += !cell_abandon(cell, client->index);
}

void entry_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    uint32_t count = 1;
    if (client->worker->shared->entry == ENTRY_CELLS) {
        count = (uint32_t)client->request.key_count;
        for (uint32_t i = 1; i < count; i++) {
            abandon_cell(client, &shared->cells[client->request.keys[i].index]);
        }
    }
    bool beside = client->worker->shared->entry == ENTRY_PERMITS ||
                  (client->worker->shared->entry == ENTRY_READERS && !is_writer(client));
    if (!beside) abandon_cell(client, client->at.cell);
    if (beside || client->worker->shared->entry == ENTRY_READERS)
        crowd_abandon(&shared->crowds, client->index, lb_now());
    client->stats->inside = 0;
    client->at.was_found = true;
    client->at.abandoned = count;
}

void entry_renewed(struct client *client) {
    struct shared *shared = client->worker->shared;
    int64_t end_ns = client->grant.lease_end_ns;
    bool crowd = client->worker->shared->entry == ENTRY_READERS ||
                 client->worker->shared->entry == ENTRY_PERMITS;
    if (crowd) crowd_renewed(&shared->crowds, client->index, end_ns);
    findings_renewed(&shared->findings, client->index, end_ns);
}
