/* hosts: see hosts.h. */
#define _GNU_SOURCE

#include "bench/tools/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

void clock_exchange(struct clock_offset *best, int64_t sent_ns, int64_t theirs_ns,
                    int64_t received_ns) {
    int64_t error_ns = (received_ns - sent_ns + 1) / 2;
    if (best->at_ns != 0 && error_ns >= best->error_ns) return;
    best->at_ns = sent_ns + (received_ns - sent_ns) / 2;
    best->offset_ns = theirs_ns - best->at_ns;
    best->error_ns = error_ns;
}

/* Whether the error interval of `wide` contains that of `narrow`, so that `wide` adds no information. */
static bool covers(const struct clock_offset *wide, const struct clock_offset *narrow) {
    return magnitude(wide->offset_ns - narrow->offset_ns) + narrow->error_ns <= wide->error_ns;
}

void clock_add(struct clock_series *series, const struct clock_offset *offset) {
    if (series->count >= 2) {
        const struct clock_offset *last = &series->item[series->count - 1];
        if (covers(last, last - 1) && covers(last, offset)) series->count--;
    }
    if (series->count == CLOCK_MEASUREMENTS) series->count--;
    series->item[series->count++] = *offset;
}

/* Interpolates the offset between two measurements. The clock may have moved at any moment between them, at once or
 * slowly, so the error is the whole difference of the two offsets plus the error of the worse measurement. */
static struct clock_offset between(const struct clock_offset *a, const struct clock_offset *b,
                                   int64_t at_ns) {
    double part = (double)(at_ns - a->at_ns) / (double)(b->at_ns - a->at_ns);
    int64_t change_ns = b->offset_ns - a->offset_ns;
    int64_t error_ns = a->error_ns > b->error_ns ? a->error_ns : b->error_ns;
    return (struct clock_offset){.offset_ns = a->offset_ns + (int64_t)(part * (double)change_ns),
                                 .error_ns = error_ns + magnitude(change_ns),
                                 .at_ns = at_ns};
}

struct clock_offset clock_at(const struct clock_series *series, int64_t at_ns) {
    int next = 0;
    if (series->count == 0) return (struct clock_offset){0};
    while (next < series->count && series->item[next].at_ns <= at_ns) next++;
    if (next == 0) return series->item[0];
    if (next == series->count) return series->item[next - 1];
    return between(&series->item[next - 1], &series->item[next], at_ns);
}

int64_t clock_error_ns(const struct clock_series *series, int64_t from_ns, int64_t to_ns) {
    struct clock_offset first = clock_at(series, from_ns), last = clock_at(series, to_ns);
    int64_t most_ns = first.error_ns > last.error_ns ? first.error_ns : last.error_ns;
    for (int i = 0; i + 1 < series->count; i++) {
        const struct clock_offset *a = &series->item[i], *b = &series->item[i + 1];
        if (b->at_ns <= from_ns || a->at_ns >= to_ns) continue;
        int64_t error_ns = between(a, b, a->at_ns).error_ns;
        if (error_ns > most_ns) most_ns = error_ns;
    }
    return most_ns;
}

#define FINE_NS 20000               /* a clock error below this is good enough */
#define MEASURE_NS (100 * LB_MS_NS) /* limit of the further exchanges when the error is greater */
#define SEND_NS (10 * LB_S_NS)      /* limit for a message to leave */
#define SEND_LEAST_NS LB_S_NS
#define PARTS_NS                                                                                   \
    (300 * LB_S_NS) /* the same for WORD_PARTS: the coordinator takes host after host */
#define LOOK_NS (100 * LB_MS_NS) /* for a message of a silent host that may wait */
#define QUICK_NS (3 * LB_MS_NS)  /* within this time the next clock exchange is expected */

bool hosts_coordinates(const struct hosts *hosts) {
    return hosts->link->self == 0;
}

#define HASH_BEGIN UINT64_C(14695981039346656037)

/* FNV-1a. */
static uint64_t hash_on(uint64_t hash, const void *bytes, size_t length) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Two hosts with the same program have the same hash. 0 with err if the program's file can't be read. */
static uint64_t hash_program(struct lb_err *err) {
    uint64_t hash = HASH_BEGIN;
    char bytes[8192];
    ssize_t got = 0;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0)
        hash = hash_on(hash, bytes, (size_t)got);
    if (fd < 0 || got < 0) {
        err_set(err, LB_EXIT_MACHINE,
                "this program can't be read to compare it with that of other hosts: %s",
                strerror(errno));
        hash = 0;
    }
    if (fd >= 0) close(fd);
    return hash;
}

