/* clean: the keys and the leases that lockbench left on etcd; see drivers/clean.h. */
#include "drivers/etcd/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/wait.h"

#define PAGE 200 /* keys asked for at once */
#define PAGE_BYTES (PAGE * 1200)

/* The texts before the lock's name in a key: none, or the root of etcd-chubby. */
static const char *const roots[] = {"", "chubby/"};

static int delete_range(struct etcd_session *e, ProtobufCBinaryData from, ProtobufCBinaryData end,
                        struct lb_err *err) {
    Etcdserverpb__DeleteRangeRequest request = ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
    request.key = from;
    request.range_end = end;
    return etcd_call(&e->call, &etcd_delete_range, &request.base, err) == LB_OK ? 0 : -1;
}

/* Whether a key (without its root) belongs to the named lock: the name itself (etcd-key, which has no root), a key of
 * etcd-chubby, or a key that ends with a lease. */
static bool is_of_key(bool rooted, const char *key, size_t len, const char *name) {
    size_t own = strlen(name);
    if (len < own || memcmp(key, name, own) != 0) return false;
    const char *rest = key + own;
    size_t left = len - own;
    if (left == 0) return !rooted;
    if (*rest == '\0') return true;
    size_t digits = 1;
    while (digits < left && strchr("0123456789abcdef", rest[digits])) digits++;
    return *rest == '/' && left > 1 && digits == left;
}

/* root_len: the number of bytes of the key that are its root. */
static bool is_wanted(const struct lb_cleaning *cleaning, size_t root_len, const char *key,
                      size_t len) {
    const char *behind = key + root_len;
    len -= root_len;
    return cleaning->scope == LB_CLEAN_KEY ? is_of_key(root_len > 0, behind, len, cleaning->name)
                                           : lb_clean_wants(cleaning, behind, len);
}

/* A walk through the keys that begin with a text, page by page. */
struct walk {
    size_t root_len,
        asked_len; /* lengths in `from`: of the root, and of the text that all keys begin with */
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
        if (!is_wanted(cleaning, walk->root_len, text, key->len)) continue;
        if (!lb_clean_found(cleaning, "key", "%.*s", (int)key->len, text)) continue;
        if (delete_range(e, *key, (ProtobufCBinaryData){0}, err) != 0) return -1;
    }
    return 0;
}

/* The keys that begin with a root and the text behind it. */
static int clean_keys(struct etcd_session *e, struct etcd_line *line, const char *root,
                      const char *begin, const struct lb_cleaning *cleaning, struct lb_err *err) {
    struct walk walk = {.root_len = strlen(root)};
    char end[ETCD_KEY_MAX];
    walk.from_len = (size_t)snprintf(walk.from, ETCD_KEY_MAX, "%s%s", root, begin);
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
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char from[ETCD_KEY_MAX], end[ETCD_KEY_MAX];
        size_t len = (size_t)snprintf(from, sizeof from, "%s%s", roots[i], cleaning->name);
        size_t end_len = etcd_prefix_end(from, len, end);
        struct lb_err why = {0};
        if (delete_range(e, etcd_bytes(from, len), etcd_bytes(end, end_len), &why) == 0) continue;
        /* A user who may not delete below this root could not write below it either, so nothing is
         * left there. */
        if (i > 0 && e->call.status == ETCD_DENIED) continue;
        return err_set(err, why.code, "%s", why.text);
    }
    return 0;
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
    for (size_t i = 0; i < sizeof roots / sizeof *roots && !failed; i++) {
        struct lb_err why = {0};
        failed = clean_keys(e, &line, roots[i], begin, cleaning, &why);
        if (failed && i > 0 && line.status == ETCD_DENIED) {
            snprintf(cleaning->unseen, sizeof cleaning->unseen,
                     "the user may not look at keys that begin with %s", roots[i]);
            failed = 0;
        }
        if (failed) err_set(err, why.code, "%s", why.text);
    }
    if (!failed && !named) failed = etcd_clean_leases(e, cleaning, err);
    etcd_line_done(&line);
    return failed;
}
