/* run_read: see run_read.h. It refuses to guess: a figure of the wrong type, a negative or an infinite one,
 * or a latency without its histogram is an error with its path, never a zero.
 */
#include "results/format/run_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/hdr.h"

#define STAGES_MAX                                                                                           \
    20000 /* forty locks, twenty loads and twenty repeats fit; keeps what a report does with them quick */
#define CLIENTS_MAX 1e7
#define COUNT_MAX 9007199254740992.0 /* 2^53: beyond it a double is no count */

struct place {
    const char *file;
    struct lb_err *err;
    char where[96]; /* ".stages[3]" */
};

static int bad(struct place *place, const char *path, const char *what) {
    return err_set(place->err, LB_EXIT_USAGE, "%s: %s%s%s %s", place->file, place->where, *path ? "." : "",
                   path, what);
}

/* The value at a dotted path; NULL when it, or an object on the way, is absent or null. */
static json_t *value_at(const json_t *object, const char *path) {
    char part[64];
    for (const char *dot; object && (dot = strchr(path, '.')); path = dot + 1) {
        size_t length = (size_t)(dot - path);
        if (length >= sizeof part) return NULL;
        memcpy(part, path, length);
        part[length] = '\0';
        object = json_object_get(object, part);
    }
    json_t *value = json_object_get(object, path);
    return json_is_null(value) ? NULL : value;
}

static int read_figure(struct place *place, const json_t *object, const char *path, double *ret_figure) {
    const json_t *value = value_at(object, path);
    *ret_figure = NAN;
    if (!value) return 0;
    if (!json_is_number(value)) return bad(place, path, "is not a number");
    double figure = json_number_value(value);
    if (!isfinite(figure) || figure < 0) return bad(place, path, "is negative or not finite");
    if (figure > COUNT_MAX) return bad(place, path, "is absurdly large");
    *ret_figure = figure;
    return 0;
}

/* A number where a text may stand ("keys": 1) becomes its text, in the tree, which owns it. */
static int read_text(struct place *place, json_t *object, const char *path, const char **ret_text) {
    json_t *value = value_at(object, path);
    *ret_text = NULL;
    if (!value) return 0;
    if (json_is_number(value) && !strchr(path, '.')) {
        char text[40];
        snprintf(text, sizeof text, "%.15g", json_number_value(value));
        if (json_object_set_new(object, path, json_string(text))) {
            return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
        }
        value = json_object_get(object, path);
    }
    if (!json_is_string(value)) return bad(place, path, "is not a text");
    *ret_text = json_string_value(value);
    return 0;
}

static int read_flag(struct place *place, const json_t *object, const char *path, bool *ret_flag) {
    const json_t *value = value_at(object, path);
    *ret_flag = false;
    if (!value) return 0;
    if (!json_is_boolean(value)) return bad(place, path, "is not true or false");
    *ret_flag = json_is_true(value);
    return 0;
}

static int read_fields(struct place *place, json_t *object, const struct run_field *field, void *into) {
    for (; field->path; field++) {
        void *at = (char *)into + field->offset;
        int rc = field->kind == RUN_TEXT     ? read_text(place, object, field->path, at)
                 : field->kind == RUN_FIGURE ? read_figure(place, object, field->path, at)
                                             : read_flag(place, object, field->path, at);
        if (rc) return -1;
    }
    return 0;
}

/* An array or object that may be absent. Its elements are checked by who uses them. */
static int read_tree(struct place *place, const json_t *object, const char *path, json_type type,
                     const json_t **ret_tree) {
    const json_t *value = value_at(object, path);
    *ret_tree = NULL;
    if (value && json_typeof(value) != type) {
        return bad(place, path, type == JSON_ARRAY ? "is not an array" : "is not an object");
    }
    *ret_tree = value;
    return 0;
}

static int read_latency_hdr(struct place *place, json_t *stage, const char *path,
                            struct run_latency *latency) {
    char full[96];
    json_t *object = value_at(stage, path);
    if (!object) return 0;
    if (!json_is_object(object)) return bad(place, path, "is not an object");
    snprintf(full, sizeof full, "%s.hdr", path);
    if (read_text(place, stage, full, &latency->hdr)) return -1;
    if (!latency->hdr && latency->count > 0) {
        return bad(place, path, "has no histogram (hdr): the file is not lockbench's own, or was cut down");
    }
    return 0;
}

