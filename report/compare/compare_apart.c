/* compare_apart: what parts two stages that can't be a pair, because their loads are not the same. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "report/compare/compare_parts.h"

/* Between the parts of a load's text: "one key, closed loop, hold 1ms". */
#define BETWEEN ", "

/* "16 clients, one key, closed loop, ...": malloced; NULL when out of memory. */
static char *load_text(const struct run_stage *stage) {
    char *load = report_load_text(stage), *text = NULL;
    int length = load ? asprintf(&text, "%.0f client%s" BETWEEN "%s", stage->clients,
                                 stage->clients == 1 ? "" : "s", load)
                      : -1;
    free(load);
    return length < 0 ? NULL : text;
}

static bool has_part(const char *load, const char *part, size_t length) {
    for (const char *at = load; at; at = strstr(at, BETWEEN)) {
        if (at != load) at += strlen(BETWEEN);
        const char *end = strstr(at, BETWEEN);
        size_t this = end ? (size_t)(end - at) : strlen(at);
        if (this == length && memcmp(at, part, length) == 0) return true;
    }
    return false;
}

/* The parts of a load that the other one lacks; "no more" if there are none. Malloced; NULL when out of memory. */
static char *own_parts(const char *load, const char *other) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool any = false;
    if (!out) return NULL;
    for (const char *at = load, *end; at; at = end ? end + strlen(BETWEEN) : NULL) {
        end = strstr(at, BETWEEN);
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (has_part(other, at, length)) continue;
        fprintf(out, "%s%.*s", any ? BETWEEN : "", (int)length, at);
        any = true;
    }
    if (!any) fputs("nothing more", out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

int compare_say_apart(const struct run_stage *base, const struct run_stage *new,
                      struct lb_err *err) {
    char *base_load = load_text(base), *new_load = load_text(new), *base_own = NULL,
         *new_own = NULL;
    if (base_load && new_load) {
        base_own = own_parts(base_load, new_load);
        new_own = own_parts(new_load, base_load);
    }
    if (!base_own || !new_own) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
    } else if (strcmp(base_load, new_load) != 0) {
        err_set(
            err, LB_EXIT_USAGE,
            "compare: no stage in common: only stages with the same load are compared, and %s has "
            "%s in the base, %s in the new runs",
            new->lock, base_own, new_own);
    } else {
        err_set(
            err, LB_EXIT_USAGE,
            "compare: no stage in common: %s ran at several places (topology, durability, encryption, "
            "round trip), and at none of them in the base and in the new runs",
            new->lock);
    }
    free(base_load);
    free(new_load);
    free(base_own);
    free(new_own);
    return -1;
}
