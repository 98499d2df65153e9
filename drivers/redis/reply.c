/* reply: hiredis' parser, writing replies into the connection instead of allocating them. */
#include "drivers/redis/redis_impl.h"

#include <string.h>

const char redis_ok[] = "OK";

static struct redis_value *place(const redisReadTask *task) {
    struct redis_conn *conn = task->privdata;
    struct redis_reply *reply = conn->filling;
    if (!task->parent) return &reply->value;
    static _Thread_local struct redis_value dropped;
    reply->total++;
    if (reply->count == REDIS_ELEMENTS_MAX) return &dropped;
    return &reply->element[reply->count++];
}

static void *on_text(const redisReadTask *task, char *text, size_t len) {
    struct redis_conn *conn = task->privdata;
    struct redis_value *value = place(task);
    if (task->type == REDIS_REPLY_STATUS && len == 2 && memcmp(text, redis_ok, 2) == 0) {
        *value = (struct redis_value){.type = REDIS_STATUS, .text = redis_ok, .len = len};
        return value;
    }
    /* A reply longer than the buffer is cut; answers to INFO and CLUSTER NODES may be so long. */
    size_t room = sizeof conn->text - conn->text_used;
    size_t keep = room == 0 ? 0 : len < room ? len : room - 1;
    char *at = conn->text + conn->text_used;
    if (room > 0) {
        memcpy(at, text, keep);
        at[keep] = '\0';
        conn->text_used += keep + 1;
    }
    *value = (struct redis_value){.type = task->type == REDIS_REPLY_ERROR    ? REDIS_ERROR
                                          : task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
                                                                             : REDIS_STRING,
                                  .text = room > 0 ? at : "",
                                  .len = keep};
    return value;
}

#if HIREDIS_MAJOR >= 1
static void *on_array(const redisReadTask *task, size_t count) {
#else
static void *on_array(const redisReadTask *task, int count) {
#endif
    if (task->parent) return task->privdata; /* nested: flattened */
    struct redis_value *value = place(task);
    *value = (struct redis_value){.type = REDIS_ARRAY, .integer = (long long)count, .text = ""};
    return value;
}

static void *on_integer(const redisReadTask *task, long long number) {
    struct redis_value *value = place(task);
    *value = (struct redis_value){.type = REDIS_INTEGER, .integer = number, .text = ""};
    return value;
}

static void *on_nil(const redisReadTask *task) {
    struct redis_value *value = place(task);
    *value = (struct redis_value){.type = REDIS_NIL, .text = ""};
    return value;
}

static void on_free(void *object) {
    (void)object; /* nothing was allocated */
}

redisReplyObjectFunctions redis_reply_functions = {
    .createString = on_text,
    .createArray = on_array,
    .createInteger = on_integer,
    .createNil = on_nil,
    .freeObject = on_free,
};

const char *redis_after(const struct redis_reply *reply, const char *name) {
    for (int i = 0; i + 1 < reply->count; i += 2) {
        if (strcmp(reply->element[i].text, name) == 0) return reply->element[i + 1].text;
    }
    return "";
}