static int read_holder(struct place *place, const json_t *overlap, const char *name,
                       struct run_holder *holder) {
    static const char *const parts[] = {"client", "acquired_ns", "lease_end_ns", "token"};
    double *const into[] = {&holder->client, &holder->acquired_ns, &holder->lease_end_ns, &holder->token};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        /* A token is 64 bits wide and only shown, so it may be beyond what a figure may be. */
        const json_t *value = json_object_get(json_object_get(overlap, name), parts[i]);
        if (value && !json_is_null(value) && !json_is_number(value)) {
            return bad(place, "exclusion.first", "has something else than numbers");
        }
        *into[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return 0;
}

static int read_overlap(struct place *place, const json_t *object, struct run_stage *stage) {
    const json_t *overlap = value_at(object, "exclusion.first");
    if (!overlap) return 0;
    if (!json_is_object(overlap)) return bad(place, "exclusion.first", "is not an object");
    const json_t *key = json_object_get(overlap, "key");
    stage->overlap_key = json_is_number(key) ? json_number_value(key) : NAN;
    stage->has_overlap = true;
    if (read_holder(place, overlap, "holder", &stage->holder)) return -1;
    return read_holder(place, overlap, "intruder", &stage->intruder);
}

/* Numbers only, so that what draws them need not ask. */
static int read_numbers(struct place *place, const json_t *object, const char *path,
                        const json_t **ret_array) {
    if (read_tree(place, object, path, JSON_ARRAY, ret_array)) return -1;
    for (size_t i = 0; i < json_array_size(*ret_array); i++) {
        const json_t *item = json_array_get(*ret_array, i);
        if (!json_is_number(item) || json_number_value(item) < 0) return bad(place, path, "has a bad number");
    }
    return 0;
}

static int read_stage(struct place *place, json_t *object, struct run_stage *stage) {
    if (!json_is_object(object)) return bad(place, "", "is not an object");
    if (read_fields(place, object, run_stage_fields(), stage)) return -1;
    if (!stage->lock || !*stage->lock) return bad(place, "lock", "is missing");
    if (!(stage->clients >= 1 && stage->clients <= CLIENTS_MAX))
        return bad(place, "clients", "is missing or absurd");
    char path[64];
    for (int m = 0; m < RUN_METRICS; m++) {
        snprintf(path, sizeof path, "latency_ns.%s", run_metric_name((enum run_metric)m));
        if (read_latency_hdr(place, object, path, &stage->latency[m])) return -1;
    }
    if (read_overlap(place, object, stage)) return -1;
    if (read_tree(place, object, "claims", JSON_ARRAY, &stage->claims)) return -1;
    if (read_numbers(place, object, "fairness.grants_per_client", &stage->grants_per_client)) return -1;
    if (read_tree(place, object, "series", JSON_ARRAY, &stage->series)) return -1;
    return read_tree(place, object, "warnings", JSON_ARRAY, &stage->warnings);
}

static int read_stages(struct place *place, struct run *run) {
    const json_t *stages = json_object_get(run->root, "stages");
    if (!json_is_array(stages) || json_array_size(stages) == 0) {
        return err_set(place->err, LB_EXIT_USAGE, "%s: has no stages, so nothing was measured%s%s",
                       place->file, run->partial_reason ? ": " : "",
                       run->partial_reason ? run->partial_reason : "");
    }
    size_t count = json_array_size(stages);
    if (count > STAGES_MAX) {
        return err_set(place->err, LB_EXIT_USAGE, "%s: has %zu stages; at most %d can be read", place->file,
                       count, STAGES_MAX);
    }
    run->stages = calloc(count, sizeof *run->stages);
    if (!run->stages) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    run->stage_count = (int)count;
    for (size_t i = 0; i < count; i++) {
        snprintf(place->where, sizeof place->where, ".stages[%zu]", i);
        if (read_stage(place, json_array_get(stages, i), &run->stages[i])) return -1;
    }
    return 0;
}

#define TEXT_IN(type, name)                                                                                  \
    { #name, RUN_TEXT, offsetof(struct type, name) }

static const struct run_field run_fields[] = {
    {"tool.name", RUN_TEXT, offsetof(struct run, tool_name)},
    {"tool.version", RUN_TEXT, offsetof(struct run, tool_version)},
    {"plan.workload.name", RUN_TEXT, offsetof(struct run, workload)},
    {"plan.workload.summary", RUN_TEXT, offsetof(struct run, summary)},
    {"partial", RUN_FLAG, offsetof(struct run, partial)},
    TEXT_IN(run, command),
    TEXT_IN(run, started_at),
    TEXT_IN(run, ended_at),
    TEXT_IN(run, partial_reason),
    TEXT_IN(run, verdict),
    {NULL, RUN_TEXT, 0},
};

static const struct run_field server_fields[] = {
    TEXT_IN(run_server, backend),    TEXT_IN(run_server, topology), TEXT_IN(run_server, durability),
    TEXT_IN(run_server, started_by), TEXT_IN(run_server, url),      {NULL, RUN_TEXT, 0},
};

static const struct run_field skip_fields[] = {
    TEXT_IN(run_skip, lock),    TEXT_IN(run_skip, backend), TEXT_IN(run_skip, reason),
    TEXT_IN(run_skip, install), {NULL, RUN_TEXT, 0},
};

/* An array of small objects that are all texts: .servers and .skipped. Sets *ret_list also on failure, so
 * that run_free finds it. */
static int read_list(struct place *place, const json_t *root, const char *name,
                     const struct run_field *fields, size_t item_bytes, void **ret_list, int *ret_count) {
    const json_t *array;
    place->where[0] = '\0';
    if (read_tree(place, root, name, JSON_ARRAY, &array)) return -1;
    size_t count = json_array_size(array);
    if (count == 0) return 0;
    *ret_list = calloc(count, item_bytes);
    if (!*ret_list) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    *ret_count = (int)count;
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(array, i);
        snprintf(place->where, sizeof place->where, ".%s[%zu]", name, i);
        if (!json_is_object(item)) return bad(place, "", "is not an object");
        if (read_fields(place, item, fields, (char *)*ret_list + i * item_bytes)) return -1;
    }
    return 0;
}

static int read_servers(struct place *place, struct run *run) {
    void *list = NULL;
    int rc = read_list(place, run->root, "servers", server_fields, sizeof *run->servers, &list,
                       &run->server_count);
    run->servers = list;
    if (rc) return -1;
    for (int i = 0; i < run->server_count; i++) {
        const json_t *item = json_array_get(json_object_get(run->root, "servers"), (size_t)i);
        snprintf(place->where, sizeof place->where, ".servers[%d]", i);
        if (read_tree(place, item, "facts", JSON_OBJECT, &run->servers[i].facts)) return -1;
    }
    return 0;
}

static int check_schema(struct place *place, const json_t *root) {
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strncmp(schema, "lockbench.run/", 14) != 0) {
        return err_set(place->err, LB_EXIT_USAGE, "%s: is not a result of lockbench run (no .schema \"%s\")",
                       place->file, RUN_SCHEMA);
    }
    if (strcmp(schema, RUN_SCHEMA) != 0) {
        return err_set(
            place->err, LB_EXIT_USAGE,
            "%s: has schema \"%s\", and this lockbench reads \"%s\": use the lockbench that wrote it",
            place->file, schema, RUN_SCHEMA);
    }
    return 0;
}

