/* cutter: cuts the bytes of an answer into messages, however the network split them: gRPC's
 * length-prefixed frames, or the lines of JSON that etcd's gateway writes. It understands no
 * message. */
#ifndef DRIVERS_ETCD_CUTTER_H
#define DRIVERS_ETCD_CUTTER_H

#include <stddef.h>
#include <stdint.h>

#define CUT_HEAD_BYTES 5 /* gRPC: a flag for compression, and the length, big-endian */

enum cut_kind { CUT_FRAMES, CUT_LINES };

/* Called with each whole message; it may not feed the cutter. Negative to stop. */
typedef int cut_fn(void *arg, const uint8_t *message, size_t len);

struct cutter {
    enum cut_kind kind;
    uint8_t *buffer; /* the caller's */
    size_t size, used;
    cut_fn *each;
    void *arg;
};

/* Takes in len bytes. 0, or -1: a message that is longer than the buffer, compressed, or stopped at
 * by each. */
int cut_feed(struct cutter *cutter, const uint8_t *data, size_t len);

/* The stream has ended: the last line may lack its newline. 0, or -1: it ended within a message. */
int cut_end(struct cutter *cutter);

/* The head of a frame of len bytes. */
void cut_head(uint8_t out[CUT_HEAD_BYTES], size_t len);

#endif
