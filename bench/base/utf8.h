/* utf8: makes text from servers, files and people safe for one line of a terminal and for JSON. Control characters are
 * the only class of characters that it tells apart. */
#ifndef BENCH_BASE_UTF8_H
#define BENCH_BASE_UTF8_H

#include <stdbool.h>

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

#endif