/* Of the kernel's boot id and of the network namespace: two processes with the same hash reach the same server by a
 * loopback address. The name of the machine would not show this: several machines may have one name, and one machine may
 * have several. */
static uint64_t hash_of_place(void) {
    struct stat net = {0};
    char boot[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, boot, sizeof boot) : 0;
    if (fd >= 0) close(fd);
    stat("/proc/self/ns/net", &net);
    uint64_t hash = hash_on(HASH_BEGIN, boot, got > 0 ? (size_t)got : 0);
    hash = hash_on(hash, &net.st_dev, sizeof net.st_dev);
    return hash_on(hash, &net.st_ino, sizeof net.st_ino);
}

/* Sends a message with its blob behind it; the receiver makes the pointer new. */
static int send_message(struct hosts *hosts, int rank, const struct message *message,
                        int64_t limit_ns) {
    size_t length = sizeof *message + message->blob_bytes;
    char *bytes = length <= LINK_MESSAGE_MAX ? malloc(length) : NULL;
    if (!bytes) return -1;
    memcpy(bytes, message, sizeof *message);
    if (message->blob_bytes > 0)
        memcpy(bytes + sizeof *message, message->blob, message->blob_bytes);
    int failed = hosts->link->send(hosts->link, rank, bytes, length, lb_now() + limit_ns);
    free(bytes);
    return failed;
}

/* Receives the next message of a rank. 1; 0 if none came by deadline_ns; -1 if the link is broken. */
static int receive_message(struct hosts *hosts, int rank, struct message *ret,
                           int64_t deadline_ns) {
    void *bytes = NULL;
    size_t length = 0;
    int got = hosts->link->receive(hosts->link, rank, &bytes, &length, deadline_ns);
    if (got != 1) return got;
    if (length < sizeof *ret) {
        free(bytes);
        return -1;
    }
    memcpy(ret, bytes, sizeof *ret);
    ret->blob_bytes = length - sizeof *ret;
    ret->blob = memmove(bytes, (char *)bytes + sizeof *ret, ret->blob_bytes);
    return 1;
}

void hosts_free(struct hosts *hosts) {
    if (!hosts) return;
    if (hosts_coordinates(hosts)) hosts_tell_all(hosts, &(struct message){.word = WORD_LEAVE});
    for (int i = 0; i < hosts->count; i++) {
        if (hosts->host[i].has_kept) free(hosts->host[i].kept.blob);
        json_decref(hosts->host[i].environment);
    }
    free(hosts);
}

/* ---- the coordinator ---- */

void hosts_lose(struct hosts *hosts, int host, const char *why) {
    if (hosts->host[host].lost) return;
    hosts->host[host].lost = true;
    snprintf(hosts->host[host].why, sizeof hosts->host[host].why, "%s", why);
}

int hosts_check_lost(const struct hosts *hosts, struct lb_err *err) {
    for (int i = 0; i < hosts->count; i++) {
        const struct host *host = &hosts->host[i];
        if (host->lost)
            return err_set(err, LB_EXIT_MACHINE, "host %d (%s) is lost: %s", i + 1, host->name,
                           host->why);
    }
    return 0;
}

void hosts_tell(struct hosts *hosts, int host, const struct message *message) {
    if (hosts->host[host].lost) return;
    /* A host is lost after HOST_SILENT_NS of silence, so sending does not wait longer than that. */
    int64_t left_ns = hosts->host[host].heard_ns + HOST_SILENT_NS - lb_now();
    if (send_message(hosts, host + 1, message, left_ns > SEND_LEAST_NS ? left_ns : SEND_LEAST_NS) !=
        0)
        hosts_lose(hosts, host, "a message to it did not arrive");
}

void hosts_tell_all(struct hosts *hosts, const struct message *message) {
    for (int i = 0; i < hosts->count; i++) hosts_tell(hosts, i, message);
}

void hosts_keep(struct hosts *hosts, int host, const struct message *message) {
    hosts->host[host].kept = *message;
    hosts->host[host].has_kept = true;
}

