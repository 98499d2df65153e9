/* rng: a small seeded random number generator for schedules, keys, jitter and owner tokens.
 *
 * xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64 as its authors advise. Each
 * client has its own, so that a run's draws do not depend on the timing of threads. Not for
 * secrets. */
#ifndef BENCH_BASE_RNG_H
#define BENCH_BASE_RNG_H

#include <stdint.h>

struct lb_rng {
    uint64_t s[4];
};

/* The same seed and stream give the same draws; different streams of one seed are independent. */
void rng_seed(struct lb_rng *rng, uint64_t seed, uint64_t stream);
/* Seeds rng from the kernel's random numbers, so that no other process and no other run draws the same numbers: for
 * tokens and names by which a server tells clients apart. */
void rng_seed_unique(struct lb_rng *rng);

static inline uint64_t rng_rotl(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t rng_u64(struct lb_rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rng_rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotl(s[3], 45);
    return result;
}

/* Uniform in [0, 1). */
static inline double rng_unit(struct lb_rng *rng) {
    return (double)(rng_u64(rng) >> 11) * 0x1.0p-53;
}

/* Uniform in [0, n), n > 0; the bias of the multiply is below 2^-32 for n < 2^32. */
static inline uint64_t rng_below(struct lb_rng *rng, uint64_t n) {
    return (uint64_t)(((unsigned __int128)rng_u64(rng) * n) >> 64);
}

/* Fills len bytes. */
void rng_bytes(struct lb_rng *rng, void *out, unsigned len);

#endif
