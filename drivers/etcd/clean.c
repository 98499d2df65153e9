/* clean: the keys and the leases that lockbench left on etcd; see drivers/clean.h. */
#include "drivers/etcd/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/wait.h"

#define PAGE 200 /* keys asked for at once */
#define PAGE_BYTES (PAGE * 1200)

static int delete_range(struct etcd_session *e, ProtobufCBinaryData from, ProtobufCBinaryData end,
                        struct lb_err *err) {
    Etcdserverpb__DeleteRangeRequest request = ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
    request.key = from;
    request.range_end = end;
    return etcd_call(&e->call, &etcd_delete_range, &request.base, err) == LB_OK ? 0 : -1;
}

/* Whether a key belongs to the named lock: the name itself (etcd-key), or with a lease behind it. */
static bool is_of_key(const char *key, size_t len, const char *name) {
    size_t own = strlen(name);
    if (len < own || memcmp(key, name, own) != 0) return false;
    const char *rest = key + own;
    size_t left = len - own, digits = 1;
    if (left == 0 || *rest == '\0') return true;
    while (digits < left && strchr("0123456789abcdef", rest[digits])) digits++;
    return *rest == '/' && left > 1 && digits == left;
}

static bool is_wanted(const struct lb_cleaning *cleaning, const char *key, size_t len) {
    return cleaning->scope == LB_CLEAN_KEY ? is_of_key(key, len, cleaning->name)
                                           : lb_clean_wants(cleaning, key, len);
}

/* A walk through the keys that begin with a text, page by page. */
struct walk {
    size_t asked_len;            /* length in `from` of the text that all keys begin with */
    char from[ETCD_KEY_MAX + 1]; /* the first key that has not been seen */
    size_t from_len;
};

/* Whether a key is one that the request for this page asked for. */
static bool was_asked_for(const struct walk *walk, const ProtobufCBinaryData *key) {
    size_t both = key->len < walk->from_len ? key->len : walk->from_len;
    if (key->len < walk->asked_len || memcmp(key->data, walk->from, walk->asked_len) != 0)
        return false;
    int order = memcmp(key->data, walk->from, both);
    return order > 0 || (order == 0 && key->len >= walk->from_len);
}

/* Removes the wanted keys of an answer. *ret_moved: whether the answer moves the walk on. 0, or -1 with err. */
static int clean_page(struct etcd_session *e, const Etcdserverpb__RangeResponse *page,
                      struct walk *walk, const struct lb_cleaning *cleaning, bool *ret_moved,
                      struct lb_err *err) {
    *ret_moved = false;
    for (size_t i = 0; i < page->n_kvs; i++) {
        const ProtobufCBinaryData *key = &page->kvs[i]->key;
        const char *text = (const char *)key->data;
        if (!was_asked_for(walk, key))
            return err_set(err, LB_EXIT_MACHINE, "etcd answers with a key that was not asked for");
        if (key->len >= ETCD_KEY_MAX) continue; /* lockbench makes no key of this length */
        memcpy(walk->from, text, key->len);
        walk->from[key->len] = '\0';
        walk->from_len = key->len + 1;
        *ret_moved = true;
        if (!is_wanted(cleaning, text, key->len)) continue;
        if (!lb_clean_found(cleaning, "key", "%.*s", (int)key->len, text)) continue;
        if (delete_range(e, *key, (ProtobufCBinaryData){0}, err) != 0) return -1;
    }
    return 0;
}

/* The keys that begin with a text. */
static int clean_keys(struct etcd_session *e, struct etcd_line *line, const char *begin,
                      const struct lb_cleaning *cleaning, struct lb_err *err) {
    struct walk walk = {0};
    char end[ETCD_KEY_MAX];
    walk.from_len = (size_t)snprintf(walk.from, ETCD_KEY_MAX, "%s", begin);
    walk.asked_len = walk.from_len;
    size_t end_len = etcd_prefix_end(walk.from, walk.from_len, end);
    for (bool more = true; more && !lb_stopping();) {
        Etcdserverpb__RangeRequest range = ETCDSERVERPB__RANGE_REQUEST__INIT;
        bool moved;
        range.key = etcd_bytes(walk.from, walk.from_len);
        range.range_end = etcd_bytes(end, end_len);
        range.limit = PAGE;
        range.keys_only = 1;
        if (etcd_call(line, &etcd_range, &range.base, err) != LB_OK) return -1;
        const Etcdserverpb__RangeResponse *page = etcd_answer(line);
        more = page->more;
        if (clean_page(e, page, &walk, cleaning, &moved, err) != 0) return -1;
        more = more && moved;
    }
    return 0;
}

/* All keys that begin with the stage's name go at once. */
static int clean_stage(struct etcd_session *e, const struct lb_cleaning *cleaning,
                       struct lb_err *err) {
    char end[ETCD_KEY_MAX];
    size_t len = strlen(cleaning->name), end_len = etcd_prefix_end(cleaning->name, len, end);
    return delete_range(e, etcd_bytes(cleaning->name, len), etcd_bytes(end, end_len), err);
}

int etcd_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    struct etcd_session *e = etcd_session_of(session);
    struct etcd_line line = {0};
    bool named = cleaning->scope == LB_CLEAN_KEY;
    char begin[LB_KEY_MAX];
    snprintf(begin, sizeof begin, "%s%s", !named && cleaning->before ? cleaning->before : "",
             named ? cleaning->name : LB_MARK);
    if (cleaning->scope == LB_CLEAN_EMPTY || cleaning->scope == LB_CLEAN_SHARED) return 0;
    if (cleaning->scope == LB_CLEAN_STAGE) return clean_stage(e, cleaning, err);
    int failed = etcd_line_init(&line, e, PAGE_BYTES, 2 * ETCD_KEY_MAX + 64, err);
    if (!failed) failed = clean_keys(e, &line, begin, cleaning, err);
    if (!failed && !named) failed = etcd_clean_leases(e, cleaning, err);
    etcd_line_done(&line);
    return failed;
}
