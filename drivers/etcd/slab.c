/* slab: see slab.h. */
#include "drivers/etcd/slab.h"

#define ALIGNMENT_BYTES 16

static void *slab_alloc(void *data, size_t bytes) {
    struct slab *slab = data;
    size_t start = (slab->used_bytes + ALIGNMENT_BYTES - 1) & ~(size_t)(ALIGNMENT_BYTES - 1);
    if (start > slab->size_bytes || bytes > slab->size_bytes - start) return NULL;
    slab->used_bytes = start + bytes;
    return slab->base + start;
}

static void slab_free(void *data, void *block) {
    (void)data;
    (void)block;
}

void slab_init(struct slab *slab, void *base, size_t size_bytes) {
    *slab = (struct slab){{slab_alloc, slab_free, NULL}, base, size_bytes, 0};
    slab->allocator.allocator_data = slab;
}

void slab_reset(struct slab *slab) {
    slab->used_bytes = 0;
}
