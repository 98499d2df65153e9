/* clean: removes items of keys whose names are known; see drivers/clean.h. A memcached lists its
 * keys only as a dump of all items, so items that other runs left are not searched for: each
 * item of lockbench ends by its own time to live, within a day. */
#include <stdio.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/memcached/memcached.h"
#include "drivers/wait.h"

static const char *const endings[] = {"", ":guarded"};

/* Sends a command for an item. Returns LB_OK, and whether the item exists. */
static enum lb_outcome ask_item(struct lb_session *session, const char *verb, const char *key,
                                const char *ending, bool *ret_there) {
    char command[MEMCACHED_KEY_MAX + 40], *line = NULL;
    int len = snprintf(command, sizeof command, "%s %s%s\r\n", verb, key, ending);
    *ret_there = false;
    if ((size_t)len >= sizeof command) return LB_OK; /* such an item can't exist */
    enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome != LB_OK) return outcome;
    *ret_there = strncmp(line, "HD", 2) == 0;
    bool missing = strncmp(line, "NF", 2) == 0 || strncmp(line, "EN", 2) == 0;
    return *ret_there || missing ? LB_OK : memcached_odd(session, line);
}

static int clean_failed(struct lb_session *session, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

static int clean_key(struct lb_session *session, const struct lb_cleaning *cleaning,
                     struct lb_err *err) {
    if (strpbrk(cleaning->name, " \t\r\n")) return 0; /* no key of memcached */
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        bool there;
        if (ask_item(session, "mg", cleaning->name, endings[i], &there) != LB_OK)
            return clean_failed(session, err);
        if (!there || !lb_clean_found(cleaning, "item", "%s%s", cleaning->name, endings[i]))
            continue;
        if (ask_item(session, "md", cleaning->name, endings[i], &there) != LB_OK)
            return clean_failed(session, err);
    }
    return 0;
}

static int clean_stage(struct lb_session *session, const struct lb_cleaning *cleaning,
                       struct lb_err *err) {
    for (uint32_t i = 0; i < cleaning->count && !lb_stopping(); i++) {
        char key[MEMCACHED_KEY_MAX];
        bool there;
        snprintf(key, sizeof key, "%s%u", cleaning->name, i);
        for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
            if (ask_item(session, "md", key, endings[e], &there) != LB_OK)
                return clean_failed(session, err);
        }
    }
    return 0;
}

int memcached_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    if (cleaning->scope == LB_CLEAN_KEY) return clean_key(session, cleaning, err);
    if (cleaning->scope == LB_CLEAN_STAGE) return clean_stage(session, cleaning, err);
    if (cleaning->scope == LB_CLEAN_LEFT)
        snprintf(cleaning->unseen, sizeof cleaning->unseen,
                 "memcached lists no keys: items of runs end by their own time to live, and "
                 "`clean --key NAME` removes one by its name");
    return 0;
}
