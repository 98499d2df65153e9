/* store: a guarded value beside a lock: the item KEY:guarded with "token value" in it, for a day
 * from its last write, written by its CAS number. memcached is a cache: an evicted or flushed
 * value is gone, and the next write may have any token. See drivers/store.h. */
#include "drivers/memcached/memcached.h"

#include <stdio.h>
#include <string.h>

#define BEHIND ":guarded"
#define TTL_S "86400"
#define COMMAND_MAX (MEMCACHED_KEY_MAX + STORE_TEXT_MAX + 64)

/* The lock has accepted the key, so the longer key can only be too long. */
static enum lb_outcome check_key_length(struct lb_session *session,
                                        const struct lb_request *request) {
    if (request->key_len + sizeof BEHIND - 1 <= MEMCACHED_KEY_MAX) return LB_OK;
    return lb_fail(session, LB_REFUSED, "memcached: no room for '" BEHIND "' in a key of %d bytes",
                   MEMCACHED_KEY_MAX);
}

static enum lb_outcome read_guarded_item(struct lb_session *session,
                                         const struct lb_request *request,
                                         struct store_entry *ret_entry) {
    char command[COMMAND_MAX], text[STORE_TEXT_MAX], *line = NULL;
    enum lb_outcome outcome = check_key_length(session, request);
    if (outcome != LB_OK) return outcome;
    int len = snprintf(command, sizeof command, "mg %s" BEHIND " v c\r\n", request->key);
    outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "EN", 2) == 0) return LB_OK;
    if (strncmp(line, "VA ", 3) != 0) return memcached_odd(session, line);
    uint64_t version = memcached_flag(line, 'c');
    size_t text_len = 0;
    outcome = memcached_value(session, line, text, sizeof text, &text_len);
    if (outcome != LB_OK) return outcome;
    if (!store_parse(text, text_len, ret_entry)) {
        return lb_fail(session, LB_REFUSED, "memcached: %.200s" BEHIND " holds something else",
                       request->key);
    }
    ret_entry->version = version;
    return LB_OK;
}

static enum lb_outcome write_guarded_item(struct lb_session *session,
                                          const struct lb_request *request,
                                          const struct store_entry *entry) {
    char command[COMMAND_MAX], text[STORE_TEXT_MAX], *line = NULL;
    int text_len = store_text(entry, text), len;
    if (entry->version == 0) {
        len = snprintf(command, sizeof command, "ms %s" BEHIND " %d ME T" TTL_S "\r\n%s\r\n",
                       request->key, text_len, text);
    } else {
        len = snprintf(command, sizeof command, "ms %s" BEHIND " %d C%llu T" TTL_S "\r\n%s\r\n",
                       request->key, text_len, (unsigned long long)entry->version, text);
    }
    enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "HD", 2) == 0) return LB_OK;
    /* NS: another client added the item. EX: another wrote it. NF: it is gone. */
    bool changed =
        strncmp(line, "NS", 2) == 0 || strncmp(line, "EX", 2) == 0 || strncmp(line, "NF", 2) == 0;
    return changed ? LB_BUSY : memcached_odd(session, line);
}

static int delete_guarded_item(struct lb_session *session, const struct lb_request *request,
                               struct lb_err *err) {
    char command[COMMAND_MAX], *line = NULL;
    int len = snprintf(command, sizeof command, "md %s" BEHIND "\r\n", request->key);
    enum lb_outcome outcome = check_key_length(session, request);
    if (outcome == LB_OK) outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome == LB_OK && strncmp(line, "HD", 2) != 0 && strncmp(line, "NF", 2) != 0) {
        outcome = memcached_odd(session, line);
    }
    return outcome == LB_OK ? 0 : err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

const struct store_cas memcached_store = {.store = {.install = store_cas_install,
                                                    .write = store_cas_write,
                                                    .read = store_cas_read,
                                                    .drop = delete_guarded_item},
                                          .get = read_guarded_item,
                                          .put = write_guarded_item};
