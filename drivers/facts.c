/* facts: see facts.h and lb_fact in driver.h. Beyond LB_FACTS_MAX further names are dropped. */
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
