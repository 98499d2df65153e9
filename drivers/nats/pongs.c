/* pongs: answers the servers' PINGs for sessions that send no requests, for example while a client holds. A server ends
 * the connection of a client that does not answer two PINGs, by default after some minutes.
 *
 * One fiber serves all sessions of a thread, because a fiber for each would double the memory of a session. The fiber
 * looks rarely, and only at sessions that no call has used since its last look. */
#define _GNU_SOURCE /* for POLLRDHUP */
#include <poll.h>

#include "drivers/nats/nats.h"
#include "drivers/wait.h"

#define LOOK_NS LB_S_NS
#define AT_ONCE 64 /* sessions between two moments when other fibers may run */

/* The sessions of this thread. */
static _Thread_local struct {
    struct lb_session *first, *next; /* next: the session at which the present pass looks next */
    struct lb_fiber *fiber; /* ends with the last session; a later session starts a new one */
} pongs;

static bool is_over(void) {
    return pongs.fiber != lb_self() || lb_stopping();
}

/* Whether there are bytes to read. False for a connection that has ended: the next request notices that, and its
 * outcome is then unknown. */
static bool has_news(const struct nats_session *nats) {
    struct pollfd look = {.fd = nats->stream.sock.fd, .events = POLLIN | POLLRDHUP};
    if (nats->stream.dead || poll(&look, 1, 0) < 0 || (look.revents & ~POLLIN)) return false;
    return look.revents || nats->stream.start < nats->stream.end;
}

static void look_at(struct lb_session *session) {
    struct nats_session *nats = nats_session_of(session);
    bool used = nats->used;
    nats->used = false;
    if (used || nats->gate.taken || !gate_enter(&nats->gate, LB_NEVER)) return;
    enum lb_outcome outcome = LB_OK;
    while (outcome == LB_OK && has_news(nats) && !is_over()) outcome = nats_take_news(session);
    gate_leave(&nats->gate);
}

static void look_at_all(void) {
    int looked = 0;
    for (pongs.next = pongs.first; pongs.next && !is_over();) {
        struct lb_session *session = pongs.next;
        pongs.next = nats_session_of(session)->pongs_next;
        look_at(session);
        if (++looked % AT_ONCE == 0) lb_yield();
    }
}

static void run_pongs(void *arg) {
    (void)arg;
    while (!is_over()) {
        lb_sleep_until(lb_now() + LOOK_NS);
        look_at_all();
    }
}

int nats_pongs_begin(struct lb_session *session, struct lb_err *err) {
    struct nats_session *nats = nats_session_of(session);
    if (!pongs.fiber) pongs.fiber = lb_start_fiber("nats pongs", run_pongs, NULL);
    if (!pongs.fiber) return err_set(err, LB_EXIT_MACHINE, "nats: out of memory");
    nats->has_pongs = true;
    nats->pongs_before = NULL;
    nats->pongs_next = pongs.first;
    if (pongs.first) nats_session_of(pongs.first)->pongs_before = session;
    pongs.first = session;
    return 0;
}

void nats_pongs_end(struct lb_session *session) {
    struct nats_session *nats = nats_session_of(session);
    if (!nats->has_pongs) return;
    nats->has_pongs = false;
    while (!gate_enter(&nats->gate, LB_NEVER)) lb_yield();
    struct lb_session *before = nats->pongs_before, *next = nats->pongs_next;
    if (before)
        nats_session_of(before)->pongs_next = next;
    else
        pongs.first = next;
    if (next) nats_session_of(next)->pongs_before = before;
    if (pongs.next == session) pongs.next = next;
    gate_leave(&nats->gate);
    if (pongs.first) return;
    struct lb_fiber *fiber = pongs.fiber;
    pongs.fiber = NULL;
    lb_wake(fiber);
    lb_join(fiber);
}
