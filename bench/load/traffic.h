/* traffic: figures that the kernel counts: bytes of a TCP connection, processor time of a thread. */
#ifndef BENCH_LOAD_TRAFFIC_H
#define BENCH_LOAD_TRAFFIC_H

#include <stdint.h>

/* Payload bytes sent and received by a TCP socket since it was opened, by TCP_INFO; 0 for anything
 * else. */
uint64_t traffic_bytes(int fd);

/* Processor time of the calling thread, user and system, in ns. */
int64_t thread_cpu_ns(void);

#endif
