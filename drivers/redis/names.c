/* names: the names of keys and holders, and the count of keys that are left on the servers. See
 * redis.h. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

size_t redis_tagged(char *out, size_t size, const char *before, const char *name, size_t name_len,
                    const char *after) {
    bool braced = memchr(name, '{', name_len) != NULL;
    int used =
        snprintf(out, size, braced ? "%s%.*s%s" : "%s{%.*s}%s", before, (int)name_len, name, after);
    return (size_t)used < size ? (size_t)used : size - 1;
}

void redis_lease_ms(int64_t lease_ns, char out[REDIS_DECIMAL_BYTES]) {
    int64_t ms = lease_ns / LB_MS_NS + (lease_ns % LB_MS_NS > 0);
    redis_decimal(ms > 0 ? (uint64_t)ms : 1, out);
}

size_t redis_decimal(uint64_t number, char out[REDIS_DECIMAL_BYTES]) {
    size_t used = 1;
    for (uint64_t left = number; left >= 10; left /= 10) used++;
    out[used] = '\0';
    for (size_t at = used; at > 0; number /= 10) out[--at] = (char)('0' + number % 10);
    return used;
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

/* ---- by the names of a stage's keys (session->only) ---- */

/* node NULL: the node that serves the first name. */
static int send_names(const struct redis_batch *batch, struct redis_node *node) {
    struct redis_word words[REDIS_BATCH + 2];
    const struct redis_reply *reply = NULL;
    int used = 0, known = 0;
    for (int i = 0; batch->command[i]; i++)
        words[used++] = (struct redis_word){batch->command[i], 0};
    for (int i = 0; i < batch->count; i++) words[used++] = (struct redis_word){batch->name[i], 0};
    if (node && redis_ask(batch->session, node, words, used, &reply, batch->err) != 0) return -1;
    if (!node && redis_run(batch->session, NULL, 0, words, used, &reply) != LB_OK)
        return err_set(batch->err, LB_EXIT_MACHINE, "%s", batch->session->err.text);
    if (!batch->residue) return 0;
    if (reply->value.type == REDIS_INTEGER) known = (int)reply->value.integer;
    for (int i = 1; i < reply->count; i += 2) known += reply->element[i].integer > 0;
    lb_left(batch->residue, (uint64_t)known, "%s %.100s", batch->command[1] ? "channel" : "key",
            batch->name[0]);
    return 0;
}

static bool goes_by_slot(const struct redis_batch *batch) {
    return redis_is_cluster(batch->session) && !batch->command[1];
}

int redis_batch_flush(struct redis_batch *batch) {
    bool by_slot = goes_by_slot(batch);
    int nodes = by_slot ? 1 : redis_node_count(batch->session), failed = 0;
    for (int i = 0; i < nodes && batch->count > 0 && !failed; i++)
        failed = send_names(batch, by_slot ? NULL : redis_node_at(batch->session, i));
    batch->count = 0;
    return failed;
}

int redis_batch_add(struct redis_batch *batch, const char *name) {
    const char *first = batch->name[0];
    bool full = batch->count == REDIS_BATCH;
    if (batch->count > 0 && goes_by_slot(batch))
        full |= redis_slot(name, strlen(name)) != redis_slot(first, strlen(first));
    if (full && redis_batch_flush(batch) != 0) return -1;
    snprintf(batch->name[batch->count++], sizeof batch->name[0], "%.1080s", name);
    return 0;
}

/* Looks each key up under the name before + prefix + number, closed by a brace if `before` ends
 * with one. If `before` is that brace alone, the name also gets ":timeout", which redis-permit
 * writes behind it. */
static int count_named(struct redis_batch *batch, const char *before, const char *prefix) {
    const struct lb_session *session = batch->session;
    size_t len = strlen(before);
    bool braced = len > 0 && before[len - 1] == '{';
    for (uint32_t i = 0; i < session->only->count && !lb_stopping(); i++) {
        char name[LB_KEY_MAX];
        snprintf(name, sizeof name, "%.60s%.900s%u%s%s", before, prefix, i, braced ? "}" : "",
                 braced && len == 1 ? ":timeout" : "");
        if (redis_batch_add(batch, name) != 0) return -1;
    }
    return redis_batch_flush(batch);
}

