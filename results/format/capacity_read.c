/* capacity_read: see capacity_read.h. */
#include "results/format/capacity_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/format/tree.h"

#define LOCKS_MAX 2000
#define PROBES_MAX 100000
#define KIND "lockbench capacity"

static const char *const verdicts[] = {"kept", "broken", "unsure", NULL};
/* from CAPACITY_LIMIT_SLO on */
static const char *const limits[] = {"slo", "generator", "range", NULL};
static const char *const loads[] = {"rate", "clients", NULL};

const char *capacity_verdict_name(enum capacity_verdict verdict) {
    return verdicts[verdict];
}

const char *capacity_limit_name(enum capacity_limit limit) {
    return limit == CAPACITY_LIMIT_NONE ? NULL : limits[limit - 1];
}

#define AT(member) offsetof(struct capacity, member)
static const struct result_field root_fields[] = {
    {.path = "tool.name", .kind = RESULT_TEXT, .offset = AT(tool_name)},
    {.path = "tool.version", .kind = RESULT_TEXT, .offset = AT(tool_version)},
    {.path = "command", .kind = RESULT_TEXT, .offset = AT(command)},
    {.path = "started_at", .kind = RESULT_TEXT, .offset = AT(started_at)},
    {.path = "ended_at", .kind = RESULT_TEXT, .offset = AT(ended_at)},
    {.path = "partial_reason", .kind = RESULT_TEXT, .offset = AT(partial_reason)},
    {.path = "partial", .kind = RESULT_FLAG, .offset = AT(partial)},
    {.path = NULL},
};
#undef AT

#define AT(member) offsetof(struct capacity_lock, member)
static const struct result_field lock_fields[] = {
    {.path = "lock", .kind = RESULT_TEXT, .offset = AT(lock)},
    {.path = "backend", .kind = RESULT_TEXT, .offset = AT(backend)},
    {.path = "primitive", .kind = RESULT_TEXT, .offset = AT(primitive)},
    {.path = "topology", .kind = RESULT_TEXT, .offset = AT(topology)},
    {.path = "durability", .kind = RESULT_TEXT, .offset = AT(durability)},
    {.path = "durability_class", .kind = RESULT_TEXT, .offset = AT(durability_class)},
    {.path = "guarantee", .kind = RESULT_TEXT, .offset = AT(guarantee)},
    {.path = "server", .kind = RESULT_TEXT, .offset = AT(server)},
    {.path = "executor.threads", .kind = RESULT_REAL, .offset = AT(threads)},
    {.path = "executor.processes", .kind = RESULT_REAL, .offset = AT(processes)},
    {.path = "slo.text", .kind = RESULT_TEXT, .offset = AT(slo)},
    {.path = "slo.metric", .kind = RESULT_TEXT, .offset = AT(metric)},
    {.path = "slo.quantile", .kind = RESULT_REAL, .offset = AT(quantile)},
    {.path = "slo.limit_ns", .kind = RESULT_REAL, .offset = AT(limit_ns)},
    {.path = "by", .kind = RESULT_TEXT, .offset = AT(by_word)},
    {.path = "hold", .kind = RESULT_TEXT, .offset = AT(hold)},
    {.path = "think", .kind = RESULT_TEXT, .offset = AT(think)},
    {.path = "keys", .kind = RESULT_TEXT, .offset = AT(keys)},
    {.path = "key_distribution", .kind = RESULT_TEXT, .offset = AT(key_distribution)},
    {.path = "clients", .kind = RESULT_REAL, .offset = AT(clients)},
    {.path = "violated", .kind = RESULT_FLAG, .offset = AT(violated)},
    {.path = "answer.value", .kind = RESULT_REAL, .offset = AT(value)},
    {.path = "answer.low", .kind = RESULT_REAL, .offset = AT(low)},
    {.path = "answer.high", .kind = RESULT_REAL, .offset = AT(high)},
    {.path = "answer.level", .kind = RESULT_REAL, .offset = AT(level)},
    {.path = "limited_by", .kind = RESULT_TEXT, .offset = AT(limited_by_word)},
    {.path = "why", .kind = RESULT_TEXT, .offset = AT(why)},
    {.path = "model.handoff_ns", .kind = RESULT_REAL, .offset = AT(handoff_ns)},
    {.path = "model.hold_ns", .kind = RESULT_REAL, .offset = AT(hold_ns)},
    {.path = "model.capacity_per_s", .kind = RESULT_REAL, .offset = AT(capacity_per_s)},
    {.path = "model.wait_predicted_ns", .kind = RESULT_REAL, .offset = AT(wait_predicted_ns)},
    {.path = "model.wait_measured_ns", .kind = RESULT_REAL, .offset = AT(wait_measured_ns)},
    {.path = "model.at_per_s", .kind = RESULT_REAL, .offset = AT(at_per_s)},
    {.path = NULL},
};
#undef AT

