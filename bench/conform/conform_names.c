/* conform_names: unusual names of locks: each works, or is refused in clear words. */
#include <stdio.h>
#include <string.h>

#include "bench/conform/conform.h"

/* The same for locks without holders: a latch of one count, a version. */
static void try_unheld(struct trial *trial, struct actor *one, struct actor *other,
                       const char *name, size_t len, const char *what) {
    struct trial_key odd = trial_key_named(name, len);
    bool latch = trial->lock->lock->primitive == LB_LATCH;
    enum lb_outcome outcome = actor_acquire(one, &odd, TRIAL_TRY);
    MUST(trial, outcome == (latch ? LB_BUSY : LB_OK) || outcome == LB_REFUSED, "%s: gave %s: %s",
         what, lb_outcome_name(outcome), one->session.err.text);
    if (outcome == LB_REFUSED) {
        MUST(trial, strlen(one->session.err.text) > 10, "%s: refused without a reason", what);
        return;
    }
    outcome = actor_release(one);
    if (outcome == LB_OK) outcome = actor_acquire(other, &odd, trial_soon());
    if (outcome == LB_OK && !latch) outcome = actor_release(other);
    MUST(trial, outcome == LB_OK, "%s: what followed gave %s: %s", what, lb_outcome_name(outcome),
         one->session.err.text);
}

/* The name works as a lock, or is refused with a text; in both cases the two connections stay
 * usable. */
static void try_name(struct trial *trial, struct actor *one, struct actor *other, const char *name,
                     size_t len, const char *what) {
    if (!(CONFORM_KIND(trial->lock->lock->primitive) & CONFORM_EXCLUDES)) {
        try_unheld(trial, one, other, name, len, what);
        return;
    }
    struct trial_key odd = trial_key_named(name, len), plain = trial_key();
    enum lb_outcome outcome = actor_acquire(one, &odd, TRIAL_TRY);
    MUST(trial, outcome == LB_OK || outcome == LB_REFUSED, "%s: gave %s, not ok or refused: %s",
         what, lb_outcome_name(outcome), one->session.err.text);
    if (outcome == LB_REFUSED) {
        MUST(trial, strlen(one->session.err.text) > 10, "%s: refused without a reason", what);
        outcome = actor_acquire(other, &odd, lb_now() + LB_S_NS);
        MUST(trial, outcome == LB_REFUSED, "%s: refused to one, but %s to another", what,
             lb_outcome_name(outcome));
    } else {
        outcome = actor_acquire(other, &odd, TRIAL_TRY);
        MUST_SAY_NO(trial, outcome, outcome == LB_BUSY, "%s: taken, but another got %s: %s", what,
                    lb_outcome_name(outcome), other->session.err.text);
        outcome = actor_release(one);
        MUST(trial, outcome == LB_OK, "%s: its release gave %s: %s", what, lb_outcome_name(outcome),
             one->session.err.text);
    }
    outcome = actor_acquire(one, &plain, trial_soon());
    if (outcome == LB_OK) outcome = actor_release(one);
    MUST(trial, outcome == LB_OK, "after %s a plain name gave %s: %s", what,
         lb_outcome_name(outcome), one->session.err.text);
}

void conform_odd_names(struct trial *trial) {
    static const char *const names[] = {
        "two words",
        "/",
        "//a//b/",
        "../../up",
        ".",
        "..",
        "a%b%20c%",
        "'; DROP TABLE locks; --",
        "\"quoted\\\"",
        "{\"json\": [1]}",
        "$HOME `id` $(id) *?[x]",
        "schl\xc3\xbcssel \xe9\x8d\xb5 \xf0\x9f\x94\x91",
        "UPPER and upper",
        "a\r\nflush_all\r\n",
    };
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    if (!one || !other) return;
    for (size_t i = 0; i < sizeof names / sizeof *names && !trial_failed(trial); i++)
        try_name(trial, one, other, names[i], strlen(names[i]), names[i]);
    /* Names of every byte but NUL, some bytes at a time. */
    for (int from = 1; from < 256 && !trial_failed(trial); from += 15) {
        char name[16], what[64];
        for (int i = 0; i < 15; i++) name[i] = (char)(from + i);
        snprintf(what, sizeof what, "a name of the bytes 0x%02x to 0x%02x", from, from + 14);
        try_name(trial, one, other, name, 15, what);
    }
}

void conform_long_names(struct trial *trial) {
    static const size_t lengths[] = {
        64, 65, 128, 192, 193, 250, 251, 255, 256, 512, LB_KEY_MAX - 1, LB_KEY_MAX};
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    if (!one || !other) return;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && !trial_failed(trial); i++) {
        char name[LB_KEY_MAX], what[64];
        memset(name, 'k', lengths[i]);
        snprintf(what, sizeof what, "a name of %zu bytes", lengths[i]);
        try_name(trial, one, other, name, lengths[i], what);
        /* Names whose escaped form is the longest. */
        memset(name, '/', lengths[i]);
        snprintf(what, sizeof what, "a name of %zu slashes", lengths[i]);
        if (!trial_failed(trial)) try_name(trial, one, other, name, lengths[i], what);
    }
}
