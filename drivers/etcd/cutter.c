/* cutter: see cutter.h. */
#include "drivers/etcd/cutter.h"

#include <string.h>

static size_t frame_length(const uint8_t *head) {
    return (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
}

int cut_feed(struct cutter *cutter, const uint8_t *data, size_t len) {
    while (len > 0) {
        size_t whole = CUT_HEAD_BYTES;
        if (cutter->used >= CUT_HEAD_BYTES) whole += frame_length(cutter->buffer);
        size_t take = whole - cutter->used < len ? whole - cutter->used : len;
        memcpy(cutter->buffer + cutter->used, data, take);
        cutter->used += take;
        data += take;
        len -= take;
        if (cutter->used < CUT_HEAD_BYTES) continue;
        whole = CUT_HEAD_BYTES + frame_length(cutter->buffer);
        /* we never ask for compression */
        if (cutter->buffer[0] != 0 || whole > cutter->size) return -1;
        if (cutter->used < whole) continue;
        cutter->used = 0;
        if (cutter->each(cutter->arg, cutter->buffer + CUT_HEAD_BYTES, whole - CUT_HEAD_BYTES) < 0)
            return -1;
    }
    return 0;
}

int cut_end(const struct cutter *cutter) {
    return cutter->used == 0 ? 0 : -1;
}

void cut_head(uint8_t out[CUT_HEAD_BYTES], size_t len) {
    out[0] = 0;
    out[1] = (uint8_t)(len >> 24);
    out[2] = (uint8_t)(len >> 16);
    out[3] = (uint8_t)(len >> 8);
    out[4] = (uint8_t)len;
}
