/* text: bytes as text: UTF-8 that is safe to show, words of a shell, base64. */
#ifndef BENCH_BASE_TEXT_H
#define BENCH_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Makes text from servers, files and people safe for one line of a terminal and for JSON. Control characters are
 * the only class of characters that it tells apart. */

/* True if the text begins with a character that a terminal obeys instead of showing it: C0, DEL,
 * C1, and those that change the direction of writing. */
bool utf8_is_control(const char *text);

/* Bytes of the character that the text begins with; 0 = it is no UTF-8. */
int utf8_bytes(const char *text);

bool utf8_is_valid(const char *text);

/* Makes one line of valid UTF-8 of any bytes, in place: blanks for C0 controls and DEL, '?' for other
 * controls and for each byte that is no part of UTF-8; no blanks at its end. A character that was cut at
 * the end of a buffer goes. Returns text. */
char *utf8_clean(char *text);

/* The characters of a word that needs no quotes in a shell's command line. The code that writes commands
 * and the code that reads them use the same characters. */

#define PLAIN_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
#define PLAIN_WORD PLAIN_NAME "=,:/@%+"

/* --- A word of a command that the user can type. --- */

/* Writes a word quoted where it must be, so that a shell takes it as one word. */
void shell_quote(FILE *out, const char *text);

/* --- RFC 4648, section 4, with padding. --- */

/* The number of characters that encode `bytes` bytes, without the NUL. */
size_t base64_length(size_t bytes);

/* Writes base64_length(bytes) characters and a NUL to text. */
void base64_encode(char *text, const uint8_t *data, size_t bytes);

/* Decodes `length` characters into data, which has room for length / 4 * 3 bytes. Returns the
 * number of bytes written, or -1 if the text is not base64: a wrong length, a foreign character
 * (also white space), misplaced padding. */
ptrdiff_t base64_decode(uint8_t *data, const char *text, size_t length);

#endif