#define AT(member) offsetof(struct capacity_probe, member)
static const struct result_field probe_fields[] = {
    {.path = "stage", .kind = RESULT_TEXT, .offset = AT(stage)},
    {.path = "verdict", .kind = RESULT_TEXT, .offset = AT(verdict_word)},
    {.path = "limited_by", .kind = RESULT_TEXT, .offset = AT(limited_by)},
    {.path = "value", .kind = RESULT_REAL, .offset = AT(value)},
    {.path = "quantile_ns", .kind = RESULT_REAL, .offset = AT(quantile_ns)},
    {.path = "low_ns", .kind = RESULT_REAL, .offset = AT(low_ns)},
    {.path = "high_ns", .kind = RESULT_REAL, .offset = AT(high_ns)},
    {.path = "samples", .kind = RESULT_REAL, .offset = AT(samples)},
    {.path = "missed", .kind = RESULT_REAL, .offset = AT(missed)},
    {.path = "over_share", .kind = RESULT_REAL, .offset = AT(over_share)},
    {.path = NULL},
};
#undef AT

/* The word's index in a list; -1 with the error. */
static int read_word(struct tree_place *place, const char *path, const char *word,
                     const char *const *words) {
    if (!word) return tree_bad(place, path, "is missing");
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) return i;
    }
    return err_set(place->err, LB_EXIT_USAGE, "%s: %s.%s is \"%.60s\", which is not known here",
                   place->file, place->where, path, word);
}

static int read_probe(struct tree_place *place, json_t *object, struct capacity_probe *probe) {
    if (tree_fields(place, object, probe_fields, probe)) return -1;
    int verdict = read_word(place, "verdict", probe->verdict_word, verdicts);
    if (verdict < 0) return -1;
    if (!(probe->value > 0)) return tree_bad(place, "value", "is not a load above 0");
    if (probe->over_share > 1) return tree_bad(place, "over_share", "is more than 1");
    probe->verdict = (enum capacity_verdict)verdict;
    return 0;
}

static int read_probes(struct tree_place *place, const json_t *object, struct capacity_lock *lock) {
    const json_t *probes;
    char where[sizeof place->where];
    if (tree_objects(place, object, "probes", PROBES_MAX, &probes)) return -1;
    size_t count = json_array_size(probes);
    lock->probes = calloc(count + 1, sizeof *lock->probes);
    if (!lock->probes) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    snprintf(where, sizeof where, "%s", place->where);
    for (size_t i = 0; i < count; i++) {
        snprintf(place->where, sizeof place->where, "%.60s.probes[%zu]", where, i);
        if (read_probe(place, json_array_get(probes, i), &lock->probes[i])) return -1;
        lock->probe_count++;
    }
    snprintf(place->where, sizeof place->where, "%s", where);
    return 0;
}

