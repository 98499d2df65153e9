/* version: see cli.h. The Makefile passes the commit: from git, or from the file bench/commit
 * in a tree that git exported. */
#include "bench/cli/cli.h"

#include <jansson.h>
#include <stdbool.h>
#include <zlib.h>

#include "drivers/registry.h"

#ifndef LB_COMMIT
#define LB_COMMIT ""
#define LB_COMMIT_DATE ""
#endif

void version_write(FILE *out) {
    bool known = *LB_COMMIT;
    fprintf(out, "lockbench %s (commit %s%s%s)\n", LOCKBENCH_VERSION, known ? LB_COMMIT : "unknown",
            known ? ", " : "", LB_COMMIT_DATE);
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        char text[100];
        if (!backend->connector)
            fprintf(out, "  %s: %s\n", backend->name, backend->missing);
        else if (backend->connector->library)
            fprintf(out, "  %s: %s\n", backend->name,
                    backend->connector->library(text, sizeof text));
    }
    fprintf(out, "  result files: jansson %s, zlib %s\n", jansson_version_str(), zlibVersion());
}
