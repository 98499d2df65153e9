/* guarantee: see guarantee.h. */
#include "bench/base/guarantee.h"

#include <string.h>

static const struct {
    const char *name, *text;
} words[LB_GUARANTEES + 1] = {
    [LB_ON_ONE_HOST] = {"host", "one host"},
    [LB_ON_ONE_NODE] = {"node", "one server"},
    [LB_ON_ASYNC_REPLICA] = {"async-replica", "async replicas"},
    [LB_ON_MAJORITY] = {"majority", "a majority"},
    [LB_NO_GUARANTEE] = {"none", "no guarantee"},
    [LB_GUARANTEES] = {NULL, "not stated"},
};

const char *lb_guarantee_name(enum lb_guarantee guarantee) {
    return words[guarantee].name;
}

const char *lb_guarantee_text(enum lb_guarantee guarantee) {
    return words[guarantee].text;
}

enum lb_guarantee lb_guarantee_from(const char *name) {
    int guarantee = 0;
    while (guarantee < LB_GUARANTEES && !(name && strcmp(name, words[guarantee].name) == 0))
        guarantee++;
    return (enum lb_guarantee)guarantee;
}
