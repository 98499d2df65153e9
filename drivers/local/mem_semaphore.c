/* mem_semaphore: a POSIX semaphore in shared memory, with futex waits. Arming gives it its permits.
 * Permits have no owners, so the permit of a dead holder is lost. Several permits at once are
 * refused: with sem_wait(3), two clients that want all permits could get half of them each. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "drivers/local/memory.h"
#include "drivers/wait.h"

/* GCC 12's ThreadSanitizer does not know sem_clockwait: this code reports to it what was taken. */
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 14
#include <sanitizer/tsan_interface.h>
#define TELL_TAKEN(semaphore) __tsan_acquire(semaphore)
#else
#define TELL_TAKEN(semaphore) ((void)0)
#endif

static struct mem_semaphore_slot *semaphore_slot_of(const struct lb_session *session,
                                                    const struct lb_request *request) {
    return &memory_of(session)->semaphore[memory_slot(request)];
}

static int semaphore_arm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    struct mem_semaphore_slot *slot = semaphore_slot_of(session, request);
    if (request->key_index >= LOCAL_SLOTS)
        return err_set(err, LB_EXIT_USAGE, "memory: at most %d semaphores at once", LOCAL_SLOTS);
    if (slot->armed) return 0;
    if (sem_init(&slot->semaphore, 1, request->bound) != 0)
        return err_set(err, LB_EXIT_MACHINE, "sem_init: %s", strerror(errno));
    slot->armed = true;
    return 0;
}

static int semaphore_disarm(struct lb_session *session, const struct lb_request *request,
                            struct lb_err *err) {
    (void)err;
    struct mem_semaphore_slot *slot = semaphore_slot_of(session, request);
    if (slot->armed) sem_destroy(&slot->semaphore);
    slot->armed = false;
    return 0;
}

static enum lb_outcome semaphore_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct mem_semaphore_slot *slot = semaphore_slot_of(session, request);
    if (!slot->armed) return lb_fail(session, LB_REFUSED, "memory: the semaphore is not armed");
    int failed = sem_trywait(&slot->semaphore) == 0 ? 0 : errno;
    if (failed == EAGAIN && request->deadline_ns <= lb_now()) return LB_BUSY;
    while (failed == EAGAIN || failed == ETIMEDOUT || failed == EINTR) {
        struct timespec until;
        if (!memory_slice(request->deadline_ns, &until)) return LB_TIMEOUT;
        failed = sem_clockwait(&slot->semaphore, CLOCK_MONOTONIC, &until) == 0 ? 0 : errno;
        if (!failed) TELL_TAKEN(&slot->semaphore);
    }
    return failed ? lb_fail(session, LB_BROKEN, "semaphore: %s", strerror(failed))
                  : memory_granted(grant, 1);
}

static enum lb_outcome semaphore_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    /* sem_post(3) by a client without a permit would add a permit. */
    if (!memory_taken_back(grant)) return LB_LOST;
    if (sem_post(&semaphore_slot_of(session, request)->semaphore) == 0) return LB_OK;
    return lb_fail(session, LB_BROKEN, "semaphore: %s", strerror(errno));
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct memory_grant),
    .arm = semaphore_arm,
    .disarm = semaphore_disarm,
    .acquire = semaphore_acquire,
    .release = semaphore_release,
};

const struct lb_lock lock_mem_semaphore = {
    .name = "mem-semaphore",
    .summary = "POSIX semaphore, process-shared",
    .backend = &backend_memory,
    .primitive = LB_SEMAPHORE,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "kernel (futex)",
    .about = {.compatible = "any program that maps the same POSIX semaphore",
              .order = "none",
              .hazards =
                  "it has no owner: any process may post, and the permit of a holder that dies is "
                  "lost for ever",
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_NEVER},
    .algorithm = &algorithm,
};
