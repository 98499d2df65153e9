/* oplog: see oplog.h. */
#define _GNU_SOURCE
#include "bench/oplog/oplog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (48 << 20)    /* of all rings together */
#define EVIDENCE_BYTES (8 << 20) /* the same, for evidence alone */
#define ROOM_MIN 256             /* records of one ring, for any number of threads */
#define ROOM_MAX (1 << 19)
#define ROOM_SUPERVISOR 4096

static uint32_t room_of(int threads, bool all) {
    size_t bytes = all ? RING_BYTES : EVIDENCE_BYTES;
    size_t each = bytes / sizeof(struct oplog_record) / (size_t)threads;
    uint32_t room = ROOM_MIN;
    while (room < ROOM_MAX && room * 2 <= each) room *= 2;
    return room;
}

static size_t head_bytes(int threads) {
    size_t bytes = sizeof(struct oplog) + (size_t)(threads + 1) * sizeof(struct oplog_ring);
    return (bytes + 63) & ~(size_t)63;
}

size_t oplog_bytes(int threads, bool all) {
    size_t records = (size_t)threads * room_of(threads, all) + ROOM_SUPERVISOR;
    return head_bytes(threads) + records * sizeof(struct oplog_record);
}

struct oplog *oplog_init(void *memory, int threads, bool all) {
    struct oplog *history = memory;
    struct oplog_record *records = (void *)((char *)memory + head_bytes(threads));
    history->threads = threads;
    for (int i = 0; i <= threads; i++) {
        struct oplog_ring *ring = &history->rings[i];
        ring->room = i < threads ? room_of(threads, all) : ROOM_SUPERVISOR;
        ring->records = records;
        records += ring->room;
    }
    return history;
}

static uint64_t free_room(const struct oplog_ring *ring) {
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    return ring->room - (head - atomic_load_explicit(&ring->tail, memory_order_acquire));
}

