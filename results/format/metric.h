/* metric: the times that are recorded as histograms, and their names in results. */
#ifndef RESULTS_FORMAT_METRIC_H
#define RESULTS_FORMAT_METRIC_H

enum metric {
    METRIC_ACQUIRE,     /* started to acquired */
    METRIC_ACQUIRE_DUE, /* due to acquired */
    /* started to acquired, of clients that asked as readers, and of those that asked as writers, in
     * stages with readers */
    METRIC_ACQUIRE_SHARED,
    METRIC_ACQUIRE_EXCLUSIVE,
    /* the same two from due, in an open loop */
    METRIC_ACQUIRE_DUE_SHARED,
    METRIC_ACQUIRE_DUE_EXCLUSIVE,
    METRIC_RELEASE, /* releasing to released */
    METRIC_HOLD,    /* acquired to releasing */
    /* from the previous holder's release to this grant, if this client was already waiting; in a
     * read-write lock for writers, after the last holder has left; not for permits */
    METRIC_HANDOFF,
    METRIC_LAG,         /* due to started */
    METRIC_WAIT_FAILED, /* started to the end of an attempt that was not granted */
    METRIC_PING,        /* an empty round trip */
    METRIC_CONNECT,     /* opening a session for an attempt */
    /* latches: from the call of the last count-down to the return of the last awaiter */
    METRIC_LAST_AWAKE,
    METRIC_HICCUP, /* how late the engine's own 1 ms timer was */
    METRICS
};

/* "acquire", as in run.json and in tags of .hlog files. */
const char *metric_name(enum metric metric);
/* METRICS if it is no metric's name. */
enum metric metric_named(const char *name);

#endif
