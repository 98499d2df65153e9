/* hosts: the processes of one run on several hosts: their names, their messages, and the offsets of their clocks.
 *
 * Rank 0 is the coordinator: it has the plan, the servers and the result, and no clients. Each other rank is a load
 * host with a share of the clients. The coordinator asks and the load hosts answer; a load host speaks by itself only
 * to report news and trouble. A load host that sends nothing in time is lost: from then on nobody waits for it. */
#ifndef BENCH_TOOLS_HOSTS_HOSTS_H
#define BENCH_TOOLS_HOSTS_HOSTS_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"

/* clocks: how far another host's clock is ahead of this host's clock. The other host answers messages with its time.
 *
 * A message is sent at t0, answered at t, and its answer is received at t1. Then the offset t - (t0 + t1) / 2 is wrong
 * by at most half of t1 - t0, however long each of the two directions takes. So the exchange with the shortest round
 * trip is kept (Cristian, "Probabilistic Clock Synchronization", 1989). Between two measurements the offset is
 * interpolated. Its error is the error of the worse measurement plus the whole difference of the two offsets, because a
 * clock that is slewed or set may move by that difference at any moment between them. A clock that is set forward and
 * back again between two measurements is not noticed.
 *
 * This file only computes; hosts.c sends the messages. */

/* One measurement. Times are by this host's lb_now(). */
struct clock_offset {
    int64_t offset_ns; /* the other host's clock minus this host's clock */
    int64_t error_ns;  /* the offset is off by at most this */
    int64_t at_ns;     /* when it was measured; 0 = not yet */
};

/* Keeps the exchange if its round trip is shorter than those before. */
void clock_exchange(struct clock_offset *best, int64_t sent_ns, int64_t theirs_ns,
                    int64_t received_ns);

#define CLOCK_MEASUREMENTS 512

/* The measurements of one host in a stage, in the order of time. */
struct clock_series {
    struct clock_offset item[CLOCK_MEASUREMENTS];
    int count;
};

/* Adds a measurement. The measurement before it is dropped if it says nothing beside its two neighbours, because its
 * error interval contains both of theirs; and when there is no room. */
void clock_add(struct clock_series *series, const struct clock_offset *offset);

/* The offset at a time of this host's clock, and its error; before the first measurement and after the last one, that
 * measurement itself. All members are 0 if there is no measurement. */
struct clock_offset clock_at(const struct clock_series *series, int64_t at_ns);

/* The greatest error at any moment from from_ns to to_ns, for example of a stage. */
int64_t clock_error_ns(const struct clock_series *series, int64_t from_ns, int64_t to_ns);

/* link: the interface by which the processes of one run on several hosts send messages to each other. Rank 0
 * coordinates, the others carry load. The code that implements the link (MPI, or sockets in a test) knows nothing of
 * locks; the code that uses the link knows nothing of MPI.
 *
 * A message is a block of bytes; the messages from one sender to one receiver arrive in their order. All calls are on
 * the process's main thread. A process that has ended or is cut off is no error of the link: messages to it do not
 * arrive in time, and no message comes from it. So every wait has a deadline. */

#define LINK_MESSAGE_MAX ((size_t)1 << 30) /* bytes */

struct link {
    int self, count; /* this rank, and the number of ranks */
    /* Sends a message. deadline_ns: by lb_now(). 0, or -1 when it has not left by then. */
    int (*send)(struct link *link, int to, const void *bytes, size_t length, int64_t deadline_ns);
    /* Takes the next message of a rank: 1 with bytes that the caller frees; 0 when none came by the deadline, which may
     * lie in the past; -1 when out of memory, or the link is broken. */
    int (*receive)(struct link *link, int from, void **ret_bytes, size_t *ret_length,
                   int64_t deadline_ns);
    void *state;
};

#define HOSTS_MAX 256

/* bench/HOSTS.md states these limits. */
/* A load host that is silent for so long is lost. */
#define HOST_SILENT_NS (10 * LB_S_NS)
/* The limit of one clock exchange; a load host looks for messages every 50 ms. */
#define CLOCK_ANSWER_NS (2 * LB_S_NS)
/* In a stage: a load host that hears nothing for so long gives up; the coordinator sends at least one message per
 * COORDINATOR_TALKS_NS. */
#define COORDINATOR_SILENT_NS (40 * LB_S_NS)
/* The same between two stages, in which the coordinator may start servers. */
#define COORDINATOR_ABSENT_NS (600 * LB_S_NS)
#define COORDINATOR_TALKS_NS (10 * LB_S_NS)

enum word {
    /* host -> coordinator: value[0] = hash of the program; value[1] = hash of the machine and its network; text = the
     * host's name */
    WORD_HELLO,
    WORD_PLAN, /* coordinator -> host: blob = the workload; answered by WORD_READY or WORD_TROUBLE */
    /* host -> coordinator: has read the plan, blob = its environment; or has reached a stage's moment value[0] */
    WORD_READY,
    WORD_STAGE, /* coordinator -> host: blob = the description of the next stage */
    /* coordinator -> host: all hosts have reached the moment value[0]: go on; before the load value[1] = when it begins,
     * by the host's clock */
    WORD_ON,
    WORD_GIVE_UP, /* coordinator -> host, before the load: end the stage, which measures nothing */
    WORD_END,     /* coordinator -> host: end the window now */
    WORD_NEWS,    /* host -> coordinator, each second: it lives */
    WORD_TROUBLE, /* host -> coordinator: text = why it can't go on; value[0] = exit code */
    WORD_PARTS, /* host -> coordinator: one part of its measurements; value[0] = the part's number */
    /* both ways: value[1] = when the coordinator asked; value[0] of the answer = the host's clock */
    WORD_CLOCK,
    WORD_LEAVE /* coordinator -> host: the run is over; or: this host is not wanted */
};

