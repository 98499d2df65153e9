/* excuse: see excuse.h.
 *
 * A grant that lives as long as its connection ends when the injection ends the connection; a grant
 * that lives as long as a session runs out when its client hears nothing from its servers for so
 * long. A client that is found in a cell after that has outlived its session, as others outlive their
 * leases. Grants with a lease end by the lease alone, so no injection excuses them. */
#include "bench/faults/excuse.h"

/* Whether a grant of this lock ends with its session. */
static bool ends_with_session(const struct faults *faults) {
    return faults->shared->lock->lock->caps & LB_CAP_SESSION;
}

static bool ends_at_once(const struct faults *faults) {
    return faults->shared->lock->lock->about.crash == LB_CRASH_AT_ONCE;
}

static void cut_all(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                    int64_t to_ns) {
    for (uint32_t i = first; i < first + count; i++) {
        findings_cut(&faults->shared->findings, i, from_ns, to_ns);
    }
}

void fault_excuse_begin(struct faults *faults) {
    faults->shared->findings.cut_grace_ns =
        ends_at_once(faults) ? 0 : faults->shared->plan->lease_ns / 2;
}

void fault_excuse_ended(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                        int64_t to_ns) {
    if (ends_with_session(faults)) cut_all(faults, first, count, from_ns, to_ns);
}

bool fault_excuse_silent(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns) {
    if (!ends_with_session(faults) || ends_at_once(faults)) return false;
    cut_all(faults, first, count, from_ns, LB_NEVER);
    return true;
}

void fault_excuse_over(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                       int64_t to_ns) {
    for (uint32_t i = first; i < first + count; i++) {
        findings_cut_over(&faults->shared->findings, i, from_ns, to_ns);
    }
}

void fault_oplog(struct faults *faults, enum oplog_kind kind, uint32_t first, uint32_t count,
                 int64_t from_ns, int64_t to_ns) {
    struct oplog *history = faults->shared->oplog;
    if (history) oplog_mishap(history, kind, first, count, from_ns, to_ns);
}
