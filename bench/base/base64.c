/* base64: see base64.h. It refuses line breaks and the URL alphabet: neither histograms nor etcd
 * use them. */
#include "bench/base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_length(size_t bytes) {
    return (bytes + 2) / 3 * 4;
}

void base64_encode(char *text, const uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        uint32_t group = (uint32_t)data[i] << 16;
        if (left > 1) group |= (uint32_t)data[i + 1] << 8;
        if (left > 2) group |= data[i + 2];
        *text++ = alphabet[group >> 18];
        *text++ = alphabet[(group >> 12) & 63];
        *text++ = left > 1 ? alphabet[(group >> 6) & 63] : '=';
        *text++ = left > 2 ? alphabet[group & 63] : '=';
    }
    *text = '\0';
}

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ptrdiff_t base64_decode(uint8_t *data, const char *text, size_t length) {
    if (length % 4) return -1;
    uint8_t *out = data;
    for (size_t i = 0; i < length; i += 4) {
        int padding = 0;
        if (i + 4 == length && text[i + 3] == '=') padding = text[i + 2] == '=' ? 2 : 1;
        uint32_t group = 0;
        for (int k = 0; k < 4; k++) {
            int digit = k < 4 - padding ? digit_of(text[i + (size_t)k]) : 0;
            if (digit < 0) return -1;
            group = group << 6 | (uint32_t)digit;
        }
        *out++ = (uint8_t)(group >> 16);
        if (padding < 2) *out++ = (uint8_t)(group >> 8);
        if (padding < 1) *out++ = (uint8_t)group;
    }
    return out - data;
}
