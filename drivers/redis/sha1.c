/* sha1: see sha1.h. The digest is computed here, because SCRIPT LOAD would take a round trip to every node. */
#include "drivers/redis/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotl(uint32_t x, int k) {
    return (x << k) | (x >> (32 - k));
}

static void block(uint32_t h[5], const unsigned char *bytes) {
    static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
               (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    }
    for (int i = 16; i < 80; i++) w[i] = rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t next = rotl(a, 5) + f + e + k[i / 20] + w[i];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1_hex(const void *data, size_t len, char out[41]) {
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const unsigned char *bytes = data;
    size_t left = len;
    for (; left >= 64; left -= 64, bytes += 64) block(h, bytes);
    unsigned char last[128] = {0};
    memcpy(last, bytes, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> (8 * i));
    block(h, last);
    if (end == 128) block(h, last + 64);
    for (int i = 0; i < 5; i++) snprintf(out + 8 * i, 9, "%08x", h[i]);
}
