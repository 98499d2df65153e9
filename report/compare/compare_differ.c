/* compare_differ: the differences between the plans, machines and servers of the runs, which are
 * shown before the figures. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/compare.h"
#include "report/doc/escape.h"
#include "report/doc/number.h"

/* the most differences: runs that have nothing in common need no longer list */
#define DIFFERENCES_MAX 100

/* ---- the lines ---- */

int compare_add_text(json_t **list, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (!*list) *list = json_array();
    json_t *line = length < 0 ? NULL : escape_json(text), *known;
    if (length >= 0) free(text);
    bool is_new = true;
    size_t i;
    json_array_foreach(*list, i, known) is_new &= !json_equal(known, line);
    if (line && is_new) return json_array_append_new(*list, line);
    int rc = line ? 0 : -1;
    json_decref(line);
    return rc;
}

/* side: NULL = a difference between the sides, else one within this side. */
static int add_difference(struct compare *compare, const char *side, const char *what,
                          const char *base, const char *new) {
    if (json_array_size(compare->differences) >= DIFFERENCES_MAX) return 0;
    if (!side) return compare_add_text(&compare->differences, "%s: %s, now %s", what, base, new);
    return compare_add_text(&compare->differences, "%s: %s in one of the %s runs, %s in another",
                            what, base, side, new);
}

/* ---- two objects of results, such as plans ---- */

static int differ_objects(struct compare *compare, const char *side, const char *path,
                          const json_t *base, const json_t *new);

#define VALUE_SHOWN 60

/* A value as short text; malloced. */
static char *short_text(const json_t *value) {
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

/* Compares one member of two objects; either object may lack it. */
static int differ_at(struct compare *compare, const char *side, const char *path,
                     const json_t *base, const json_t *new) {
    bool none = (!base || json_is_null(base)) && (!new || json_is_null(new));
    if (none || json_equal(base, new)) return 0;
    if (json_is_object(base) && json_is_object(new))
        return differ_objects(compare, side, path, base, new);
    char *was = short_text(base), *is = short_text(new);
    int rc = was && is ? add_difference(compare, side, path, was, is) : -1;
    free(was);
    free(is);
    return rc;
}

/* The activity of the machine differs from run to run, and so does the advice about it. */
static bool is_passing(const char *key) {
    return strstr(key, "_before") || strcmp(key, "advice") == 0;
}

/* Compares two objects, member by member; either may be NULL. path: "plan.run". 0, or -1 when out of memory. */
static int differ_objects(struct compare *compare, const char *side, const char *path,
                          const json_t *base, const json_t *new) {
    const char *key;
    json_t *value;
    char inner[200];
    int rc = 0;
    json_object_foreach((json_t *)(uintptr_t) new, key, value) {
        if (rc != 0) return rc;
        if (is_passing(key)) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        rc = differ_at(compare, side, inner, json_object_get(base, key), value);
    }
    json_object_foreach((json_t *)(uintptr_t)base, key, value) {
        if (rc != 0) return rc;
        if (json_object_get(new, key) || is_passing(key)) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        rc = differ_at(compare, side, inner, value, NULL);
    }
    return rc;
}

/* ---- runs ---- */

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

/* The number of machines that had the clients. */
static char *hosts_text(const struct run_stage *stage, char text[32]) {
    size_t count = json_array_size(stage->hosts);
    snprintf(text, 32, "%zu", count);
    return count > 0 ? text : strcpy(text, "one machine");
}

static char *executor_text(const struct run_stage *stage, char text[64]) {
    snprintf(text, 64, "%.0f x %.0f", stage->processes, stage->threads);
    return text;
}

int compare_differ_stages(struct compare *compare, const struct run_stage *base,
                          const struct run_stage *new) {
    char base_rtt[NUMBER_TEXT_MAX], new_rtt[NUMBER_TEXT_MAX], base_hosts[32], new_hosts[32];
    char base_executor[64], new_executor[64], what[120];
    const struct {
        const char *what, *base, *new;
    } texts[] = {{"topology", base->topology, new->topology},
                 {"durability", base->durability, new->durability},
                 {"encryption", doc_or(base->encryption, "none"), doc_or(new->encryption, "none")},
                 {"round trip added by the wire", compare_rtt_text(base, base_rtt),
                  compare_rtt_text(new, new_rtt)},
                 {"load hosts", hosts_text(base, base_hosts), hosts_text(new, new_hosts)},
                 {"processes and threads", executor_text(base, base_executor),
                  executor_text(new, new_executor)}};
    int failed = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(what, sizeof what, "%.60s: %s", new->lock, texts[i].what);
        failed |= differ_texts(compare, NULL, what, doc_or(texts[i].base, "not known"),
                               doc_or(texts[i].new, "not known"));
    }
    snprintf(what, sizeof what, "%.60s: claims", new->lock);
    return failed | differ_at(compare, NULL, what, base->claims, new->claims);
}

static const json_t *host_environment(const struct run *run, size_t host) {
    return json_object_get(json_array_get(run->hosts, host), "environment");
}

/* Compares two runs, of both sides or of one. Of load hosts whose machines differ in the same way there is one line. */
static int differ_runs(struct compare *compare, const char *side, const struct run *base,
                       const struct run *new) {
    int failed = differ_objects(compare, side, "plan", base->plan, new->plan);
    failed |= differ_objects(compare, side, "environment", base->environment, new->environment);
    for (size_t i = 0; i < json_array_size(base->hosts) && i < json_array_size(new->hosts); i++)
        failed |= differ_objects(compare, side, "hosts", host_environment(base, i),
                                 host_environment(new, i));
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
