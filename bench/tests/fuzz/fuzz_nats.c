/* fuzz_nats: a NATS server with JetStream that may be neither. */
#include "bench/tests/fuzz/lock_life.h"

extern const struct lb_lock lock_nats_kv;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzzed_server_begin(data, size);
    lock_life(&lock_nats_kv, "nats://127.0.0.1:4222");
    return 0;
}
