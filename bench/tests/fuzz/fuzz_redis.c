/* fuzz_redis: a Redis server, a cluster's node or a Sentinel that may be none of them. The first byte chooses what the
 * driver takes it for, and the lock. */
#include "bench/tests/fuzz/lock_life.h"

extern const struct lb_lock lock_redis_setnx, lock_redis_fair, lock_redis_semaphore,
    lock_redis_redlock;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const urls[] = {
        "redis://127.0.0.1:6379", "redis+cluster://127.0.0.1:6379,127.0.0.1:6380",
        "redis+sentinel://127.0.0.1:26379/mymaster",
        "redis+replicas://127.0.0.1:6379,127.0.0.1:6380",
        "redis+independents://127.0.0.1:6379,127.0.0.1:6380,127.0.0.1:6381"};
    static const struct lb_lock *const locks[] = {&lock_redis_setnx, &lock_redis_fair,
                                                  &lock_redis_semaphore};
    const size_t url_count = sizeof urls / sizeof *urls, lock_count = sizeof locks / sizeof *locks;
    if (size == 0) return 0;
    size_t url = data[0] % url_count, lock = data[0] / url_count % lock_count;
    const struct lb_lock *chosen = url == url_count - 1 ? &lock_redis_redlock : locks[lock];
    fuzzed_server_begin(data + 1, size - 1);
    lock_life(chosen, urls[url]);
    return 0;
}
