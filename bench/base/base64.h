/* base64: RFC 4648, section 4, with padding. */
#ifndef BENCH_BASE_BASE64_H
#define BENCH_BASE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* The number of characters that encode `bytes` bytes, without the NUL. */
size_t base64_length(size_t bytes);

/* Writes base64_length(bytes) characters and a NUL to text. */
void base64_encode(char *text, const uint8_t *data, size_t bytes);

/* Decodes `length` characters into data, which has room for length / 4 * 3 bytes. Returns the
 * number of bytes written, or -1 if the text is not base64: a wrong length, a foreign character
 * (also white space), misplaced padding. */
ptrdiff_t base64_decode(uint8_t *data, const char *text, size_t length);

#endif
