/* names: see names.h. */
#include "drivers/zookeeper/session.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Strict on purpose: ZooKeeper takes most of Unicode, but not all of it, and we need not know
 * which. */
static bool is_plain_char(char c) {
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
        if (is_plain_char((char)c) && !(dots && i == 0)) {
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

/* The text after the last `kind` in name; all of it if there is none. */
static const char *after_last(const char *name, const char *kind) {
    const char *last = NULL;
    for (const char *at = strstr(name, kind); at; at = strstr(at + 1, kind)) last = at;
    return last ? last + strlen(kind) : name;
}

const char *zk_order_lock(const char *name) {
    return after_last(name, "lock-");
}

const char *zk_order_read_write(const char *name) {
    return after_last(after_last(name, "__READ__"), "__WRIT__");
}

static int index_of(char *const *names, int count, const char *own) {
    int i = 0;
    while (i < count && strcmp(names[i], own) != 0) i++;
    return i < count ? i : ZK_ABSENT;
}

/* True if the name at index i sorts before the name at index j. */
static bool sorts_before(char *const *names, int i, int j, zk_order_fn *order) {
    int before = strcmp(order(names[i]), order(names[j]));
    return before < 0 || (before == 0 && i < j);
}

static int predecessor(char *const *names, int count, const char *own, zk_order_fn *order) {
    int mine = index_of(names, count, own);
    if (mine == ZK_ABSENT) return ZK_ABSENT;
    int best = ZK_FIRST;
    for (int i = 0; i < count; i++) {
        if (i == mine || !sorts_before(names, i, mine, order)) continue;
        if (best == ZK_FIRST || sorts_before(names, best, i, order)) best = i;
    }
    return best;
}

int zk_ahead_lock(char *const *names, int count, const char *own) {
    return predecessor(names, count, own, zk_order_lock);
}

int zk_ahead_write(char *const *names, int count, const char *own) {
    return predecessor(names, count, own, zk_order_read_write);
}

int zk_ahead_read(char *const *names, int count, const char *own) {
    int mine = index_of(names, count, own);
    if (mine == ZK_ABSENT) return ZK_ABSENT;
    int first = ZK_FIRST;
    for (int i = 0; i < count; i++) {
        if (!strstr(names[i], "__WRIT__") || !sorts_before(names, i, mine, zk_order_read_write))
            continue;
        if (first == ZK_FIRST || sorts_before(names, i, first, zk_order_read_write)) first = i;
    }
    return first;
}

int zk_protected(char *const *names, int count, const char *uuid) {
    for (int i = 0; i < count; i++) {
        if (strncmp(names[i], "_c_", 3) == 0 && strncmp(names[i] + 3, uuid, LB_UUID_CHARS) == 0)
            return i;
    }
    return ZK_ABSENT;
}
