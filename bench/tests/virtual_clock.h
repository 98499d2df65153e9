/* virtual_clock: the time of a test without servers. A program that is linked with it (VIRTUAL in the Makefile) has a clock
 * that jumps to the next timer as soon as all threads wait: an hour passes at once, and a busy machine is not noticed.
 *
 * One thread runs at a time, and goes on until it waits, until another one's time has come, or for 10 us while another one
 * could run. Each reading of the clock takes 500 ns; nothing else takes time. So the same happens in each run. Threads and
 * forked processes take part; a process may be stopped, continued and killed by kill(). CLOCK_REALTIME goes on with
 * CLOCK_MONOTONIC, and a thread's processor time is that of its own readings.
 *
 * Waits that the clock knows: nanosleep, the loops of bench/engine, the timed calls of pthread's mutexes and read-write
 * locks and of semaphores, joins, and waitpid for a forked process. Not on this clock: what speaks over sockets or runs a
 * program, since the clock would not see that an answer is on its way (test_peer, test_stream, test_hostile, test_wire,
 * test_hosts); and test_recorder, whose threads never wait. */
#ifndef BENCH_TESTS_VIRTUAL_CLOCK_H
#define BENCH_TESTS_VIRTUAL_CLOCK_H

#include <stdint.h>

#include "bench/base/clock.h"

/* It took so long, and some readings of the clock. */
#define assert_takes(took_ns, for_ns) assert_in_range(took_ns, for_ns, (for_ns) + 30 * LB_US_NS)

/* A step of CLOCK_REALTIME. */
void virtual_clock_step_wall(int64_t by_ns);

#endif
