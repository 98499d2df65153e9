/* clean: the keys that lockbench left on the primaries; see drivers/clean.h. Keys are the only things
 * that outlive a connection to Redis. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/key_names.h"
#include "drivers/wait.h"

#define SCAN_COUNT "16" /* the names of one answer then fit into a reply */

/* Whether the name is the key itself, or a name that the locks make from the key: {key}:..., redisson_...{key}. */
static bool is_of_key(const char *name, const char *key) {
    char tagged[LB_KEY_MAX + 16];
    size_t len = redis_tagged(tagged, sizeof tagged, "", key, strlen(key), "");
    const char *at = strstr(name, tagged);
    if (strcmp(name, key) == 0) return true;
    if (!at || (at[len] != '\0' && at[len] != ':')) return false;
    return at == name ? at[len] == ':' : strncmp(name, "redisson_", strlen("redisson_")) == 0;
}

static bool is_wanted(const struct lb_cleaning *cleaning, const struct redis_value *name) {
    return cleaning->scope == LB_CLEAN_KEY ? is_of_key(name->text, cleaning->name)
                                           : lb_clean_wants(cleaning, name->text, name->len);
}

/* Writes into ret_names copies of the names in a SCAN's answer that are wanted. Returns how
 * many, or -1 when out of memory. */
static int take_wanted(const struct lb_cleaning *cleaning, const struct redis_reply *reply,
                       char *ret_names[REDIS_ELEMENTS_MAX]) {
    int count = 0;
    for (int i = 1; i < reply->count; i++) {
        if (!is_wanted(cleaning, &reply->element[i])) continue;
        ret_names[count] = strdup(reply->element[i].text);
        if (!ret_names[count]) return -1;
        count++;
    }
    return count;
}

static int unlink_key(struct lb_session *session, struct redis_node *node, const char *name,
                      struct lb_err *err) {
    const struct redis_word words[] = {{"UNLINK", 6}, {name, 0}};
    const struct redis_reply *reply = NULL;
    return redis_ask(session, node, words, 2, &reply, err);
}

/* One step of a SCAN: moves the cursor on, and removes the wanted keys of the answer. 0, or -1 with err. */
static int clean_step(struct lb_session *session, struct redis_node *node,
                      struct lb_cleaning *cleaning, char cursor[REDIS_CURSOR_BYTES],
                      struct lb_err *err) {
    bool all = cleaning->scope == LB_CLEAN_KEY;
    const struct redis_word words[] = {{"SCAN", 4},  {cursor, 0},
                                       {"MATCH", 5}, {all ? "*" : "*" LB_MARK_GLOB "*", 0},
                                       {"COUNT", 5}, {SCAN_COUNT, 0}};
    const struct redis_reply *reply = NULL;
    char *names[REDIS_ELEMENTS_MAX] = {0};
    if (redis_ask(session, node, words, 6, &reply, err) != 0) return -1;
    if (redis_scan_on(reply, cursor, LB_NEVER, err) != 0) return -1;
    int count = take_wanted(cleaning, reply, names);
    int failed = count < 0 ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
    for (int i = 0; i < count && !failed; i++) {
        if (lb_clean_found(cleaning, "key", "%s", names[i]))
            failed = unlink_key(session, node, names[i], err);
    }
    for (int i = 0; i < REDIS_ELEMENTS_MAX; i++) free(names[i]);
    return failed;
}

int redis_delete(struct lb_session *session, const struct lb_request *request, struct lb_err *err) {
    const struct redis_word words[] = {{"DEL", 3}, {request->key, request->key_len}};
    return redis_tell(session, NULL, 0, words, 2, err);
}

/* Adds all keys that the session's lock makes from one key, and the keys beside it that have no time to live. */
static int add_key(struct redis_batch *batch, const struct lb_request *request) {
    static _Thread_local struct lb_names names; /* large for a fiber's stack */
    struct lb_session *session = batch->session;
    char name[LB_KEY_MAX + 16];
    names.count = 0;
    session->lock->algorithm->names(session, request, &names);
    redis_tagged(name, sizeof name, "", request->key, request->key_len, ":timeout");
    if (redis_batch_add(batch, name) != 0) return -1;
    for (int i = 0; i < names.count; i++) {
        if (redis_batch_add(batch, names.item[i].text) != 0) return -1;
    }
    return 0;
}

int redis_unlink_range(struct lb_session *session, const struct lb_key_range *range,
                       const struct lb_request *like, struct lb_err *err) {
    struct redis_batch *batch = calloc(1, sizeof *batch);
    struct lb_request request = *like;
    char name[LB_KEY_MAX];
    int failed = 0;
    if (!batch) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *batch = (struct redis_batch){.session = session, .err = err, .command = {"UNLINK"}};
    request.key = name;
    for (uint32_t i = 0; i < range->count && !failed && !lb_stopping(); i++) {
        request.key_len =
            (size_t)snprintf(name, sizeof name, "%s%u", range->prefix, range->first + i);
        failed = add_key(batch, &request);
    }
    if (!failed) failed = redis_batch_flush(batch);
    free(batch);
    return failed;
}

int redis_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    if (cleaning->scope == LB_CLEAN_EMPTY || cleaning->scope == LB_CLEAN_SHARED) return 0;
    if (cleaning->scope == LB_CLEAN_STAGE) {
        const struct lb_key_range range = {.prefix = cleaning->name, .count = cleaning->count};
        const struct lb_request like = {.permits = 1};
        return redis_unlink_range(session, &range, &like, err);
    }
    for (int i = 0; i < redis_node_count(session); i++) {
        char cursor[REDIS_CURSOR_BYTES] = "0";
        do {
            if (clean_step(session, redis_node_at(session, i), cleaning, cursor, err) != 0)
                return -1;
        } while (strcmp(cursor, "0") != 0 && !lb_stopping());
    }
    return 0;
}
