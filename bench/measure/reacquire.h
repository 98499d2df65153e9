/* reacquire: short-term fairness: how soon a client gets a key again, and how many different
 * clients get it meanwhile.
 *
 * A key's grants are numbered (its turns, from the cell). Each client keeps its first and last turn
 * of a key; at its next turn the distance is one sample, and if that turn is in another window than
 * the last one, the client counts as one more holder of the last turn's window. So a grant costs a
 * subtraction, two divisions by a constant and a record in a histogram, after its release; no cache
 * line is shared. The turns of
 * the warm-up are numbered too, so the first and the last window of a key may be cut; both are left
 * out. Only the first REACQUIRE_KEYS keys are looked at: where there are more, clients seldom
 * compete for one. Source: D. Dice, "Measuring short-term fairness for locks" (2017), and Dice,
 * "Malthusian Locks", EuroSys 2017. */
#ifndef BENCH_MEASURE_REACQUIRE_H
#define BENCH_MEASURE_REACQUIRE_H

#include <stddef.h>
#include <stdint.h>

#include "results/format/hist.h"

#define REACQUIRE_WINDOW 1000 /* grants of one key */
#define REACQUIRE_KEYS 64
/* The greatest distance that the histogram can hold: grants to others between two grants of a client. */
#define REACQUIRE_HIGHEST (INT64_C(1) << 32)

struct reacquire_key {
    uint64_t first, last; /* turn + 1; 0 = the client had no turn */
};

/* The numbers that one client writes, and nobody else. In zeroed memory. */
struct reacquire {
    /* windows that the client held in, over all keys; the window of each key's last turn is not
     * counted yet */
    uint64_t windows;
    struct reacquire_key key[];
};

/* The bytes of one client's struct for so many keys. A multiple of 64, so that no cache line has
 * two writers. */
static inline size_t reacquire_bytes(uint32_t keys) {
    return (sizeof(struct reacquire) + keys * sizeof(struct reacquire_key) + 63) & ~(size_t)63;
}

/* Bytes of the histogram of distances (hist_init(h, HIST_DIGITS, REACQUIRE_HIGHEST)): one for each
 * thread. */
static inline size_t reacquire_hist_bytes(void) {
    return (hist_bytes(HIST_DIGITS, REACQUIRE_HIGHEST) + 63) & ~(size_t)63;
}

/* The client was granted this turn of the key; key is below the number of keys. between: the
 * histogram of distances. */
static inline void reacquire_note(struct reacquire *turns, struct hist *between, uint32_t key,
                                  uint64_t turn) {
    struct reacquire_key *mine = &turns->key[key];
    uint64_t last = mine->last;
    if (__builtin_expect(last == 0, 0)) mine->first = turn + 1;
    mine->last = turn + 1;
    /* There is no distance at the client's first turn, nor where the turn does not grow: the lock
     * let two clients in at once, or a grant was given back. */
    if (__builtin_expect(last == 0 || turn < last, 0)) return;
    hist_record(between, (int64_t)(turn - last));
    turns->windows += turn / REACQUIRE_WINDOW != (last - 1) / REACQUIRE_WINDOW;
}

struct reacquire_sum {
    double lwss; /* mean number of distinct holders in a window: the lock's working set size */
    /* The grants of one key that make a window: REACQUIRE_WINDOW, or, if no key had so many, as
     * many as the most granted key had; 0 = nothing was granted, and lwss is NAN */
    uint64_t window;
    /* median of the grants to others until a client got a key again; NAN: no client got one
     * again */
    double mttr;
};

/* The sum over all clients, when nobody writes any more. turns: the clients' structs,
 * reacquire_bytes(keys) apart; between: the distances of all threads together. */
struct reacquire_sum reacquire_sum(const void *turns, int clients, uint32_t keys,
                                   const struct hist *between);

#endif