static bool take_kept(struct host *host, struct message *ret) {
    bool had = host->has_kept;
    if (had) *ret = host->kept;
    host->has_kept = false;
    return had;
}

void hosts_expect(struct hosts *hosts) {
    for (int i = 0; i < hosts->count; i++) hosts->host[i].heard_ns = lb_now();
}

#define SILENT_TEXT "nothing came from it for 10 s"
_Static_assert(HOST_SILENT_NS == 10 * LB_S_NS, "the text says so");

/* Like hosts_hear, but leaves out the message that was put back, and also returns answers about clocks. */
static int hear(struct hosts *hosts, int host, struct message *ret, int64_t deadline_ns) {
    struct host *of = &hosts->host[host];
    while (!of->lost) {
        int64_t now_ns = lb_now(), silent_ns = of->heard_ns + HOST_SILENT_NS;
        bool silent = silent_ns <= now_ns;
        int64_t until_ns = silent_ns < deadline_ns ? silent_ns : deadline_ns;
        struct message message = {0};
        int got = receive_message(hosts, host + 1, &message, silent ? now_ns + LOOK_NS : until_ns);
        if (got < 0) hosts_lose(hosts, host, "the connection to it is broken");
        if (got == 0 && silent) hosts_lose(hosts, host, SILENT_TEXT);
        if (got == 0 && lb_now() >= deadline_ns) return 0;
        if (got <= 0) continue;
        of->heard_ns = lb_now();
        if (message.word != WORD_NEWS) {
            *ret = message;
            return 1;
        }
        free(message.blob);
    }
    return 0;
}

int hosts_hear(struct hosts *hosts, int host, struct message *ret, int64_t deadline_ns) {
    struct message message;
    if (take_kept(&hosts->host[host], ret)) return 1;
    while (hear(hosts, host, &message, deadline_ns) == 1) {
        if (message.word != WORD_CLOCK) {
            *ret = message;
            return 1;
        }
        free(message.blob);
    }
    return 0;
}

/* One clock exchange. Returns false if the host does not answer, or if it sends another message, which is put back. */
static bool exchange_clocks(struct hosts *hosts, int host, struct clock_offset *best) {
    int64_t sent_ns = lb_now();
    struct message ask = {.word = WORD_CLOCK, .value = {0, sent_ns}}, answer = {0};
    hosts_tell(hosts, host, &ask);
    while (hear(hosts, host, &answer, sent_ns + CLOCK_ANSWER_NS) == 1) {
        int64_t received_ns = lb_now();
        if (answer.word != WORD_CLOCK) {
            hosts_keep(hosts, host, &answer);
            return false;
        }
        free(answer.blob);
        if (answer.value[1] != sent_ns) continue; /* a late answer to an earlier exchange */
        clock_exchange(best, sent_ns, answer.value[0], received_ns);
        return true;
    }
    return false;
}

void hosts_measure_clocks(struct hosts *hosts, int exchanges, bool needed) {
    for (int i = 0; i < hosts->count; i++) {
        struct clock_offset best = {0};
        int made = 0;
        int64_t limit_ns = lb_now() + MEASURE_NS;
        /* This message tells a host whose clock is not measured that the coordinator still runs. */
        if (hosts->host[i].has_kept) hosts_tell(hosts, i, &(struct message){.word = WORD_CLOCK});
        for (int k = 0; k < exchanges || (best.error_ns > FINE_NS && lb_now() < limit_ns); k++) {
            if (hosts->host[i].lost || hosts->host[i].has_kept) break;
            if (!exchange_clocks(hosts, i, &best)) break;
            made++;
        }
        /* A measurement with fewer exchanges is dropped: its error would be greater. */
        if (made >= exchanges)
            clock_add(&hosts->host[i].clock, &best);
        else if (needed)
            hosts_lose(hosts, i, "its clock could not be measured: it answered too slowly");
    }
}

/* ---- a load host ---- */

static int check_lost(const struct hosts *hosts, struct lb_err *err) {
    if (!hosts->host[0].lost) return 0;
    return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) is gone, or cut off");
}

int hosts_check_coordinator(struct hosts *hosts, struct lb_err *err) {
    hosts->host[0].lost |= lb_now() - hosts->host[0].heard_ns > COORDINATOR_SILENT_NS;
    return check_lost(hosts, err);
}