#define MESSAGE_VALUES 4

struct message {
    enum word word;
    int64_t value[MESSAGE_VALUES];
    char text[240]; /* NUL-terminated */
    void *blob; /* further bytes; the caller frees that of a received message, also of 0 bytes */
    size_t blob_bytes;
};

/* One load host, as the coordinator knows it; or the coordinator, as a load host knows it. */
struct host {
    char name[64];
    /* of its machine, as it told with the plan; NULL = it did not */
    json_t *environment;
    struct clock_series clock;
    bool lost; /* it gets no messages any more */
    char why[200];
    int64_t heard_ns; /* when something last came from it */
    bool has_kept;    /* hosts_hear and hosts_wait give this message first */
    struct message kept;
};

struct hosts {
    struct link *link;
    /* of the coordinator: on some host a loopback address does not lead to the coordinator's own servers */
    bool apart;
    int count; /* of load hosts; for the coordinator rank i + 1 is host i */
    /* of the present stage: when news was last sent, or clocks were last measured */
    int64_t news_ns;
    bool loads; /* of a load host: its load goes on, and it has reported no trouble */
    /* of the coordinator: the hosts were asked for it; the loss of a host was told */
    bool asked, told;
    const volatile sig_atomic_t
        *interrupts;             /* Ctrl-C ends the coordinator's waits before the load */
    struct host host[HOSTS_MAX]; /* of a load host: host[0] is the coordinator */
};

bool hosts_coordinates(const struct hosts *hosts);

/* The first exchange, called by the coordinator and by the load hosts: each load host sends its name and the hash of
 * its program; the coordinator compares the hash with its own. Returns the hosts, which the
 * caller frees with hosts_free; NULL with err if a host runs another program, or if a host did not answer by
 * deadline_ns (by lb_now()): then *ret_silent is set too, unless ret_silent is NULL. */
struct hosts *hosts_meet(struct link *link, int64_t deadline_ns, bool *ret_silent,
                         struct lb_err *err);
/* The coordinator tells the load hosts that the run is over. Accepts NULL. */
void hosts_free(struct hosts *hosts);

/* ---- the coordinator ---- */

/* Sends to one load host, unless it is lost. A host to which nothing can be sent is lost. */
void hosts_tell(struct hosts *hosts, int host, const struct message *message);
/* Sends to every load host that is not lost. */
void hosts_tell_all(struct hosts *hosts, const struct message *message);

/* Takes the next message of a host by the deadline. Returns 1, or 0 when none came. WORD_NEWS and late answers about the
 * clock are dropped. A host that is silent for HOST_SILENT_NS is lost, and not waited for; but not before this function has
 * looked for what came while nobody called it, or while this process stood still. */
int hosts_hear(struct hosts *hosts, int host, struct message *ret, int64_t deadline_ns);

/* Puts a message back, for the next call of hosts_hear or hosts_wait. At most one message of each host can be put back. */
void hosts_keep(struct hosts *hosts, int host, const struct message *message);

/* From now on each host must be heard every HOST_SILENT_NS. */
void hosts_expect(struct hosts *hosts);

/* Measures the offset of each host's clock by at least this number of exchanges; a load host answers them in
 * hosts_wait. The clock of a host whose message was put back is not measured, but that host gets a message, so that
 * it knows that the coordinator runs. needed: a host whose clock could not be measured is lost, since its times can't be
 * compared with those of other hosts. */
void hosts_measure_clocks(struct hosts *hosts, int exchanges, bool needed);

/* Marks a host as lost, for a reason. */
void hosts_lose(struct hosts *hosts, int host, const char *why);
/* 0, or -1 with err: a host is lost; the first of them, and why. */
int hosts_check_lost(const struct hosts *hosts, struct lb_err *err);

/* ---- a load host ---- */

/* Returns 0, or -1 with err if the coordinator has been silent for COORDINATOR_SILENT_NS, or is lost. */
int hosts_check_coordinator(struct hosts *hosts, struct lb_err *err);

/* Sends to the coordinator. 0, or -1 with err when the coordinator does not listen. */
int hosts_report(struct hosts *hosts, const struct message *message, struct lb_err *err);
/* The same with WORD_TROUBLE. */
int hosts_report_trouble(struct hosts *hosts, const struct lb_err *why, struct lb_err *err);
/* Takes the coordinator's next message by the deadline, and answers clock exchanges meanwhile. 1; 0 if none came; -1
 * with err. */
int hosts_wait(struct hosts *hosts, struct message *ret, int64_t deadline_ns, struct lb_err *err);

#endif
