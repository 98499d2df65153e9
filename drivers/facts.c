/* facts: see facts.h, and driver.h for lb_fact. Beyond LB_FACTS_MAX further names are dropped. */
#include "drivers/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/utf8.h"
#include "drivers/driver.h"

void lb_fact(struct lb_facts *facts, const char *name, const char *format, ...) {
    int i = 0;
    while (i < facts->count && strcmp(facts->item[i].name, name) != 0) i++;
    if (i == LB_FACTS_MAX) return;
    if (i == facts->count) {
        snprintf(facts->item[i].name, sizeof facts->item[i].name, "%s", name);
        facts->count++;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(facts->item[i].value, sizeof facts->item[i].value, format, args);
    va_end(args);
    utf8_clean(facts->item[i].value); /* a server said it, and JSON takes nothing else */
}

void lb_facts_durability(struct lb_facts *facts, const char *durability_class, const char *format,
                         ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(facts->durability, sizeof facts->durability, format, args);
    va_end(args);
    utf8_clean(facts->durability);
    facts->durability_class = durability_class;
}

const char *lb_facts_value(const struct lb_facts *facts, const char *name) {
    for (int i = 0; i < facts->count; i++) {
        if (strcmp(facts->item[i].name, name) == 0) return facts->item[i].value;
    }
    return NULL;
}
