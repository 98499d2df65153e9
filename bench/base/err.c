/* err: see err.h. It does not print: the program's main does that, once. Servers' messages may contain any
 * bytes; an error is one line of UTF-8. */
#include "bench/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/text.h"

void err_set_to(struct lb_err *err, int code, const char *format, ...) {
    if (!err || err->code) return;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    utf8_clean(err->text);
    err->code = code;
}

int err_pass(struct lb_err *err, const struct lb_err *from) {
    if (from->code && err && !err->code) *err = *from;
    return from->code ? -1 : 0;
}

void err_prefix_with(struct lb_err *err, const char *format, ...) {
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
    utf8_clean(err->text);
}
