/* facts: what a server says about itself, as names and values. The core makes them; lb_fact fills
 * them. */
#ifndef DRIVERS_FACTS_H
#define DRIVERS_FACTS_H

#include <stdbool.h>

#define LB_FACTS_MAX 48

struct lb_facts {
    int count;
    struct {
        char name[40];
        char value[160];
    } item[LB_FACTS_MAX];
    /* The durability that follows from the facts. As a word of bench/base/durability.h, NULL = the
     * server does not tell it; and as a text: from which settings it follows, or why it is not
     * known, "" = nobody asked. lb_facts_durability sets both. */
    const char *durability_class;
    char durability[200];
    bool alone; /* one server, so that no other one has agreed to what it answers */
};

/* class: a word of bench/base/durability.h that lives for ever, or NULL where the server does not tell. */
void lb_facts_durability(struct lb_facts *facts, const char *durability_class, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* The value of a fact; NULL where the server did not tell. */
const char *lb_facts_value(const struct lb_facts *facts, const char *name);

#endif
