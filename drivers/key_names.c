/* key_names: see key_names.h. The stable number of a name is here too. */
#include "drivers/key_names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/* Reads a whole number of 64 bits, written as a server prints it: "-7", not "+7", "007" or "-0". */
static bool is_number(const char *name, size_t len, uint64_t *ret) {
    bool minus = len > 0 && *name == '-';
    uint64_t limit = minus ? (uint64_t)INT64_MAX + 1 : INT64_MAX, number = 0;
    const char *at = name + minus, *end = name + len;
    if (at == end || (*at == '0' && len > 1)) return false;
    for (; at < end; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*at < '0' || *at > '9' || number > (limit - digit) / 10) return false;
        number = 10 * number + digit;
    }
    *ret = minus ? 0 - number : number;
    return true;
}

uint64_t lb_key_number(const char *name, size_t len) {
    uint64_t number;
    if (is_number(name, len, &number)) return number;
    uint64_t hash = FNV_BASIS;
    for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)name[i]) * FNV_PRIME;
    return hash & (UINT64_MAX >> 1);
}

void lb_names_add(struct lb_names *names, const char *what, const char *format, ...) {
    if (names->count == LB_NAMES_MAX) return;
    struct lb_name *name = &names->item[names->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(name->text, sizeof name->text, format, args);
    va_end(args);
    name->what = what;
}

bool lb_names_of(const struct lb_lock *lock, const void *options, int64_t lease_ns, const char *key,
                 struct lb_names *ret_names) {
    ret_names->count = 0;
    if (!lock->backend->schemes || !lock->algorithm->names) return false;
    struct lb_session session = {.lock = lock, .options = options, .lease_ns = lease_ns};
    size_t len = strlen(key);
    struct lb_request request = {.key = key,
                                 .key_len = len,
                                 .key_number = lb_key_number(key, len),
                                 .lease_ns = lease_ns,
                                 .permits = 1,
                                 .bound = 1};
    lock->algorithm->names(&session, &request, ret_names);
    return ret_names->count > 0;
}