static int count_only(struct lb_session *session, bool channels, const char *before,
                      const char *prefix, struct lb_residue *residue, struct lb_err *err) {
    struct redis_batch *batch = calloc(1, sizeof *batch);
    if (!batch) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *batch = (struct redis_batch){.session = session, .residue = residue, .err = err};
    batch->command[0] = channels ? "PUBSUB" : "EXISTS";
    batch->command[1] = channels ? "NUMSUB" : NULL;
    int failed = count_named(batch, before, prefix);
    free(batch);
    return failed;
}

/* ---- by a look at the whole server ---- */

#define SCAN_NS                                                                                    \
    (600 * LB_S_NS) /* for a look through all keys of a node: there may be many millions */

int redis_scan_on(const struct redis_reply *reply, char cursor[REDIS_CURSOR_BYTES],
                  int64_t deadline_ns, struct lb_err *err) {
    if (reply->value.type != REDIS_ARRAY || reply->count < 1)
        return err_set(err, LB_EXIT_MACHINE, "redis: SCAN: an answer of an unexpected type");
    const char *next = reply->element[0].text;
    bool last = strcmp(next, "0") == 0;
    if (!last && strcmp(next, cursor) == 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: SCAN: the server gives the same cursor again");
    if (!last && lb_stopping())
        return err_set(err, LB_EXIT_INTERRUPTED, "redis: SCAN: interrupted");
    if (!last && lb_now() >= deadline_ns)
        return err_set(err, LB_EXIT_MACHINE, "redis: SCAN: no end within 10 minutes");
    snprintf(cursor, REDIS_CURSOR_BYTES, "%s", next);
    return 0;
}

static int scan(struct lb_session *session, struct redis_node *node, const char *pattern,
                size_t len, struct lb_residue *residue, struct lb_err *err) {
    char cursor[REDIS_CURSOR_BYTES] = "0";
    int64_t deadline_ns = lb_now() + SCAN_NS;
    do {
        const struct redis_reply *reply = NULL;
        const struct redis_word words[] = {{"SCAN", 4},    {cursor, 0},  {"MATCH", 5},
                                           {pattern, len}, {"COUNT", 5}, {"1000", 4}};
        if (redis_ask(session, node, words, 6, &reply, err) != 0) return -1;
        if (redis_scan_on(reply, cursor, deadline_ns, err) != 0) return -1;
        lb_left(residue, reply->total > 1 ? (uint64_t)reply->total - 1 : 0, "key %.100s",
                reply->count > 1 ? reply->element[1].text : "");
    } while (strcmp(cursor, "0") != 0);
    return 0;
}

int redis_count_keys(struct lb_session *session, const char *before, const char *prefix,
                     struct lb_residue *residue, struct lb_err *err) {
    char pattern[2 * LB_KEY_MAX + 256];
    if (session->only) return count_only(session, false, before, prefix, residue, err);
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
    if (session->only) return count_only(session, true, before, prefix, residue, err);
    size_t len = pattern_of(pattern, sizeof pattern, before, prefix);
    for (int i = 0; i < redis_node_count(session); i++) {
        for (int k = 0; k < 2; k++) {
            const struct redis_word words[] = {{"PUBSUB", 6}, {kinds[k], 0}, {pattern, len}};
            const struct redis_reply *reply = NULL;
            struct lb_err why = {0};
            if (redis_ask(session, redis_node_at(session, i), words, 3, &reply, &why) == 0)
                lb_left(residue, (uint64_t)reply->total, "channel %.100s",
                        reply->count > 0 ? reply->element[0].text : "");
            else if (k == 0) /* servers before Redis 7 have no sharded channels */
                return err_set(err, why.code, "%s", why.text);
        }
    }
    return 0;
}
