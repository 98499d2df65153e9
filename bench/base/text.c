/* text: see text.h. */
#include "bench/base/text.h"

#include <string.h>

bool utf8_is_control(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x20 || c[0] == 0x7F) return true;
    if (c[0] == 0xC2) return c[1] >= 0x80 && c[1] < 0xA0; /* U+0080 .. U+009F */
    if (c[0] != 0xE2) return false;
    return (c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) || /* U+202A .. U+202E */
           (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9);   /* U+2066 .. U+2069 */
}

/* Bytes of the sequence that begins with this byte; 0 = none does. */
static int wanted_bytes(unsigned char first) {
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

int utf8_bytes(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    int bytes = wanted_bytes(c[0]);
    for (int i = 1; i < bytes; i++) {
        if ((c[i] & 0xC0) != 0x80) return 0;
    }
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xED && c[1] >= 0xA0, beyond = c[0] == 0xF4 && c[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : bytes;
}

bool utf8_is_valid(const char *text) {
    int bytes = 1;
    while (*text && (bytes = utf8_bytes(text)) > 0) text += bytes;
    return bytes > 0;
}

/* True if the text is the beginning of a sequence whose end was cut off. */
static bool is_cut(const unsigned char *c) {
    int bytes = wanted_bytes(c[0]), there = 1;
    while ((c[there] & 0xC0) == 0x80) there++;
    return bytes > there && c[there] == '\0';
}

char *utf8_clean(char *text) {
    char *out = text;
    for (const char *in = text; *in;) {
        int bytes = utf8_bytes(in);
        if (bytes == 1 && utf8_is_control(in)) {
            *out++ = ' ';
        } else if (bytes == 0 || utf8_is_control(in)) {
            if (bytes == 0 && is_cut((const unsigned char *)in)) break;
            *out++ = '?';
        } else {
            memmove(out, in, (size_t)bytes);
            out += bytes;
        }
        in += bytes > 0 ? bytes : 1;
    }
    while (out > text && out[-1] == ' ') out--;
    *out = '\0';
    return text;
}

/* --- words of a shell --- */

void shell_quote(FILE *out, const char *text) {
    if (*text && text[strspn(text, PLAIN_WORD)] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*text, out);
        }
    }
    fputc('\'', out);
}

/* --- base64 --- */

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
