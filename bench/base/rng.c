/* rng: see rng.h. */
#include "bench/base/rng.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

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

void rng_seed_unique(struct lb_rng *rng) {
    struct timespec now;
    uint64_t seed[2];
    /* Soon after boot the kernel may have no random bytes yet: then the time and the process id are the seed. */
    if (getrandom(seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        clock_gettime(CLOCK_REALTIME, &now);
        seed[0] = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
        seed[1] = (uint64_t)getpid();
    }
    rng_seed(rng, seed[0], seed[1]);
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