int hosts_report(struct hosts *hosts, const struct message *message, struct lb_err *err) {
    int64_t limit_ns = message->word == WORD_PARTS ? PARTS_NS : SEND_NS;
    bool *lost = &hosts->host[0].lost;
    *lost = *lost || send_message(hosts, 0, message, limit_ns) != 0;
    return check_lost(hosts, err);
}

int hosts_report_trouble(struct hosts *hosts, const struct lb_err *why, struct lb_err *err) {
    struct message message = {.word = WORD_TROUBLE, .value = {why->code}};
    snprintf(message.text, sizeof message.text, "%.230s", why->text);
    return hosts_report(hosts, &message, err);
}

int hosts_wait(struct hosts *hosts, struct message *ret, int64_t deadline_ns, struct lb_err *err) {
    struct host *coordinator = &hosts->host[0];
    if (take_kept(coordinator, ret)) return 1;
    for (;;) {
        struct message message = {0};
        int got = coordinator->lost ? -1 : receive_message(hosts, 0, &message, deadline_ns);
        coordinator->lost |= got < 0;
        if (got < 0) return check_lost(hosts, err);
        if (got == 0) return 0;
        coordinator->heard_ns = lb_now();
        if (message.word != WORD_CLOCK) {
            *ret = message;
            return 1;
        }
        free(message.blob);
        struct message answer = {.word = WORD_CLOCK, .value = {lb_now(), message.value[1]}};
        if (hosts_report(hosts, &answer, err) != 0) return -1;
        /* Exchanges come in series, so the wait goes on for the next one: a late answer would make its round trip
         * longer, and so its error greater. */
        if (deadline_ns < lb_now() + QUICK_NS) deadline_ns = lb_now() + QUICK_NS;
    }
}

/* ---- both ---- */

static int tell_name(struct hosts *hosts, uint64_t program, struct lb_err *err) {
    struct message hello = {.word = WORD_HELLO,
                            .value = {(int64_t)program, (int64_t)hash_of_place()}};
    char name[64] = "";
    gethostname(name, sizeof name - 1);
    snprintf(hello.text, sizeof hello.text, "%s", name);
    return hosts_report(hosts, &hello, err);
}

static int hear_name(struct hosts *hosts, int i, uint64_t program, int64_t deadline_ns,
                     bool *ret_silent, struct lb_err *err) {
    struct message hello;
    struct host *host = &hosts->host[i];
    host->heard_ns = deadline_ns; /* a host that starts late is not silent */
    if (hosts_hear(hosts, i, &hello, deadline_ns) != 1) {
        if (ret_silent) *ret_silent = true;
        return err_set(err, LB_EXIT_MACHINE,
                       "host %d did not answer: is lockbench there, and the way to it open?",
                       i + 1);
    }
    free(hello.blob);
    snprintf(host->name, sizeof host->name, "%.63s", hello.text);
    hosts->apart |= (uint64_t)hello.value[1] != hash_of_place();
    if (hello.word == WORD_HELLO && (uint64_t)hello.value[0] == program) return 0;
    return err_set(
        err, LB_EXIT_MACHINE,
        "host %d (%s) runs another lockbench than this one: install the same program on every host",
        i + 1, host->name);
}

struct hosts *hosts_meet(struct link *link, int64_t deadline_ns, bool *ret_silent,
                         struct lb_err *err) {
    struct hosts *hosts = NULL;
    uint64_t program = hash_program(err);
    int failed = program == 0;
    if (link->count < 2 || link->count > HOSTS_MAX + 1) {
        err_set(
            err, LB_EXIT_USAGE,
            "processes: %d, but there must be 2 to %d: the first is the coordinator, the others have the clients (-np)",
            link->count, HOSTS_MAX + 1);
        return NULL;
    }
    hosts = calloc(1, sizeof *hosts);
    if (!hosts) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    hosts->link = link;
    hosts->count = link->count - 1;
    if (!hosts_coordinates(hosts)) {
        if (!failed && tell_name(hosts, program, err) == 0) return hosts;
        free(hosts);
        return NULL;
    }
    for (int i = 0; i < hosts->count && !failed; i++)
        failed = hear_name(hosts, i, program, deadline_ns, ret_silent, err);
    if (!failed) return hosts;
    hosts_free(hosts);
    return NULL;
}
