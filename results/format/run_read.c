/* run_read: see run_read.h. It refuses to guess: a figure of the wrong type, a negative or an
 * infinite one, or a latency without its histogram is an error with its path, never a zero. */
#include "results/format/run_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/hdr.h"
#include "results/format/tree.h"

#define STAGES_MAX                                                                                 \
    20000 /* forty locks, twenty loads and twenty repeats fit; keeps what a report does with them quick */
#define CLIENTS_MAX 1e7

/* A latency without its histogram would be taken for a whole one. */
static int check_hdr(struct tree_place *place, enum metric metric,
                     const struct run_latency *latency) {
    char path[64];
    if (metric == METRIC_HICCUP || latency->hdr || !(latency->count > 0)) return 0;
    snprintf(path, sizeof path, "latency_ns.%s", metric_name(metric));
    return tree_bad(place, path,
                    "has no histogram (hdr): the file is not lockbench's own, or was cut down");
}

static int read_holder(struct tree_place *place, const json_t *overlap, const char *name,
                       struct run_holder *holder) {
    static const char *const parts[] = {"client", "acquired_ns", "lease_end_ns", "token"};
    double *const into[] = {&holder->client, &holder->acquired_ns, &holder->lease_end_ns,
                            &holder->token};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        /* A token is 64 bits wide and only shown, so it may be beyond what a figure may be. */
        const json_t *value = json_object_get(json_object_get(overlap, name), parts[i]);
        if (value && !json_is_null(value) && !json_is_number(value)) {
            return tree_bad(place, "exclusion.first", "has something else than numbers");
        }
        *into[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return 0;
}

static int read_overlap(struct tree_place *place, struct run_stage *stage) {
    const json_t *overlap = stage->overlap;
    if (!overlap) return 0;
    if (!json_is_object(overlap)) return tree_bad(place, "exclusion.first", "is not an object");
    const json_t *key = json_object_get(overlap, "key");
    stage->overlap_key = json_is_number(key) ? json_number_value(key) : NAN;
    stage->has_overlap = true;
    if (read_holder(place, overlap, "holder", &stage->holder)) return -1;
    return read_holder(place, overlap, "intruder", &stage->intruder);
}

static int read_stage(struct tree_place *place, json_t *object, struct run_stage *stage) {
    if (!json_is_object(object)) return tree_bad(place, "", "is not an object");
    if (tree_fields(place, object, run_stage_fields(), stage)) return -1;
    if (!stage->lock || !*stage->lock) return tree_bad(place, "lock", "is missing");
    if (!(stage->clients >= 1 && stage->clients <= CLIENTS_MAX))
        return tree_bad(place, "clients", "is missing or absurd");
    for (int m = 0; m < METRICS; m++) {
        if (check_hdr(place, (enum metric)m, &stage->latency[m])) return -1;
    }
    return read_overlap(place, stage);
}

static int read_stages(struct tree_place *place, struct run *run) {
    const json_t *stages = json_object_get(run->root, "stages");
    if (!json_is_array(stages) || json_array_size(stages) == 0) {
        return err_set(place->err, LB_EXIT_USAGE, "%s: has no stages, so nothing was measured%s%s",
                       place->file, run->partial_reason ? ": " : "",
                       run->partial_reason ? run->partial_reason : "");
    }
    size_t count = json_array_size(stages);
    if (count > STAGES_MAX) {
        return err_set(place->err, LB_EXIT_USAGE, "%s: has %zu stages; at most %d can be read",
                       place->file, count, STAGES_MAX);
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

#define TEXT_IN(type, name)                                                                        \
    { .path = #name, .kind = RESULT_TEXT, .offset = offsetof(struct type, name) }

static const struct result_field run_fields[] = {
    {.path = "tool.name", .kind = RESULT_TEXT, .offset = offsetof(struct run, tool_name)},
    {.path = "tool.version", .kind = RESULT_TEXT, .offset = offsetof(struct run, tool_version)},
    {.path = "plan.workload.name", .kind = RESULT_TEXT, .offset = offsetof(struct run, workload)},
    {.path = "plan.workload.summary", .kind = RESULT_TEXT, .offset = offsetof(struct run, summary)},
    {.path = "partial", .kind = RESULT_FLAG, .offset = offsetof(struct run, partial)},
    TEXT_IN(run, command),
    TEXT_IN(run, started_at),
    TEXT_IN(run, ended_at),
    TEXT_IN(run, partial_reason),
    TEXT_IN(run, verdict),
    {.path = NULL},
};

static const struct result_field server_fields[] = {
    TEXT_IN(run_server, backend),    TEXT_IN(run_server, topology), TEXT_IN(run_server, durability),
    TEXT_IN(run_server, started_by), TEXT_IN(run_server, url),      {.path = NULL},
};

static const struct result_field skip_fields[] = {
    TEXT_IN(run_skip, lock),
    TEXT_IN(run_skip, backend),
    TEXT_IN(run_skip, reason),
    TEXT_IN(run_skip, install),
    {.path = NULL},
};

/* An array of small objects that are all texts: .servers and .skipped. Sets *ret_list also on
 * failure, so that run_free finds it. */
static int read_list(struct tree_place *place, const json_t *root, const char *name,
                     const struct result_field *fields, size_t item_bytes, void **ret_list,
                     int *ret_count) {
    const json_t *array;
    place->where[0] = '\0';
    if (tree_branch(place, root, name, JSON_ARRAY, &array)) return -1;
    size_t count = json_array_size(array);
    if (count == 0) return 0;
    *ret_list = calloc(count, item_bytes);
    if (!*ret_list) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    *ret_count = (int)count;
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(array, i);
        snprintf(place->where, sizeof place->where, ".%s[%zu]", name, i);
        if (!json_is_object(item)) return tree_bad(place, "", "is not an object");
        if (tree_fields(place, item, fields, (char *)*ret_list + i * item_bytes)) return -1;
    }
    return 0;
}

static int read_servers(struct tree_place *place, struct run *run) {
    void *list = NULL;
    int rc = read_list(place, run->root, "servers", server_fields, sizeof *run->servers, &list,
                       &run->server_count);
    run->servers = list;
    if (rc) return -1;
    for (int i = 0; i < run->server_count; i++) {
        const json_t *item = json_array_get(json_object_get(run->root, "servers"), (size_t)i);
        snprintf(place->where, sizeof place->where, ".servers[%d]", i);
        if (tree_branch(place, item, "facts", JSON_OBJECT, &run->servers[i].facts)) return -1;
    }
    return 0;
}

static int read_root(struct tree_place *place, struct run *run) {
    if (tree_schema(place, run->root, RUN_SCHEMA, "lockbench run")) return -1;
    if (tree_fields(place, run->root, run_fields, run)) return -1;
    if (tree_branch(place, run->root, "plan", JSON_OBJECT, &run->plan)) return -1;
    if (tree_branch(place, run->root, "environment", JSON_OBJECT, &run->environment)) return -1;
    if (tree_branch(place, run->root, "warnings", JSON_ARRAY, &run->warnings)) return -1;
    if (read_servers(place, run)) return -1;
    void *list = NULL;
    int rc = read_list(place, run->root, "skipped", skip_fields, sizeof *run->skips, &list,
                       &run->skip_count);
    run->skips = list;
    if (rc) return -1;
    return read_stages(place, run);
}

struct run *run_parse(const char *text, size_t length, const char *path, struct lb_err *err) {
    struct tree_place place = {.file = path, .err = err};
    struct run *run = calloc(1, sizeof *run);
    if (!run || !(run->path = strdup(path)) || !(run->dir = tree_folder(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto fail;
    }
    run->root = tree_parse(text, length, path, "lockbench run", err);
    if (!run->root || read_root(&place, run)) goto fail;
    return run;
fail:
    run_free(run);
    return NULL;
}

struct run *run_read(const char *path, struct lb_err *err) {
    struct run *run = NULL;
    size_t length;
    char *file = tree_path(path, "run.json", err);
    char *text =
        file ? tree_file(file, "a run", "a run's folder or its run.json", &length, err) : NULL;
    if (text) run = run_parse(text, length, file, err);
    free(text);
    free(file);
    return run;
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

int run_latency_hist(const struct run *run, const struct run_stage *stage, enum metric metric,
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
        return err_set(err, why.code, "%s: %s: the %s histogram: %s", run->path, id,
                       metric_name(metric), why.text);
    }
    /* Values beyond the range are not in the text; whether count has them is the writer's
     * business. */
    double over = latency->over > 0 ? latency->over : 0, held = (double)hist->count;
    if (held != latency->count && held + over != latency->count) {
        hist_free(hist);
        return err_set(err, LB_EXIT_USAGE,
                       "%s: %s: the %s histogram holds %.0f values, its count says %.0f", run->path,
                       id, metric_name(metric), held, latency->count);
    }
    /* The text knows the greatest value by its slot only. */
    if (over == 0 && hist->count > 0 && latency->max < (double)hist->max &&
        latency->max >= (double)hist_slot_low(hist, hist->last))
        hist->max = (int64_t)latency->max;
    *ret_hist = hist;
    return 0;
}
