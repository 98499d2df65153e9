/* names: the names of keys and holders, and the count of keys that are left on the servers. See
 * redis.h. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <string.h>

size_t redis_tagged(char *out, size_t size, const char *before, const char *name, size_t name_len,
                    const char *after) {
    bool braced = memchr(name, '{', name_len) != NULL;
    int used =
        snprintf(out, size, braced ? "%s%.*s%s" : "%s{%.*s}%s", before, (int)name_len, name, after);
    return (size_t)used < size ? (size_t)used : size - 1;
}

void redis_random_hex(struct lb_rng *rng, char *out, int bytes) {
    static const char hex[] = "0123456789abcdef";
    unsigned char drawn[32];
    rng_bytes(rng, drawn, (unsigned)bytes);
    for (int i = 0; i < bytes; i++) {
        out[2 * i] = hex[drawn[i] >> 4];
        out[2 * i + 1] = hex[drawn[i] & 15];
    }
    out[2 * bytes] = '\0';
}

void redis_lease_ms(int64_t lease_ns, char out[24]) {
    long long ms = lease_ns / LB_MS_NS + (lease_ns % LB_MS_NS > 0);
    snprintf(out, 24, "%lld", ms > 0 ? ms : 1);
}

/* Writes a glob pattern that matches each text which begins with before + prefix, both taken
 * literally. */
static size_t pattern_of(char *out, size_t size, const char *before, const char *prefix) {
    const char *const parts[] = {before, prefix};
    size_t used = 0;
    for (int p = 0; p < 2; p++) {
        for (const char *c = parts[p]; *c && used + 3 < size; c++) {
            if (strchr("*?[]\\", *c)) out[used++] = '\\';
            out[used++] = *c;
        }
    }
    out[used++] = '*';
    out[used] = '\0';
    return used;
}

static void count_residue(struct lb_residue *residue, const char *what, const char *name,
                          int count) {
    if (count > 0 && residue->count == 0)
        snprintf(residue->example, sizeof residue->example, "%s %s", what, name);
    residue->count += (uint64_t)count;
}

static int scan(struct lb_session *session, struct redis_node *node, const char *pattern,
                size_t len, struct lb_residue *residue, struct lb_err *err) {
    char cursor[24] = "0";
    do {
        const struct redis_reply *reply = NULL;
        const struct redis_word words[] = {{"SCAN", 4},    {cursor, 0},  {"MATCH", 5},
                                           {pattern, len}, {"COUNT", 5}, {"1000", 4}};
        if (redis_ask(session, node, words, 6, &reply, err) != 0) return -1;
        if (reply->value.type != REDIS_ARRAY || reply->count < 1)
            return err_set(err, LB_EXIT_MACHINE, "redis: SCAN: an answer of an unexpected type");
        count_residue(residue, "key", reply->count > 1 ? reply->element[1].text : "",
                      reply->total - 1);
        snprintf(cursor, sizeof cursor, "%s", reply->element[0].text);
    } while (strcmp(cursor, "0") != 0);
    return 0;
}

int redis_count_keys(struct lb_session *session, const char *before, const char *prefix,
                     struct lb_residue *residue, struct lb_err *err) {
    char pattern[2 * LB_KEY_MAX + 256];
    size_t len = pattern_of(pattern, sizeof pattern, before, prefix);
    for (int i = 0; i < redis_node_count(session); i++) {
        if (scan(session, redis_node_at(session, i), pattern, len, residue, err) != 0) return -1;
    }
    return 0;
}

int redis_count_channels(struct lb_session *session, const char *before, const char *prefix,
                         struct lb_residue *residue, struct lb_err *err) {
    static const char *const kinds[] = {"CHANNELS", "SHARDCHANNELS"};
    char pattern[2 * LB_KEY_MAX + 256];
    size_t len = pattern_of(pattern, sizeof pattern, before, prefix);
    for (int i = 0; i < redis_node_count(session); i++) {
        for (int k = 0; k < 2; k++) {
            const struct redis_word words[] = {{"PUBSUB", 6}, {kinds[k], 0}, {pattern, len}};
            const struct redis_reply *reply = NULL;
            struct lb_err why = {0};
            if (redis_ask(session, redis_node_at(session, i), words, 3, &reply, &why) == 0)
                count_residue(residue, "channel", reply->count > 0 ? reply->element[0].text : "",
                              reply->total);
            else if (k == 0) /* servers before Redis 7 have no sharded channels */
                return err_set(err, why.code, "%s", why.text);
        }
    }
    return 0;
}
