/* facts: a server's statements about itself, as names and values. The core makes the struct; drivers fill
 * it by lb_fact. */
#ifndef DRIVERS_FACTS_H
#define DRIVERS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/option/option.h"
#include "drivers/scenario.h"

#define LB_FACTS_MAX 48

struct lb_facts {
    int count;
    struct {
        char name[40];
        char value[160];
    } item[LB_FACTS_MAX];
    /* The durability that follows from the facts. durability_class: a word of bench/base/verdict.h; NULL =
     * the server does not tell it. durability: the settings from which it follows, or why it is not known; "" =
     * the server was not asked. lb_facts_durability sets both. */
    const char *durability_class;
    char durability[200];
    char
        unfit[240]; /* why the session's lock does not hold there; "" = nothing speaks against it */
    /* what the server is, whether it speaks against the lock or not: LB_SCENARIO_POOLED, LB_SCENARIO_MULTI_PRIMARY */
    enum lb_scenario kind;
    bool alone; /* there is one server only, so its answers are not those of a majority */
};

/* class: a word of bench/base/verdict.h that lives for ever, or NULL where the server does not tell. */
void lb_facts_durability(struct lb_facts *facts, const char *durability_class, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* The option "durability" of a backend: what the user states of a server at --url that does not tell it itself. The
 * core reads it by its name. The struct of the options has a member const char *durability. */
#define LB_DURABILITY "durability"
#define LB_DURABILITY_TOLD "told"
#define LB_DURABILITY_OPTION(options)                                                                 \
    {                                                                                                 \
        LB_DURABILITY, LB_OPT_CHOICE_WORD, offsetof(options, durability), LB_DURABILITY_TOLD, 0,      \
            0, LB_DURABILITY_TOLD ",memory,log,disk",                                                 \
            "of a server at --url: what it tells, or what you state: in memory, a log, on disk first" \
    }

struct lb_session;
/* Notes what kind of server speaks against the session's lock: "a standby". scenario: only if the lock is not stated
 * to be safe in it, whose reason is added then; LB_SCENARIO_NONE: any lock. */
void lb_facts_unfit(const struct lb_session *session, struct lb_facts *facts,
                    enum lb_scenario scenario, const char *what);

/* The value of a fact; NULL where the server did not tell. */
const char *lb_facts_value(const struct lb_facts *facts, const char *name);

#endif
