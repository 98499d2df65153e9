/* fuzz_memcached: a memcached server that may be none. */
#include "bench/tests/fuzz/lock_life.h"

extern const struct lb_lock lock_memcached_add;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzzed_server_begin(data, size);
    lock_life(&lock_memcached_add, "memcached://127.0.0.1:11211");
    return 0;
}
