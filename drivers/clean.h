/* clean: finds the things that lockbench left on a server, by the marks in their names, and removes them.
 *
 * Each key of a run has LB_MARK in its name. A thing that several keys share (a table, a bucket,
 * the znode above them) has LB_MADE_BY in its comment, description or data. A thing without a mark is
 * not touched, unless the user names it. */
#ifndef DRIVERS_CLEAN_H
#define DRIVERS_CLEAN_H

#include "drivers/driver.h"

#define LB_MARK "lockbench-" /* eight hex digits, '-' and a number follow */
#define LB_MARK_GLOB                                                                               \
    LB_MARK "????"                                                                                 \
            "????"                                                                                 \
            "-" /* a pattern of Redis */
#define LB_MADE_BY "made by lockbench"

enum lb_clean_scope {
    LB_CLEAN_LEFT,   /* the keys of all runs, and the things that keys share */
    LB_CLEAN_SHARED, /* only the things that keys share */
    LB_CLEAN_EMPTY,  /* only the shared things in which no key is left */
    LB_CLEAN_STAGE,  /* the keys of one stage; the driver removes them without asking .found */
    LB_CLEAN_KEY     /* one key that the user named */
};

struct lb_cleaning {
    enum lb_clean_scope scope;
    /* LB_CLEAN_KEY: the key. LB_CLEAN_STAGE: the beginning of the keys' names; a number below count follows it */
    const char *name;
    uint32_t count;  /* LB_CLEAN_STAGE: the number of keys */
    uint64_t number; /* LB_CLEAN_STAGE: as in lb_own_keys */
    /* LB_CLEAN_LEFT: the text before the mark in a key's name, for servers that list keys by their
     * beginning; NULL = none */
    const char *before;
    /* Called for each thing that is there, with its kind (what) and its name. True = remove it. NULL with
     * LB_CLEAN_STAGE. */
    bool (*found)(void *arg, const char *what, const char *name);
    void *arg;
    /* written by the driver: the things that it could not look for, and why; "" = it looked for all */
    char unseen[200];
};

/* Whether the text contains a whole mark: LB_MARK, eight hex digits, '-' and a digit. */
bool lb_is_marked(const char *text, size_t len);

/* Whether the cleaning's scope and name include the key with this name. */
bool lb_clean_wants(const struct lb_cleaning *cleaning, const char *name, size_t len);

/* Calls cleaning->found with the kind (what) and the name of a thing that is there. True = remove
 * it. */
bool lb_clean_found(const struct lb_cleaning *cleaning, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
