/* fuzzed_server: a server whose answers are the fuzzer's bytes, for the drivers that speak their protocol themselves. It
 * takes the place of drivers/sock.c, of the engine behind drivers/wait.h and of the clock: a driver's own code runs from
 * connect to disconnect without a network and without waiting.
 *
 * The bytes are the server's answers, with 0xff between them. Each wait of the driver brings the next answer; an empty
 * one brings nothing until the deadline. When no answers are left, the server has closed the connection. Time passes in
 * waits, and by a microsecond at each look at the clock. */
#ifndef BENCH_FUZZ_FUZZED_SERVER_H
#define BENCH_FUZZ_FUZZED_SERVER_H

#include <stddef.h>
#include <stdint.h>

/* The answers of the next server; borrowed until the next call. */
void fuzzed_server_begin(const uint8_t *data, size_t size);

/* The next answer, or NULL when none is left. For stand-ins of client libraries that bring whole answers. */
const uint8_t *fuzzed_server_answer(size_t *ret_len);

#endif
