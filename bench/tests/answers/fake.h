/* fake: a server in a process of its own that plays a script: service times, delays, freezes, lost
 * and doubled grants. It speaks as much of RESP, memcached's and NATS's protocol as a lock needs,
 * and writes down each command with its times, from which the truths of an experiment are computed.
 *
 * It grants keys as the script says. It knows no leases, and is no model of a real server. */
#ifndef BENCH_ANSWERS_FAKE_H
#define BENCH_ANSWERS_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"

enum fake_protocol { FAKE_RESP, FAKE_MEMCACHED, FAKE_NATS, FAKE_PROTOCOLS };

enum fake_kind {
    FAKE_ACQUIRE,
    FAKE_RELEASE,
    FAKE_LOOK,   /* reads a key before it is acquired */
    FAKE_PING,   /* a ping; a session is open when its first one has been answered */
    FAKE_OTHER,  /* any other command that has an answer */
    FAKE_SILENT, /* any other command that has no answer */
};

enum fake_outcome {
    FAKE_GRANTED,
    FAKE_BUSY,
    FAKE_RELEASED,
    FAKE_LOST,   /* the answer to the release says that the client does not hold the key */
    FAKE_DONE,   /* a command other than acquire and release was answered */
    FAKE_UNSENT, /* no answer was sent */
};

/* All zero is a server that answers at once. */
struct fake_script {
    enum fake_protocol protocol;
    int64_t acquire_ns; /* service time of an acquire; of a release below */
    int64_t release_ns;
    int64_t greeting_ns; /* a new connection's first answer takes so long */
    bool exponential;    /* acquire_ns is the mean of exponentially distributed service times */
    bool serial;         /* one acquire is served at a time; else each by itself */
    int slow_every;      /* each n-th acquire takes slow_ns more; 0 = none */
    int64_t slow_ns;
    int64_t freeze_after_ns, freeze_ns; /* after the first acquire the server stands still */
    bool queue;           /* an acquire of a held key waits in the server; else it is told busy */
    int64_t handoff_ns;   /* from a release to the grant of who waits there */
    const char *pattern;  /* "0012": the order of grants by client, repeated; NULL = as they came */
    uint64_t stop_after;  /* after so many grants nothing is granted any more; 0 = never */
    double double_chance; /* of an acquire of a held key to be granted all the same */
    int lose_every;       /* each n-th release is answered by FAKE_LOST; 0 = none */
    int silent_every;     /* each n-th acquire gets no answer, and no grant; 0 = none */
    int busy_every;       /* each n-th acquire is told busy, whoever holds; 0 = none */
    uint64_t seed;        /* of service times and doubled grants */
};

/* A command as the server saw it. Times of CLOCK_MONOTONIC. */
struct fake_record {
    int64_t received_ns, sent_ns; /* sent_ns 0 = not answered */
    int64_t service_ns;           /* what the script gave it */
    int32_t client;               /* connections are numbered by their first acquire; -1 = none */
    uint8_t kind, outcome;        /* enum fake_kind, fake_outcome */
    bool doubled;                 /* granted although the key was held */
    uint16_t bytes_in, bytes_out;
};

#define FAKE_RECORDS_MAX (1 << 19)

/* In memory that the server's process shares with who started it. */
struct fake_log {
    _Atomic size_t count; /* commands received; the answers to the last ones may not be sent yet */
    struct fake_record record[FAKE_RECORDS_MAX];
};

struct fake {
    pid_t pid;
    int port;
    struct fake_log *log;
};

/* Starts the server on a free port of 127.0.0.1. The script is borrowed until fake_stop. 0, or -1
 * with err; then nothing is left. */
int fake_start(struct fake *ret_fake, const struct fake_script *script, struct lb_err *err);
/* Ends the process; its log stays until fake_free. */
void fake_stop(struct fake *fake);
void fake_free(struct fake *fake);

#endif
