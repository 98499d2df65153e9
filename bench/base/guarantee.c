/* guarantee: see guarantee.h. */
#include "bench/base/guarantee.h"

#include <string.h>

static const char *const names[LB_GUARANTEES] = {
    [LB_ON_ONE_HOST] = "host",
    [LB_ON_ONE_NODE] = "node",
    [LB_ON_ASYNC_REPLICA] = "async-replica",
    [LB_ON_MAJORITY] = "majority",
    [LB_NO_GUARANTEE] = "none",
};

const char *lb_guarantee_name(enum lb_guarantee guarantee) {
    return names[guarantee];
}

enum lb_guarantee lb_guarantee_from(const char *name) {
    int guarantee = 0;
    while (guarantee < LB_GUARANTEES && !(name && strcmp(name, names[guarantee]) == 0)) guarantee++;
    return (enum lb_guarantee)guarantee;
}
