/* shell_quote: see shell_quote.h. */
#include "bench/base/shell_quote.h"

#include <string.h>

#include "bench/base/plain_word.h"

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