/* An answer is a load with an interval around it; without its upper end where there is none. */
static int read_answer(struct tree_place *place, const json_t *object, struct capacity_lock *lock) {
    int limit = 0;
    lock->answered = tree_at(object, "answer") != NULL;
    if (lock->limited_by_word || lock->answered) {
        limit = read_word(place, "limited_by", lock->limited_by_word, limits);
        if (limit < 0) return -1;
        lock->limited_by = (enum capacity_limit)(limit + 1);
    }
    if (!lock->answered) {
        return lock->limited_by
                   ? tree_bad(place, "limited_by", "limits an answer that is not there")
                   : 0;
    }
    if (!(lock->value > 0)) return tree_bad(place, "answer.value", "is not a load above 0");
    if (!(lock->low <= lock->value))
        return tree_bad(place, "answer.low", "is missing or above the answer");
    if (lock->high < lock->value) return tree_bad(place, "answer.high", "is below the answer");
    return 0;
}

static int read_lock(struct tree_place *place, json_t *object, struct capacity_lock *lock) {
    if (tree_fields(place, object, lock_fields, lock)) return -1;
    if (!lock->lock) return tree_bad(place, "lock", "is missing");
    int by = read_word(place, "by", lock->by_word, loads);
    if (by < 0) return -1;
    lock->by = (enum capacity_by)by;
    if (!(lock->quantile > 0 && lock->quantile < 1))
        return tree_bad(place, "slo.quantile", "is not between 0 and 1");
    if (!(lock->limit_ns > 0)) return tree_bad(place, "slo.limit_ns", "is not a time above 0");
    if (read_answer(place, object, lock)) return -1;
    lock->modelled = !isnan(lock->capacity_per_s);
    return read_probes(place, object, lock);
}

static int read_root(struct tree_place *place, struct capacity *capacity) {
    const json_t *locks;
    if (tree_schema(place, capacity->root, CAPACITY_SCHEMA, KIND)) return -1;
    if (tree_fields(place, capacity->root, root_fields, capacity)) return -1;
    if (tree_branch(place, capacity->root, "environment", JSON_OBJECT, &capacity->environment))
        return -1;
    if (tree_objects(place, capacity->root, "locks", LOCKS_MAX, &locks)) return -1;
    if (!locks) return tree_bad(place, "", "has no .locks");
    size_t count = json_array_size(locks);
    capacity->locks = calloc(count + 1, sizeof *capacity->locks);
    if (!capacity->locks) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    for (size_t i = 0; i < count; i++) {
        snprintf(place->where, sizeof place->where, ".locks[%zu]", i);
        capacity->lock_count++; /* before it is read: what it has by then is freed */
        if (read_lock(place, json_array_get(locks, i), &capacity->locks[i])) return -1;
    }
    return 0;
}

struct capacity *capacity_parse(const char *text, size_t length, const char *path,
                                struct lb_err *err) {
    struct tree_place place = {.file = path, .err = err};
    struct capacity *capacity = calloc(1, sizeof *capacity);
    if (!capacity || !(capacity->path = strdup(path)) || !(capacity->dir = tree_folder(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto fail;
    }
    capacity->root = tree_parse(text, length, path, KIND, err);
    if (!capacity->root || read_root(&place, capacity)) goto fail;
    return capacity;
fail:
    capacity_free(capacity);
    return NULL;
}

struct capacity *capacity_read(const char *path, struct lb_err *err) {
    struct capacity *capacity = NULL;
    size_t length;
    char *file = tree_path(path, CAPACITY_FILE, err), *text = NULL;
    if (file)
        text = tree_file(file, "a capacity",
                         "the folder of a lockbench capacity, or its " CAPACITY_FILE, &length, err);
    if (text) capacity = capacity_parse(text, length, file, err);
    free(text);
    free(file);
    return capacity;
}

bool capacity_is(const char *path) {
    struct stat status;
    struct lb_err ignored = {0};
    char *file = tree_path(path, CAPACITY_FILE, &ignored);
    const char *slash = file ? strrchr(file, '/') : NULL;
    bool named = file && strcmp(slash ? slash + 1 : file, CAPACITY_FILE) == 0;
    bool is = named && stat(file, &status) == 0;
    free(file);
    return is;
}

void capacity_free(struct capacity *capacity) {
    if (!capacity) return;
    for (int i = 0; i < capacity->lock_count; i++) free(capacity->locks[i].probes);
    free(capacity->locks);
    json_decref(capacity->root);
    free(capacity->path);
    free(capacity->dir);
    free(capacity);
}
