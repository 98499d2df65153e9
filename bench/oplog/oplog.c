/* oplog: see oplog.h. */
#include "bench/oplog/oplog.h"

#define RING_BYTES (48 << 20) /* of all rings together */
#define ROOM_MIN 256          /* records of one ring, for any number of threads */
#define ROOM_MAX (1 << 19)
#define ROOM_SUPERVISOR 4096

static uint32_t room_of(int threads) {
    size_t each = RING_BYTES / sizeof(struct oplog_record) / (size_t)threads;
    uint32_t room = ROOM_MIN;
    while (room < ROOM_MAX && room * 2 <= each) room *= 2;
    return room;
}

static size_t head_bytes(int threads) {
    size_t bytes = sizeof(struct oplog) + (size_t)(threads + 1) * sizeof(struct oplog_ring);
    return (bytes + 63) & ~(size_t)63;
}

size_t oplog_bytes(int threads) {
    size_t records = (size_t)threads * room_of(threads) + ROOM_SUPERVISOR;
    return head_bytes(threads) + records * sizeof(struct oplog_record);
}

struct oplog *oplog_init(void *memory, int threads) {
    struct oplog *history = memory;
    struct oplog_record *records = (void *)((char *)memory + head_bytes(threads));
    history->threads = threads;
    for (int i = 0; i <= threads; i++) {
        struct oplog_ring *ring = &history->rings[i];
        ring->room = i < threads ? room_of(threads) : ROOM_SUPERVISOR;
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
