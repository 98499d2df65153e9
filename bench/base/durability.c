/* durability: see durability.h. */
#include "bench/base/durability.h"

#include <string.h>

static const char *const names[DURABILITIES] = {
    [DURABILITY_NONE] = "none",
    [DURABILITY_MEMORY] = "memory",
    [DURABILITY_LOG] = "log",
    [DURABILITY_DISK] = "disk",
};

const char *durability_name(enum durability durability) {
    return names[durability];
}

enum durability durability_from(const char *name) {
    for (int i = 0; name && i < DURABILITY_UNKNOWN; i++) {
        if (strcmp(name, names[i]) == 0) return (enum durability)i;
    }
    return DURABILITY_UNKNOWN;
}
