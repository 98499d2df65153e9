/* store_cas: a guarded store by optimistic writes: read with the version, decide here, write if the
 * version is still the same, otherwise try again. So the decision and the write always agree. See
 * store.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "drivers/store.h"

#define TRIES_MAX 100 /* tries against other writers, of which there are far fewer */

static enum lb_outcome change_guarded(struct lb_session *session, const struct lb_request *request,
                                      uint64_t token, const uint64_t *value, uint64_t *ret_value) {
    const struct store_cas *cas = (const struct store_cas *)session->lock->store;
    for (int i = 0; i < TRIES_MAX; i++) {
        struct store_entry entry = {0};
        enum lb_outcome outcome = cas->get(session, request, &entry);
        if (outcome != LB_OK) return outcome;
        if (token < entry.token) return LB_LOST;
        entry.token = token;
        if (value) entry.value = *value;
        outcome = cas->put(session, request, &entry);
        if (outcome == LB_OK && ret_value) *ret_value = entry.value;
        if (outcome != LB_BUSY) return outcome;
    }
    return lb_fail(
        session, LB_REFUSED,
        "%s: other clients changed its guarded value during each of %d tries to write it",
        session->lock->name, TRIES_MAX);
}

enum lb_outcome store_cas_install(struct lb_session *session, const struct lb_request *request,
                                  uint64_t token, uint64_t *ret_value) {
    return change_guarded(session, request, token, NULL, ret_value);
}

enum lb_outcome store_cas_write(struct lb_session *session, const struct lb_request *request,
                                uint64_t token, uint64_t value) {
    return change_guarded(session, request, token, &value, NULL);
}

enum lb_outcome store_cas_read(struct lb_session *session, const struct lb_request *request,
                               uint64_t *ret_value) {
    const struct store_cas *cas = (const struct store_cas *)session->lock->store;
    struct store_entry entry = {0};
    enum lb_outcome outcome = cas->get(session, request, &entry);
    if (outcome == LB_OK) *ret_value = entry.value;
    return outcome;
}

int store_text(const struct store_entry *entry, char text[STORE_TEXT_MAX]) {
    return snprintf(text, STORE_TEXT_MAX, "%" PRIu64 " %" PRIu64, entry->token, entry->value);
}

bool store_parse(const char *text, size_t len, struct store_entry *entry) {
    char copy[STORE_TEXT_MAX];
    if (len == 0 || len >= sizeof copy) return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return sscanf(copy, "%" SCNu64 " %" SCNu64, &entry->token, &entry->value) == 2;
}
