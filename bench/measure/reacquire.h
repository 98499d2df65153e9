/* reacquire: short-term fairness: how soon a client gets a key again, and how many different ones do
 * meanwhile.
 *
 * A key's grants are numbered (its turns, from the cell). Each client keeps its first and last turn
 * of a key; at its next one the distance is a sample, and a change of window one more holder. So a
 * grant costs a subtraction, a division by a constant and a record in a histogram, after its
 * release; no line of memory is shared. Turns count on through the warm-up, so the first and the
 * last window of a key may be cut: those are left out. Only the first REACQUIRE_KEYS keys are looked
 * at: with very many, none is fought for. Source: D. Dice, "Measuring short-term fairness for
 * locks" (2017), and Dice, "Malthusian Locks", EuroSys 2017. */
#ifndef BENCH_MEASURE_REACQUIRE_H
#define BENCH_MEASURE_REACQUIRE_H

#include <stddef.h>
#include <stdint.h>

#include "results/format/hist.h"

#define REACQUIRE_WINDOW 1000 /* grants of one key */
#define REACQUIRE_KEYS 64
/* Grants between two of a client; beyond that they are one count. */
#define REACQUIRE_HIGHEST (INT64_C(1) << 32)

struct reacquire_key {
    uint64_t first, last; /* turn + 1; 0 = it had none */
};

/* One client's; it is the only writer. In zeroed memory. */
struct reacquire {
    /* that it held in, over all keys; the window of each key's last turn not yet counted */
    uint64_t windows;
    struct reacquire_key key[];
};

/* Bytes of one client's, so many keys. A multiple of 64, so that no line has two writers. */
static inline size_t reacquire_bytes(uint32_t keys) {
    return (sizeof(struct reacquire) + keys * sizeof(struct reacquire_key) + 63) & ~(size_t)63;
}

/* Bytes of the histogram of distances (hist_init(h, HIST_DIGITS, REACQUIRE_HIGHEST)): one for each
 * thread. */
static inline size_t reacquire_hist_bytes(void) {
    return (hist_bytes(HIST_DIGITS, REACQUIRE_HIGHEST) + 63) & ~(size_t)63;
}

/* The client was granted this turn of the key; key is below the number of keys. between: grants to
 * others since its last. */
static inline void reacquire_note(struct reacquire *turns, struct hist *between, uint32_t key,
                                  uint64_t turn) {
    struct reacquire_key *mine = &turns->key[key];
    uint64_t last = mine->last;
    if (__builtin_expect(last == 0, 0)) mine->first = turn + 1;
    mine->last = turn + 1;
    /* Its first; or not above its last: the lock let two in at once, or a grant was given back. */
    if (__builtin_expect(last == 0 || turn < last, 0)) return;
    hist_record(between, (int64_t)(turn - last));
    turns->windows += turn / REACQUIRE_WINDOW != (last - 1) / REACQUIRE_WINDOW;
}

struct reacquire_sum {
    double lwss; /* mean number of distinct holders in a window: the lock's working set size */
    uint64_t
        window; /* of so many grants of one key: REACQUIRE_WINDOW, or as many as the most granted key had
                        when no key had a whole window; 0 = nothing was granted, and lwss is NAN */
    /* median of the grants to others until a client got a key again; NAN: nobody did */
    double mttr;
};

/* Of all clients' turns, reacquire_bytes(keys) apart, when nobody writes any more; between: all
 * threads' together. */
struct reacquire_sum reacquire_sum(const void *turns, int clients, uint32_t keys,
                                   const struct hist *between);

#endif
