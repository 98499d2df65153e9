/* list_table: every lock as a row of Markdown; drivers/README.md has the output. It asks nothing of the
 * machine, so it is the same everywhere. */
#include "bench/cli/list_about.h"
#include "drivers/registry.h"

/* One cell; a bar would end it. */
static void cell(const char *text, FILE *out) {
    fputs(" ", out);
    for (; text && *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

static void row(const struct lb_lock *lock, FILE *out) {
    char requests[40], crash[120];
    fprintf(out, "| `%s` | %s |", lock->name, lb_primitive_name(lock->primitive));
    cell(lock->about.compatible, out);
    cell(about_requests(lock, requests, sizeof requests), out);
    cell(lock->waits, out);
    cell(lock->about.order, out);
    cell(about_crash(lock, crash, sizeof crash), out);
    cell(lock->about.token, out);
    cell(about_guarantee(lock), out);
    cell(lock->about.hazards, out);
    fputc('\n', out);
}

static void row_of_control(const struct lb_lock *lock, FILE *out) {
    fprintf(out, "| `%s` |", lock->name);
    cell(lock->about.mistake, out);
    cell(lock->about.exposed_by ? lock->about.exposed_by : "any contention", out);
    cell(about_exposed(lock), out);
    fputc('\n', out);
}

void about_table(FILE *out) {
    fprintf(out, "| lock | primitive | excludes, and is excluded by | requests | waits by | order | a dead "
                 "holder's is freed | fencing token | truth lives on | hazards |\n"
                 "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; registry_locks()[i]; i++) {
        if (!(registry_locks()[i]->caps & LB_CAP_CONTROL)) row(registry_locks()[i], out);
    }
    fprintf(out, "\nBroken on purpose, so that the checks are seen to see:\n\n"
                 "| control | the mistake | exposed by | as |\n"
                 "|---|---|---|---|\n");
    for (int i = 0; registry_locks()[i]; i++) {
        if (registry_locks()[i]->caps & LB_CAP_CONTROL) row_of_control(registry_locks()[i], out);
    }
}
