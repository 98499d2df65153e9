/* check_read: see check_read.h. A cell must name a lock and a fault of the file's own lists, and no
 * two cells the same: who reads the matrix trusts that a cell is there once. */
#include "results/format/check_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/tree.h"

#define LOCKS_MAX 2000
#define FAULTS_MAX 1000
#define CELLS_MAX 100000
#define SKIPS_MAX 100000
#define FAULTS_LOGGED_MAX 100000 /* of a cell: what was done, and its evidence */
#define HOLDS_MAX 10000

#define KIND "lockbench check"

static const char *const verdicts[CHECK_VERDICTS] = {"safe",     "expired",      "stuck",
                                                     "violated", "inconclusive", "failed"};

const char *check_verdict_name(enum check_verdict verdict) {
    return verdicts[verdict];
}

#define IN_CHECK(name)                                                                             \
    { .path = #name, .kind = RESULT_TEXT, .offset = offsetof(struct check, name) }
#define IN_LOCK(name)                                                                              \
    { .path = #name, .kind = RESULT_TEXT, .offset = offsetof(struct check_lock, name) }

static const struct result_field check_fields[] = {
    {.path = "tool.name", .kind = RESULT_TEXT, .offset = offsetof(struct check, tool_name)},
    {.path = "tool.version", .kind = RESULT_TEXT, .offset = offsetof(struct check, tool_version)},
    IN_CHECK(command),
    IN_CHECK(started_at),
    IN_CHECK(ended_at),
    IN_CHECK(partial_reason),
    IN_CHECK(tour),
    {.path = "partial", .kind = RESULT_FLAG, .offset = offsetof(struct check, partial)},
    {.path = NULL},
};

static const struct result_field lock_fields[] = {
    IN_LOCK(name),
    IN_LOCK(backend),
    IN_LOCK(primitive),
    IN_LOCK(guarantee),
    IN_LOCK(crash),
    {.path = "token", .kind = RESULT_FLAG, .offset = offsetof(struct check_lock, token)},
    {.path = "control", .kind = RESULT_FLAG, .offset = offsetof(struct check_lock, control)},
    {.path = NULL},
};

static const struct result_field fault_fields[] = {
    {.path = "name", .kind = RESULT_TEXT, .offset = offsetof(struct check_fault, name)},
    {.path = "summary", .kind = RESULT_TEXT, .offset = offsetof(struct check_fault, summary)},
    {.path = NULL},
};

#define IN_SKIP(name)                                                                              \
    { .path = #name, .kind = RESULT_TEXT, .offset = offsetof(struct check_skip, name) }

static const struct result_field skip_fields[] = {
    IN_SKIP(lock),   IN_SKIP(backend), IN_SKIP(fault),
    IN_SKIP(reason), IN_SKIP(install), {.path = NULL},
};

#define AT(member) offsetof(struct check_cell, member)
#define TEXT(name)                                                                                 \
    { .path = #name, .kind = RESULT_TEXT, .offset = AT(name) }
#define FIGURE(name)                                                                               \
    { .path = #name, .kind = RESULT_REAL, .offset = AT(name) }

static const struct result_field cell_fields[] = {
    {.path = "lock", .kind = RESULT_TEXT, .offset = AT(lock_name)},
    {.path = "fault", .kind = RESULT_TEXT, .offset = AT(fault_name)},
    {.path = "verdict", .kind = RESULT_TEXT, .offset = AT(verdict_word)},
    TEXT(expected),
    {.path = "compared", .kind = RESULT_TEXT, .offset = AT(compared_word)},
    TEXT(why),
    TEXT(expected_why),
    {.path = "missed", .kind = RESULT_FLAG, .offset = AT(missed)},
    FIGURE(failed_runs),
    TEXT(workload),
    TEXT(topology),
    TEXT(durability),
    TEXT(server),
    FIGURE(clients),
    FIGURE(lease_ns),
    FIGURE(grants),
    FIGURE(bound95),
    FIGURE(overlaps),
    FIGURE(detected),
    FIGURE(detect_ns_max),
    FIGURE(lost_updates),
    FIGURE(stale_attempted),
    FIGURE(stale_accepted_unfenced),
    FIGURE(stale_rejected_fenced),
    FIGURE(stale_accepted_fenced),
    {.path = "recovery_ns.count", .kind = RESULT_REAL, .offset = AT(recovery_count)},
    {.path = "recovery_ns.min", .kind = RESULT_REAL, .offset = AT(recovery_min)},
    {.path = "recovery_ns.p50", .kind = RESULT_REAL, .offset = AT(recovery_p50)},
    {.path = "recovery_ns.p90", .kind = RESULT_REAL, .offset = AT(recovery_p90)},
    {.path = "recovery_ns.max", .kind = RESULT_REAL, .offset = AT(recovery_max)},
    {.path = "recovery_ns.theory_min", .kind = RESULT_REAL, .offset = AT(theory_min)},
    {.path = "recovery_ns.theory_max", .kind = RESULT_REAL, .offset = AT(theory_max)},
    {.path = "recovery_ns.theory", .kind = RESULT_TEXT, .offset = AT(theory)},
    FIGURE(unavailable_ns),
    FIGURE(grants_lost),
    FIGURE(lost_wakeups),
    FIGURE(inversions),
    {.path = "residue.count", .kind = RESULT_REAL, .offset = AT(residue)},
    {.path = "residue.example", .kind = RESULT_TEXT, .offset = AT(residue_example)},
    FIGURE(seed),
    TEXT(command),
    TEXT(run),
    {.path = NULL},
};

const struct result_field *check_cell_fields(void) {
    return cell_fields;
}

/* Sets the error "FILE: .cells[3].lock: WHAT "TEXT""; -1. */
static int bad_word(struct tree_place *place, const char *path, const char *word,
                    const char *what) {
    if (!word) return tree_bad(place, path, "is missing");
    return err_set(place->err, LB_EXIT_USAGE, "%s: %s.%s is \"%.60s\": %s", place->file,
                   place->where, path, word, what);
}

static int read_verdict(struct tree_place *place, struct check_cell *cell) {
    static const char *const words[] = {"as expected", "worse", "better"};
    int verdict = 0, compared = 0;
    const char *word = cell->verdict_word;
    while (verdict < CHECK_VERDICTS && !(word && strcmp(verdicts[verdict], word) == 0)) verdict++;
    if (verdict == CHECK_VERDICTS)
        return bad_word(place, "verdict", word, "no verdict that is known here");
    word = cell->compared_word;
    while (word && compared < CHECK_NOT_COMPARED && strcmp(words[compared], word) != 0) compared++;
    if (word && compared == CHECK_NOT_COMPARED)
        return bad_word(place, "compared", word, "not \"as expected\", \"worse\" or \"better\"");
    cell->verdict = (enum check_verdict)verdict;
    cell->compared = word ? (enum check_compared)compared : CHECK_NOT_COMPARED;
    return 0;
}

static bool is_called(const char *name, const char *wanted) {
    return name && strcmp(name, wanted) == 0;
}

/* The indices of its lock and fault; the writer goes by lock, so the last lock is tried first. */
static int read_names(struct tree_place *place, const struct check *check, int last_lock,
                      struct check_cell *cell) {
    const char *lock = cell->lock_name, *fault = cell->fault_name;
    if (!lock) return tree_bad(place, "lock", "is missing");
    if (!fault) return tree_bad(place, "fault", "is missing");
    cell->lock = last_lock;
    if (last_lock >= check->lock_count || !is_called(check->locks[last_lock].name, lock)) {
        cell->lock = 0;
        while (cell->lock < check->lock_count && !is_called(check->locks[cell->lock].name, lock))
            cell->lock++;
    }
    if (cell->lock == check->lock_count) return bad_word(place, "lock", lock, "not in .locks");
    cell->fault = 0;
    while (cell->fault < check->fault_count && !is_called(check->faults[cell->fault].name, fault))
        cell->fault++;
    if (cell->fault == check->fault_count) return bad_word(place, "fault", fault, "not in .faults");
    return 0;
}

static int read_evidence(struct tree_place *place, const json_t *object, struct check_cell *cell) {
    const json_t *recovered = tree_at(object, "recovered");
    if (recovered && !json_is_boolean(recovered))
        return tree_bad(place, "recovered", "is not true or false");
    cell->recovered = recovered ? json_is_true(recovered) : NAN;
    if (tree_numbers(place, object, "seeds", &cell->seeds)) return -1;
    if (tree_numbers(place, object, "recovery_ns.trials", &cell->trials)) return -1;
    if (tree_objects(place, object, "faults", FAULTS_LOGGED_MAX, &cell->faults)) return -1;
    if (tree_objects(place, object, "counterexample", HOLDS_MAX, &cell->counterexample)) return -1;
    return tree_objects(place, object, "timeline", HOLDS_MAX, &cell->timeline);
}

static int by_place(const void *a, const void *b) {
    const struct check_cell *x = a, *y = b;
    if (x->lock != y->lock) return x->lock < y->lock ? -1 : 1;
    return (x->fault > y->fault) - (x->fault < y->fault);
}

static int read_cells(struct tree_place *place, struct check *check) {
    const json_t *cells;
    place->where[0] = '\0';
    if (tree_objects(place, check->root, "cells", CELLS_MAX, &cells)) return -1;
    if (!cells) return tree_bad(place, "", "has no .cells");
    size_t count = json_array_size(cells);
    check->cells = calloc(count + 1, sizeof *check->cells);
    if (!check->cells) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    if (count > 0 && check->lock_count == 0) return tree_bad(place, "", "has cells and no .locks");
    for (size_t i = 0; i < count; i++) {
        struct check_cell *cell = &check->cells[i];
        json_t *object = json_array_get(cells, i);
        snprintf(place->where, sizeof place->where, ".cells[%zu]", i);
        if (tree_fields(place, object, cell_fields, cell)) return -1;
        if (read_names(place, check, i > 0 ? cell[-1].lock : 0, cell)) return -1;
        if (read_verdict(place, cell)) return -1;
        if (read_evidence(place, object, cell)) return -1;
        check->cell_count++;
    }
    qsort(check->cells, count, sizeof *check->cells, by_place);
    for (size_t i = 1; i < count; i++) {
        const struct check_cell *cell = &check->cells[i];
        if (by_place(cell, cell - 1) != 0) continue;
        return err_set(place->err, LB_EXIT_USAGE, "%s: .cells has %.60s under %.60s twice",
                       place->file, cell->lock_name, cell->fault_name);
    }
    return 0;
}

/* .locks or .faults: objects with a name that no other has. Sets *ret_list also on failure, so that
 * check_free finds it. */
static int read_list(struct tree_place *place, const json_t *root, const char *path, size_t most,
                     const struct result_field *fields, size_t item_bytes, void **ret_list,
                     int *ret_count) {
    const json_t *array;
    place->where[0] = '\0';
    if (tree_objects(place, root, path, most, &array)) return -1;
    size_t count = json_array_size(array);
    *ret_list = calloc(count + 1, item_bytes);
    if (!*ret_list) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    for (size_t i = 0; i < count; i++) {
        char *item = (char *)*ret_list + i * item_bytes;
        snprintf(place->where, sizeof place->where, ".%s[%zu]", path, i);
        if (tree_fields(place, json_array_get(array, i), fields, item)) return -1;
        const char *name; /* the first member of both */
        memcpy(&name, item, sizeof name);
        if (!name || !*name) return tree_bad(place, "name", "is missing");
        for (size_t j = 0; j < i; j++) {
            const char *other;
            memcpy(&other, (char *)*ret_list + j * item_bytes, sizeof other);
            if (strcmp(name, other) == 0) return tree_bad(place, "name", "is there twice");
        }
        *ret_count = (int)i + 1;
    }
    return 0;
}

static int read_skips(struct tree_place *place, struct check *check) {
    const json_t *array;
    place->where[0] = '\0';
    if (tree_objects(place, check->root, "skipped", SKIPS_MAX, &array)) return -1;
    size_t count = json_array_size(array);
    check->skips = calloc(count + 1, sizeof *check->skips);
    if (!check->skips) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    check->skip_count = (int)count;
    for (size_t i = 0; i < count; i++) {
        snprintf(place->where, sizeof place->where, ".skipped[%zu]", i);
        if (tree_fields(place, json_array_get(array, i), skip_fields, &check->skips[i])) return -1;
    }
    return 0;
}

static int read_root(struct tree_place *place, struct check *check) {
    void *list = NULL;
    const json_t *root = check->root;
    if (tree_schema(place, root, CHECK_SCHEMA, KIND)) return -1;
    if (tree_fields(place, check->root, check_fields, check)) return -1;
    if (tree_branch(place, root, "environment", JSON_OBJECT, &check->environment)) return -1;
    if (tree_numbers(place, root, "seeds", &check->seeds)) return -1;
    int rc = read_list(place, root, "faults", FAULTS_MAX, fault_fields, sizeof *check->faults,
                       &list, &check->fault_count);
    check->faults = list;
    if (rc) return -1;
    list = NULL;
    rc = read_list(place, root, "locks", LOCKS_MAX, lock_fields, sizeof *check->locks, &list,
                   &check->lock_count);
    check->locks = list;
    return rc || read_skips(place, check) ? -1 : read_cells(place, check);
}

struct check *check_parse(const char *text, size_t length, const char *path, struct lb_err *err) {
    struct tree_place place = {.file = path, .err = err};
    struct check *check = calloc(1, sizeof *check);
    if (!check || !(check->path = strdup(path)) || !(check->dir = tree_folder(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto fail;
    }
    check->root = tree_parse(text, length, path, KIND, err);
    if (!check->root || read_root(&place, check)) goto fail;
    return check;
fail:
    check_free(check);
    return NULL;
}

void check_free(struct check *check) {
    if (!check) return;
    free(check->faults);
    free(check->locks);
    free(check->skips);
    free(check->cells);
    json_decref(check->root);
    free(check->path);
    free(check->dir);
    free(check);
}
