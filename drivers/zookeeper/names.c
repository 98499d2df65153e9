/* names: see names.h. */
#include "drivers/zookeeper/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Strict on purpose: ZooKeeper takes most of Unicode, but not all of it, and we need not know which. */
static bool plain(char c) {
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

int zk_path_of(const char *prefix, const char *key, size_t key_len, char *out, size_t size) {
    static const char hex[] = "0123456789ABCDEF";
    size_t used = strlen(prefix);
    if (key_len == 0 || used + 2 > size) return -1;
    bool dots = (key_len == 1 && key[0] == '.') || (key_len == 2 && key[0] == '.' && key[1] == '.');
    memcpy(out, prefix, used);
    out[used++] = '/';
    for (size_t i = 0; i < key_len; i++) {
        if (used + 4 > size) return -1;
        unsigned char c = (unsigned char)key[i];
        if (plain((char)c) && !(dots && i == 0)) {
            out[used++] = (char)c;
        } else {
            out[used++] = '%';
            out[used++] = hex[c >> 4];
            out[used++] = hex[c & 15];
        }
    }
    out[used] = '\0';
    return 0;
}

void zk_uuid(struct lb_rng *rng, char out[ZK_UUID_CHARS + 1]) {
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[16];
    rng_bytes(rng, bytes, sizeof bytes);
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4: random */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* RFC 4122's variant */
    char *at = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        *at++ = hex[bytes[i] >> 4];
        *at++ = hex[bytes[i] & 15];
    }
    *at = '\0';
}

const char *zk_sequence(const char *name, const char *kind) {
    const char *last = NULL;
    for (const char *at = strstr(name, kind); at; at = strstr(at + 1, kind)) last = at;
    return last ? last + strlen(kind) : name;
}

int zk_predecessor(char *const *names, int count, const char *own, const char *kind) {
    int mine = 0;
    while (mine < count && strcmp(names[mine], own) != 0) mine++;
    if (mine == count) return ZK_ABSENT;
    const char *own_key = zk_sequence(own, kind);
    int best = ZK_FIRST;
    const char *best_key = NULL;
    for (int i = 0; i < count; i++) {
        if (i == mine) continue;
        const char *key = zk_sequence(names[i], kind);
        int before = strcmp(key, own_key);
        if (before > 0 || (before == 0 && i > mine)) continue;
        if (best_key && strcmp(key, best_key) < 0) continue;
        best = i;
        best_key = key;
    }
    return best;
}

int zk_protected(char *const *names, int count, const char *uuid) {
    for (int i = 0; i < count; i++) {
        if (strncmp(names[i], "_c_", 3) == 0 && strncmp(names[i] + 3, uuid, ZK_UUID_CHARS) == 0) return i;
    }
    return ZK_ABSENT;
}
