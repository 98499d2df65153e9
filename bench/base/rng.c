/* rng: see rng.h. */
#include "bench/base/rng.h"

#include <string.h>

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_seed(struct lb_rng *rng, uint64_t seed, uint64_t stream) {
    uint64_t state = seed;
    uint64_t mixed = splitmix64(&state) ^ stream;
    for (int i = 0; i < 4; i++) rng->s[i] = splitmix64(&mixed);
}

void rng_bytes(struct lb_rng *rng, void *out, unsigned len) {
    unsigned char *bytes = out;
    while (len > 0) {
        uint64_t word = rng_u64(rng);
        unsigned take = len < sizeof word ? len : (unsigned)sizeof word;
        memcpy(bytes, &word, take);
        bytes += take;
        len -= take;
    }
}
