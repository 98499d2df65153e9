/* clean: see clean.h. */
#define _GNU_SOURCE
#include "drivers/clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/text.h"

#define HEX_DIGITS 8

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool lb_is_marked(const char *text, size_t len) {
    const char *end = text + len, *at = text;
    const size_t mark = sizeof LB_MARK - 1;
    while ((at = memmem(at, (size_t)(end - at), LB_MARK, mark)) != NULL) {
        at += mark;
        size_t left = (size_t)(end - at), digits = 0;
        while (digits < left && (is_digit(at[digits]) || (at[digits] >= 'a' && at[digits] <= 'f')))
            digits++;
        if (digits == HEX_DIGITS && left > digits + 1 && at[digits] == '-' &&
            is_digit(at[digits + 1]))
            return true;
    }
    return false;
}

bool lb_clean_wants(const struct lb_cleaning *cleaning, const char *name, size_t len) {
    const char *wanted = cleaning->name ? cleaning->name : "";
    size_t own = strlen(wanted);
    switch (cleaning->scope) {
    case LB_CLEAN_LEFT:
        return lb_is_marked(name, len);
    case LB_CLEAN_STAGE:
        return len > own && memcmp(name, wanted, own) == 0;
    case LB_CLEAN_KEY:
        return len == own && memcmp(name, wanted, own) == 0;
    case LB_CLEAN_SHARED:
    case LB_CLEAN_EMPTY:
        break;
    }
    return false;
}

bool lb_clean_found(const struct lb_cleaning *cleaning, const char *what, const char *format, ...) {
    char name[2 * LB_KEY_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return cleaning->found(cleaning->arg, what, utf8_clean(name)); /* others may have made it */
}
