/* cutter: cuts the bytes of an answer into gRPC's length-prefixed messages, however the network
 * split them. It does not look into a message. */
#ifndef DRIVERS_ETCD_CUTTER_H
#define DRIVERS_ETCD_CUTTER_H

#include <stddef.h>
#include <stdint.h>

#define CUT_HEAD_BYTES 5 /* a flag for compression, and the length, big-endian */

/* Called with each complete message; must not call cut_feed. A negative result stops the cutter. */
typedef int cut_fn(void *arg, const uint8_t *message, size_t len);

struct cutter {
    uint8_t *buffer; /* the caller's */
    size_t size, used;
    cut_fn *each;
    void *arg;
};

/* Takes in len bytes. 0, or -1: a message is longer than the buffer or compressed, or each
 * returned a negative number. */
int cut_feed(struct cutter *cutter, const uint8_t *data, size_t len);

/* Called when the answer has ended. 0, or -1 if it ended within a message. */
int cut_end(const struct cutter *cutter);

/* Writes the head of a message of len bytes. */
void cut_head(uint8_t out[CUT_HEAD_BYTES], size_t len);

#endif
