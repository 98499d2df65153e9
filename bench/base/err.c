/* err: see err.h. It does not print: the program's main does that, once. */
#include "bench/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Servers' messages may contain newlines and control characters; an error is one line. */
static void one_line(char *text) {
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    }
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == ' ') text[--len] = '\0';
}

void err_set_at(struct lb_err *err, int code, const char *file, int line, const char *format, ...) {
    if (!err || err->code) return;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    one_line(err->text);
    err->code = code;
    err->file = file;
    err->line = line;
}

void err_prefix(struct lb_err *err, const char *format, ...) {
    if (!err || !err->code) return;
    char joined[2 * sizeof err->text];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(joined, sizeof err->text, format, args);
    va_end(args);
    if (used < 0 || (size_t)used >= sizeof err->text) return;
    snprintf(joined + used, sizeof joined - (size_t)used, ": %s", err->text);
    memcpy(err->text, joined, sizeof err->text - 1);
    err->text[sizeof err->text - 1] = '\0';
    one_line(err->text);
}
