/* slab: the memory into which an answer is unpacked; allocated once for a line of calls.
 *
 * protobuf-c allocates each part of a message separately. The slab hands out pieces of one block
 * instead, and takes all of them back at once at the next slab_reset, so that an answer costs no
 * malloc. It never frees a single piece. */
#ifndef DRIVERS_ETCD_SLAB_H
#define DRIVERS_ETCD_SLAB_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct slab {
    ProtobufCAllocator allocator; /* for protobuf-c; points at this slab, which must not move */
    uint8_t *base;                /* borrowed from the caller of slab_init */
    size_t size_bytes, used_bytes;
};

/* Hands out the size_bytes at base from now on. */
void slab_init(struct slab *slab, void *base, size_t size_bytes);
/* Takes back all that was handed out. */
void slab_reset(struct slab *slab);

#endif
