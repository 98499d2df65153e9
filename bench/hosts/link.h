/* link: the interface by which the processes of one run on several hosts send messages to each other. Rank 0
 * coordinates, the others carry load. The code that implements the link (MPI, or sockets in a test) knows nothing of
 * locks; the code that uses the link knows nothing of MPI.
 *
 * A message is a block of bytes; the messages from one sender to one receiver arrive in their order. All calls are on
 * the process's main thread. A process that has ended or is cut off is no error of the link: messages to it do not
 * arrive in time, and no message comes from it. So every wait has a deadline. */
#ifndef BENCH_HOSTS_LINK_H
#define BENCH_HOSTS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_MESSAGE_MAX ((size_t)1 << 30) /* bytes */

struct link {
    int self, count; /* this rank, and the number of ranks */
    /* Sends a message. deadline_ns: by lb_now(). 0, or -1 when it has not left by then. */
    int (*send)(struct link *link, int to, const void *bytes, size_t length, int64_t deadline_ns);
    /* Takes the next message of a rank: 1 with bytes that the caller frees; 0 when none came by the deadline, which may
     * lie in the past; -1 when out of memory, or the link is broken. */
    int (*receive)(struct link *link, int from, void **ret_bytes, size_t *ret_length,
                   int64_t deadline_ns);
    void *state;
};

#endif
