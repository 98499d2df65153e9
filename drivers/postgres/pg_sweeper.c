/* pg_sweeper: the one sweeper of pg-table with sweep=one: a session of its own, on a fiber of the
 * first client, which deletes the rows of dead owners every sweep_every. It lives as long as that
 * client's session: while there is none, nobody sweeps. When only the sweeper's own connection
 * ends, the sweeper makes another one, a second later at the earliest.
 *
 * Its requests and bytes are counted for no client. It reports no failures: they show in the times
 * of those who wait for a swept row. */
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/postgres/pg_impl.h"
#include "drivers/postgres/pg_sql.h"
#include "drivers/wait.h"

#define CONNECT_NS (5 * LB_S_NS)
#define AGAIN_NS LB_S_NS

struct pg_sweeper {
    struct lb_session session;
    struct pg_session state;
    struct lb_fiber *fiber;
    bool ending;
    alignas(max_align_t) unsigned char lock_state[SQL_SESSION_BYTES];
};

static bool sweep_once(struct pg_sweeper *sweeper) {
    struct sql_answer answer = {0};
    struct lb_err err = {0};
    bool up = sweeper->state.conn && !sweeper->state.dead;
    if (!up) {
        pg_disconnect(&sweeper->session);
        memset(sweeper->lock_state, 0, sizeof sweeper->lock_state);
        if (pg_connect(&sweeper->session, lb_now() + CONNECT_NS, &err) != 0) return false;
    }
    enum lb_outcome outcome =
        sql_run(&sweeper->session, SQL_SWEEP, sql_soon(&sweeper->session), &answer);
    sweeper->session.err.code = 0;
    return outcome == LB_OK;
}

static void sweep(void *arg) {
    struct pg_sweeper *sweeper = arg;
    const struct sql_options *options = sweeper->session.options;
    while (!sweeper->ending && !lb_stopping()) {
        int64_t pause_ns = sweep_once(sweeper) ? options->sweep_every_ns : AGAIN_NS;
        if (!sweeper->ending) lb_sleep_until(lb_now() + pause_ns);
    }
    pg_disconnect(&sweeper->session);
}

int pg_sweeper_start(struct lb_session *owner, struct lb_err *err) {
    struct pg_session *state = owner->state;
    struct pg_sweeper *sweeper = calloc(1, sizeof *sweeper);
    if (!sweeper) return err_set(err, LB_EXIT_MACHINE, "postgres: out of memory");
    sweeper->session = (struct lb_session){.server = owner->server,
                                           .lock = owner->lock,
                                           .options = owner->options,
                                           .client = PG_SWEEPER,
                                           .lease_ns = owner->lease_ns,
                                           .traffic_fd = -1,
                                           .state = &sweeper->state,
                                           .lock_state = sweeper->lock_state};
    sweeper->fiber = lb_start_fiber("pg sweeper", sweep, sweeper);
    if (!sweeper->fiber) {
        free(sweeper);
        return err_set(err, LB_EXIT_MACHINE, "out of memory for a fiber");
    }
    state->sweeper = sweeper;
    return 0;
}

void pg_sweeper_end(struct pg_session *state) {
    struct pg_sweeper *sweeper = state->sweeper;
    if (!sweeper) return;
    state->sweeper = NULL;
    sweeper->ending = true;
    lb_wake(sweeper->fiber);
    lb_join(sweeper->fiber);
    free(sweeper);
}