static int read_root(struct place *place, struct run *run) {
    if (check_schema(place, run->root)) return -1;
    if (read_fields(place, run->root, run_fields, run)) return -1;
    if (read_tree(place, run->root, "plan", JSON_OBJECT, &run->plan)) return -1;
    if (read_tree(place, run->root, "environment", JSON_OBJECT, &run->environment)) return -1;
    if (read_tree(place, run->root, "warnings", JSON_ARRAY, &run->warnings)) return -1;
    if (read_servers(place, run)) return -1;
    void *list = NULL;
    int rc = read_list(place, run->root, "skipped", skip_fields, sizeof *run->skips, &list, &run->skip_count);
    run->skips = list;
    if (rc) return -1;
    return read_stages(place, run);
}

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

struct run *run_parse(const char *text, size_t length, const char *path, struct lb_err *err) {
    struct place place = {.file = path, .err = err};
    struct run *run = calloc(1, sizeof *run);
    json_error_t where;
    if (!run || !(run->path = strdup(path)) || !(run->dir = folder_of(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto fail;
    }
    run->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (!run->root) {
        const char *hint = where.position >= (int)length ? ": the file ends too early" : "";
        err_set(err, LB_EXIT_USAGE, "%s:%d: is not sound JSON%s (%s)", path, where.line, hint, where.text);
        goto fail;
    }
    if (!json_is_object(run->root)) {
        err_set(err, LB_EXIT_USAGE, "%s: is not a result of lockbench run (no JSON object)", path);
        goto fail;
    }
    if (read_root(&place, run)) goto fail;
    return run;
fail:
    run_free(run);
    return NULL;
}

void run_free(struct run *run) {
    if (!run) return;
    free(run->stages);
    free(run->servers);
    free(run->skips);
    json_decref(run->root);
    free(run->path);
    free(run->dir);
    free(run);
}

int run_latency_hist(const struct run *run, const struct run_stage *stage, enum run_metric metric,
                     struct hist **ret_hist, struct lb_err *err) {
    const struct run_latency *latency = &stage->latency[metric];
    const char *id = stage->id ? stage->id : stage->lock;
    if (!latency->hdr || !(latency->count > 0)) {
        *ret_hist = NULL;
        return 0;
    }
    struct lb_err why = {0};
    struct hist *hist = hdr_decode(latency->hdr, &why);
    if (!hist) {
        return err_set(err, why.code, "%s: %s: the %s histogram: %s", run->path, id, run_metric_name(metric),
                       why.text);
    }
    /* Values beyond the range are not in the text; whether count has them is the writer's business. */
    double over = latency->over > 0 ? latency->over : 0, held = (double)hist->count;
    if (held != latency->count && held + over != latency->count) {
        hist_free(hist);
        return err_set(err, LB_EXIT_USAGE, "%s: %s: the %s histogram holds %.0f values, its count says %.0f",
                       run->path, id, run_metric_name(metric), held, latency->count);
    }
    *ret_hist = hist;
    return 0;
}
