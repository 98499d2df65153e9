/* keys: see keys.h. */
#include "drivers/etcd/keys.h"

#include <stdio.h>
#include <string.h>

size_t etcd_prefix(const char *name, size_t len, char *out) {
    memcpy(out, name, len);
    out[len] = '/';
    return len + 1;
}

size_t etcd_lock_key(const char *name, size_t len, int64_t lease, char *out) {
    char hex[17];
    size_t used = etcd_prefix(name, len, out);
    int digits = snprintf(hex, sizeof hex, "%llx", (unsigned long long)lease);
    memcpy(out + used, hex, (size_t)digits);
    return used + (size_t)digits;
}

size_t etcd_prefix_end(const char *prefix, size_t len, char *out) {
    while (len > 0 && (unsigned char)prefix[len - 1] == 0xff) len--;
    if (len == 0) {
        out[0] = '\0';
        return 1;
    }
    memcpy(out, prefix, len);
    out[len - 1]++;
    return len;
}
