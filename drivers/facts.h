/* facts: what a server says about itself, as names and values. The core makes them; lb_fact fills
 * them. */
#ifndef DRIVERS_FACTS_H
#define DRIVERS_FACTS_H

#define LB_FACTS_MAX 48

struct lb_facts {
    int count;
    struct {
        char name[40];
        char value[160];
    } item[LB_FACTS_MAX];
};

#endif
