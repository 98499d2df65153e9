/* utf8: see utf8.h. The lengths of sequences are those of RFC 3629, table of section 4. */
#include "bench/base/utf8.h"

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