static void count_dropped(struct oplog_ring *ring) {
    atomic_store_explicit(&ring->dropped,
                          atomic_load_explicit(&ring->dropped, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The record is complete before the head includes it, because a thread may be killed in between. */
static void put_record(struct oplog_ring *ring, const struct oplog_record *record) {
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    ring->records[head & (ring->room - 1)] = *record;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

bool oplog_granted(struct oplog_ring *ring, const struct oplog_record *record) {
    if (free_room(ring) < (uint64_t)ring->owed + 2) {
        count_dropped(ring);
        return false;
    }
    ring->owed++;
    put_record(ring, record);
    return true;
}

void oplog_released(struct oplog_ring *ring, const struct oplog_record *record) {
    ring->owed--;
    put_record(ring, record);
}

void oplog_note(struct oplog_ring *ring, const struct oplog_record *record) {
    if (free_room(ring) < (uint64_t)ring->owed + 1) {
        count_dropped(ring);
    } else {
        put_record(ring, record);
    }
}

void oplog_mishap(struct oplog *history, enum oplog_kind kind, uint32_t first, uint32_t count,
                  int64_t from_ns, int64_t to_ns) {
    struct oplog_record record = {.kind = (uint8_t)kind,
                                  .client = first,
                                  .clients = count,
                                  .begin_ns = from_ns,
                                  .end_ns = to_ns,
                                  .lease_end_ns = LB_NEVER};
    oplog_note(&history->rings[history->threads], &record);
}

size_t oplog_rest(const struct oplog_ring *ring, uint64_t *tail, const struct oplog_record **ret) {
    uint64_t at = *tail & (ring->room - 1), count = atomic_load(&ring->head) - *tail;
    if (count > ring->room - at) count = ring->room - at;
    *ret = &ring->records[at];
    *tail += count;
    return count;
}

uint64_t oplog_dropped(const struct oplog *history) {
    uint64_t dropped = 0;
    for (int i = 0; i <= history->threads; i++) dropped += atomic_load(&history->rings[i].dropped);
    return dropped;
}

const char *oplog_outcome_name(enum oplog_outcome outcome) {
    static const char *const names[] = {"ok",      "busy",    "timeout", "lost",
                                        "unknown", "refused", "broken"};
    return outcome < OPLOG_OUTCOMES ? names[outcome] : "?";
}

/* --- the file --- */

#define BYTE_ORDER_MARK 0x01020304
#define LOOK_NS (5 * LB_MS_NS) /* between two looks at the rings */
/* the longest time that records wait in a ring that is not half full */
#define LINGER_NS (100 * LB_MS_NS)

struct oplog_writer {
    struct oplog *history;
    int fd;
    char path[512];
    struct oplog_header header;
    uint64_t written; /* records */
    pthread_t thread;
    bool running;
    _Atomic bool ends;
    struct lb_err err; /* belongs to the thread until it is joined */
};

/* A short write must not leave a part of a record in the file. */
static void stop_writing(struct oplog_writer *writer, const char *why) {
    off_t end =
        (off_t)(sizeof(struct oplog_header) + writer->written * sizeof(struct oplog_record));
    /* a reader could not tell a cut record from a whole one */
    if (ftruncate(writer->fd, end) != 0) writer->written = 0;
    err_set(&writer->err, LB_EXIT_MACHINE, "the history ends early: %s: %s", writer->path, why);
}

static int write_all(struct oplog_writer *writer, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes > 0) {
        ssize_t count = write(writer->fd, at, bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            stop_writing(writer, strerror(count < 0 ? errno : ENOSPC));
            return -1;
        }
        at += count;
        bytes -= (size_t)count;
    }
    return 0;
}

/* Takes the records of a ring if there are enough of them. */
static void take_records(struct oplog_writer *writer, struct oplog_ring *ring, bool all) {
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (!all && atomic_load(&ring->head) - tail < ring->room / 2) return;
    for (int turn = 0; turn < 2; turn++) { /* to the end of the ring's memory, and from its begin */
        const struct oplog_record *records;
        size_t count = oplog_rest(ring, &tail, &records);
        if (writer->written + count > OPLOG_RECORDS_MAX) {
            stop_writing(writer, "more operations than can be judged");
            return;
        }
        if (write_all(writer, records, count * sizeof *records) != 0) return;
        writer->written += count;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
}

static void take_all(struct oplog_writer *writer, bool all) {
    for (int i = 0; i <= writer->history->threads && !writer->err.code; i++) {
        take_records(writer, &writer->history->rings[i], all);
    }
}

static void *writer_main(void *arg) {
    struct oplog_writer *writer = arg;
    int64_t all_ns = lb_now() + LINGER_NS;
    while (!atomic_load(&writer->ends) && !writer->err.code) {
        int64_t now_ns = lb_now();
        take_all(writer, now_ns >= all_ns);
        if (now_ns >= all_ns) all_ns = now_ns + LINGER_NS;
        lb_nap(LOOK_NS);
    }
    return NULL;
}

static void join_writer(struct oplog_writer *writer) {
    atomic_store(&writer->ends, true);
    if (writer->running) pthread_join(writer->thread, NULL);
    writer->running = false;
}

static int write_header(struct oplog_writer *writer) {
    const struct oplog_header *header = &writer->header;
    if (pwrite(writer->fd, header, sizeof *header, 0) == (ssize_t)sizeof *header) return 0;
    return err_set(&writer->err, LB_EXIT_MACHINE, "cannot write %s: %s", writer->path,
                   strerror(errno));
}

struct oplog_writer *oplog_writer_start(struct oplog *history, const char *path,
                                        const struct oplog_rules *rules, const char *lock,
                                        struct lb_err *err) {
    struct oplog_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    writer->history = history;
    writer->header = (struct oplog_header){.magic = OPLOG_MAGIC,
                                           .version = 2,
                                           .byte_order = BYTE_ORDER_MARK,
                                           .header_bytes = sizeof writer->header,
                                           .record_bytes = sizeof(struct oplog_record),
                                           .rules = *rules};
    snprintf(writer->header.lock, sizeof writer->header.lock, "%s", lock);
    snprintf(writer->path, sizeof writer->path, "%s", path ? path : "a file without a name");
    if (path) {
        writer->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    } else {
        FILE *nameless = tmpfile();
        writer->fd = nameless ? fcntl(fileno(nameless), F_DUPFD_CLOEXEC, 0) : -1;
        if (nameless) fclose(nameless);
    }
    if (writer->fd < 0) {
        err_set(err, LB_EXIT_MACHINE, "cannot write %s: %s", writer->path, strerror(errno));
        goto failed;
    }
    if (write_header(writer) != 0) {
        *err = writer->err;
        goto failed;
    }
    lseek(writer->fd, sizeof writer->header, SEEK_SET);
    /* Signals are for the program's main thread. */
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    writer->running = pthread_create(&writer->thread, NULL, writer_main, writer) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (writer->running) return writer;
    err_set(err, LB_EXIT_MACHINE, "could not start a thread for the history");
failed:
    oplog_writer_free(writer);
    return NULL;
}

void oplog_writer_flush(struct oplog_writer *writer) {
    join_writer(writer);
    if (!writer->err.code) take_all(writer, true);
}

int oplog_writer_add(struct oplog_writer *writer, const struct oplog_record *records, size_t count,
                     uint64_t dropped, struct lb_err *err) {
    join_writer(writer);
    atomic_fetch_add(&writer->history->rings[writer->history->threads].dropped, dropped);
    if (!writer->err.code && writer->written + count > OPLOG_RECORDS_MAX)
        stop_writing(writer, "more operations than can be judged");
    if (!writer->err.code && write_all(writer, records, count * sizeof *records) == 0)
        writer->written += count;
    return err_pass(err, &writer->err);
}

void oplog_writer_stop(struct oplog_writer *writer, const struct oplog_rules *rules, bool whole,
                       struct lb_err *err) {
    oplog_writer_flush(writer);
    writer->header.rules = *rules;
    writer->header.dropped = oplog_dropped(writer->history);
    writer->header.whole = whole && writer->err.code == 0;
    writer->header.records = (uint32_t)writer->written;
    write_header(writer);
    if (writer->err.code) *err = writer->err;
}

void oplog_writer_free(struct oplog_writer *writer) {
    if (!writer) return;
    join_writer(writer);
    if (writer->fd >= 0) close(writer->fd);
    free(writer);
}

int oplog_reopen(struct oplog_file *file, const struct oplog_writer *writer, struct lb_err *err) {
    struct stat stat;
    void *map = MAP_FAILED;
    *file = (struct oplog_file){0};
    if (fstat(writer->fd, &stat) == 0)
        map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, writer->fd, 0);
    if (map == MAP_FAILED)
        return err_set(err, LB_EXIT_MACHINE, "cannot read %s: %s", writer->path, strerror(errno));
    *file = (struct oplog_file){.header = map,
                                .records = (const void *)((const struct oplog_header *)map + 1),
                                .map_bytes = (size_t)stat.st_size};
    file->count = (file->map_bytes - sizeof *file->header) / sizeof *file->records;
    madvise(map, file->map_bytes, MADV_SEQUENTIAL);
    return 0;
}

void oplog_close(struct oplog_file *file) {
    if (file->header) munmap(file->header, file->map_bytes);
    *file = (struct oplog_file){0};
}

const char *oplog_model_name(enum oplog_model model) {
    static const char *const names[] = {"mutex", "reentrant", "rwlock", "semaphore"};
    return model < OPLOG_MODELS ? names[model] : "?";
}
