/* compare_differ: the differences between the plans, machines and servers of the runs, which are
 * shown before the figures. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "report/compare/compare_parts.h"

/* the most lines: runs that have nothing in common need no longer list */
#define DIFFERENCES_MAX 100
#define VALUE_SHOWN 60

/* Adds a line once, and "..." after the last line that there is room for. */
static int add_difference_line(struct compare *compare, char *line) {
    if (!line) return -1;
    if (compare->difference_count >= DIFFERENCES_MAX) {
        free(line);
        return 0;
    }
    for (int i = 0; i < compare->difference_count; i++) {
        if (strcmp(compare->differences[i], line) == 0) {
            free(line);
            return 0;
        }
    }
    char **more =
        realloc(compare->differences, (size_t)(compare->difference_count + 1) * sizeof *more);
    if (!more) {
        free(line);
        return -1;
    }
    compare->differences = more;
    more[compare->difference_count++] = line;
    return 0;
}

/* side: NULL = a difference between the sides, else one within this side. */
static int add_difference(struct compare *compare, const char *side, const char *what,
                          const char *base, const char *new) {
    char *line = NULL;
    int len =
        side ? asprintf(&line, "%s: %s in one of the %s runs, %s in another", what, base, side, new)
             : asprintf(&line, "%s: %s, now %s", what, base, new);
    return add_difference_line(compare, len >= 0 ? line : NULL);
}

/* A value as short text; malloced. */
static char *plan_value_text(const json_t *value) {
    if (!value || json_is_null(value)) return strdup("not given");
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10)),
         *shorter = NULL;
    if (!text || strlen(text) <= VALUE_SHOWN) return text;
    int cut = VALUE_SHOWN;
    /* not within a UTF-8 character */
    while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80) cut--;
    if (asprintf(&shorter, "%.*s...", cut, text) < 0) shorter = NULL;
    free(text);
    return shorter;
}

static int differ(struct compare *compare, const char *side, const char *path, const json_t *base,
                  const json_t *new);

/* Compares one key of two objects; either object may lack it. */
static int differ_at(struct compare *compare, const char *side, const char *path,
                     const json_t *base, const json_t *new) {
    bool none = (!base || json_is_null(base)) && (!new || json_is_null(new));
    if (none || json_equal(base, new)) return 0;
    if (json_is_object(base) && json_is_object(new)) return differ(compare, side, path, base, new);
    char *was = plan_value_text(base), *is = plan_value_text(new);
    int failed = was && is ? add_difference(compare, side, path, was, is) : -1;
    free(was);
    free(is);
    return failed;
}

/* The activity of the machine differs from run to run, and so does the advice about it. */
static bool is_passing(const char *key) {
    return strstr(key, "_before") || strcmp(key, "advice") == 0;
}

static int differ(struct compare *compare, const char *side, const char *path, const json_t *base,
                  const json_t *new) {
    const char *key;
    json_t *value;
    char inner[200];
    int failed = 0;
    json_object_foreach((json_t *)(uintptr_t) new, key, value) {
        if (compare->difference_count >= DIFFERENCES_MAX) return failed;
        if (is_passing(key)) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        failed |= differ_at(compare, side, inner, json_object_get(base, key), value);
    }
    json_object_foreach((json_t *)(uintptr_t)base, key, value) {
        if (compare->difference_count >= DIFFERENCES_MAX) return failed;
        if (json_object_get(new, key) || is_passing(key)) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        failed |= differ_at(compare, side, inner, value, NULL);
    }
    return failed;
}

static const struct run_server *server_of(const struct run *run, const char *backend) {
    for (int i = 0; i < run->server_count && backend; i++) {
        if (run->servers[i].backend && strcmp(run->servers[i].backend, backend) == 0)
            return &run->servers[i];
    }
    return NULL;
}

static int differ_texts(struct compare *compare, const char *side, const char *what,
                        const char *was, const char *is) {
    return was && is && strcmp(was, is) != 0 ? add_difference(compare, side, what, was, is) : 0;
}

/* The version of a server, and where it is, if the user started it: those of lockbench have a port of their own in each
 * run. */
static int differ_server(struct compare *compare, const char *side, const struct run_server *base,
                         const struct run_server *new) {
    char url[100];
    if (!base) return 0;
    int failed = differ_texts(compare, side, new->backend, report_server_version(base),
                              report_server_version(new));
    snprintf(url, sizeof url, "URL of %.80s", new->backend);
    if (report_is_yours(base) && report_is_yours(new))
        failed |= differ_texts(compare, side, url, base->url, new->url);
    return failed;
}

static const json_t *host_environment(const struct run *run, size_t host) {
    return json_object_get(json_array_get(run->hosts, host), "environment");
}

/* Compares two runs, of both sides or of one. Of load hosts whose machines differ in the same way there is one line. */
static int differ_runs(struct compare *compare, const char *side, const struct run *base,
                       const struct run *new) {
    int failed = differ(compare, side, "plan", base->plan, new->plan);
    failed |= differ(compare, side, "environment", base->environment, new->environment);
    for (size_t i = 0; i < json_array_size(base->hosts) && i < json_array_size(new->hosts); i++)
        failed |=
            differ_at(compare, side, "hosts", host_environment(base, i), host_environment(new, i));
    for (int i = 0; i < new->server_count; i++) {
        const char *backend = new->servers[i].backend;
        failed |= differ_server(compare, side, server_of(base, backend), server_of(new, backend));
    }
    return failed | differ_texts(compare, side, "lockbench", base->tool_version, new->tool_version);
}

int compare_find_differences(struct compare *compare) {
    struct run *const *base = compare->base, *const *new = compare->new;
    int failed = differ_runs(compare, NULL, base[0], new[0]);
    for (int i = 1; i < compare->base_count; i++)
        failed |= differ_runs(compare, "base", base[0], base[i]);
    for (int i = 1; i < compare->new_count; i++)
        failed |= differ_runs(compare, "new", new[0], new[i]);
    return failed;
}
