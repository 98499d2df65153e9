/* redis_impl: what the files of the redis backend share; the algorithms include redis.h only. */
#ifndef DRIVERS_REDIS_REDIS_IMPL_H
#define DRIVERS_REDIS_REDIS_IMPL_H

#include "drivers/redis/redis.h"

#ifdef LB_HAVE_HIREDIS
#include <hiredis.h>

#include "drivers/url.h"

struct redis_server {
    struct url url;
};

struct redis_options {
    int64_t command_timeout_ns;
};

#define REDIS_SCRIPTS_MAX 24

struct redis_conn {
    struct {
        const struct redis_script *script;
        char sha1[41];
    } scripts[REDIS_SCRIPTS_MAX];
    redisContext *context;
    bool dead;
    struct redis_reply reply;
    size_t text_used;
    char text[8192]; /* the texts of the reply */
};

extern redisReplyObjectFunctions redis_reply_functions;
#endif

#endif
