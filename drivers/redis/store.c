/* store: a guarded value beside a lock: the hash {key}:guarded with its token and its value.
 * Scripts change it, so that no other command comes between the check of the token and the write.
 * See drivers/store.h. Scripts compute with Lua's numbers, which are exact up to 2^53; tokens made
 * by INCR stay below that. */
#include "drivers/redis/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_BYTES (LB_KEY_MAX + 16)

REDIS_SCRIPT(store_install);
REDIS_SCRIPT(store_write);

struct text {
    char text[24];
};

static struct text text_of(uint64_t number) {
    struct text text;
    snprintf(text.text, sizeof text.text, "%" PRIu64, number);
    return text;
}

static enum lb_outcome value_of(struct lb_session *session, const struct redis_reply *reply,
                                uint64_t *ret_value) {
    if (reply->value.type == REDIS_NIL) return LB_LOST;
    if (reply->value.type != REDIS_STRING) return redis_refuse(session, reply);
    *ret_value = strtoull(reply->value.text, NULL, 10);
    return LB_OK;
}

static void name_of(const struct lb_request *request, char name[NAME_MAX_BYTES]) {
    redis_tagged(name, NAME_MAX_BYTES, "", request->key, request->key_len, ":guarded");
}

static enum lb_outcome store_install(struct lb_session *session, const struct lb_request *request,
                                     uint64_t token, uint64_t *ret_value) {
    char name[NAME_MAX_BYTES];
    struct text argument = text_of(token);
    const struct redis_reply *reply = NULL;
    name_of(request, name);
    const struct redis_word words[] = {{name, 0}, {argument.text, 0}};
    enum lb_outcome outcome = redis_eval(session, &script_store_install, 1, words, 2, &reply);
    return outcome == LB_OK ? value_of(session, reply, ret_value) : outcome;
}

static enum lb_outcome store_write(struct lb_session *session, const struct lb_request *request,
                                   uint64_t token, uint64_t value) {
    char name[NAME_MAX_BYTES];
    struct text arguments[] = {text_of(token), text_of(value)};
    const struct redis_reply *reply = NULL;
    uint64_t written;
    name_of(request, name);
    const struct redis_word words[] = {{name, 0}, {arguments[0].text, 0}, {arguments[1].text, 0}};
    enum lb_outcome outcome = redis_eval(session, &script_store_write, 1, words, 3, &reply);
    return outcome == LB_OK ? value_of(session, reply, &written) : outcome;
}

static enum lb_outcome store_read(struct lb_session *session, const struct lb_request *request,
                                  uint64_t *ret_value) {
    char name[NAME_MAX_BYTES];
    const struct redis_reply *reply = NULL;
    name_of(request, name);
    const struct redis_word words[] = {{"HGET", 4}, {name, 0}, {"value", 5}};
    enum lb_outcome outcome = redis_call(session, words, 3, &reply);
    if (outcome == LB_OK) outcome = value_of(session, reply, ret_value);
    if (outcome == LB_LOST) *ret_value = 0; /* nothing there */
    return outcome == LB_LOST ? LB_OK : outcome;
}

static int store_drop(struct lb_session *session, const struct lb_request *request,
                      struct lb_err *err) {
    char name[NAME_MAX_BYTES];
    const struct redis_reply *reply = NULL;
    name_of(request, name);
    const struct redis_word words[] = {{"DEL", 3}, {name, 0}};
    enum lb_outcome outcome = redis_call(session, words, 2, &reply);
    if (outcome == LB_OK && reply->value.type != REDIS_INTEGER)
        outcome = redis_refuse(session, reply);
    return outcome == LB_OK ? 0 : err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

const struct lb_store redis_store = {
    .install = store_install, .write = store_write, .read = store_read, .drop = store_drop};
