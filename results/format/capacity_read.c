/* capacity_read: see capacity_read.h. */
#include "results/format/capacity_read.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "results/format/tree.h"
#include "results/format/write.h"

#define LOCKS_MAX 2000
#define PROBES_MAX 100000

/* the words from CAPACITY_LIMIT_SLO on */
static const char *const limits[] = {"slo", "generator", "range", NULL};
static const char *const loads[] = {"rate", "clients", NULL};

const char *capacity_limit_name(enum capacity_limit limit) {
    return limit == CAPACITY_LIMIT_NONE ? NULL : limits[limit - 1];
}

#define PROBE(kind, member, path, ...) ROW(capacity_probe, kind, member, path, __VA_ARGS__)

static const struct result_field probe_fields[] = {
    PROBE(TEXT, run, "run", .help = "the folder of that, beside this file"),
    PROBE(TEXT, verdict_word, "verdict", .words = PROMISE_WORDS,
          .help = "kept: the whole interval is within the limit"),
    PROBE(TEXT, limited_by, "limited_by", .words = "generator",
          .help = "the load generator may have caused the verdict; such a probe shows nothing "
                  "about the lock",
          .more = "The generator's timers were so late that they may have caused the verdict; or "
                  "the host of a virtual machine took its processors' time; or the promise was "
                  "not kept, and all its threads were busy, or all its clients although the one "
                  "key was not busy all the time. A kept one counts only if there are fewer than "
                  "three others on a side of the edge; then `why` says so."),
    PROBE(REAL, value, "value", .help = "its load: arrivals a second, or clients"),
    PROBE(REAL_NS, quantile_ns, "quantile_ns",
          .help = "the promise's quantile over all samples; null: it is among requests that were "
                  "never granted, or there are too few samples"),
    PROBE(REAL_NS, low_ns, "low_ns",
          .help =
              "begin of its interval, from the spread of the share over the limit between parts of "
              "the window"),
    PROBE(REAL_NS, high_ns, "high_ns", .help = "its end"),
    PROBE(FLAG, grew, "grew",
          .help = "the backlog grew in the window by more than chance explains: the promise is "
                  "broken, however many requests were within the limit"),
    PROBE(COUNT, samples, "samples",
          .help = "operations due in the window (closed loop: begun in it)"),
    PROBE(REAL, over_share, "over_share",
          .help = "the share of the samples that were over the limit, failed, timed out or never "
                  "started"),
    {.path = NULL},
};

#define LOCK(kind, member, path, ...) ROW(capacity_lock, kind, member, path, __VA_ARGS__)

static const struct result_field lock_fields[] = {
    LOCK(TEXT, lock, "lock", .help = "name of the lock"),
    LOCK(TEXT, backend, "backend", .help = "its backend"),
    LOCK(TEXT, topology, "topology", .help = "servers that it ran on"),
    LOCK(TEXT, durability, "durability", .help = "how they keep their data, in words"),
    LOCK(TEXT, durability_class, "durability_class", .help = "as durability_class of a stage"),
    LOCK(TEXT, durability_note, "durability_note", .help = "as durability_note of a stage"),
    LOCK(TEXT, guarantee, "guarantee", .words = GUARANTEE_WORDS,
         .help = "where the truth about the lock lives"),
    LOCK(TEXT, server, "server", .help = "the server with its version"),
    NO_MEMBER(OBJECT, "executor", .help = "the processes and threads that made the load"),
    LOCK(COUNT, threads, "executor.threads", .help = "threads of all processes"),
    LOCK(COUNT, processes, "executor.processes", .help = "processes"),
    NO_MEMBER(OBJECT, "slo", .help = "the promise"),
    LOCK(TEXT, slo, "slo.text", .help = "as the user wrote it"),
    LOCK(REAL, quantile, "slo.quantile", .help = "0.99 for p99"),
    LOCK(NS, limit_ns, "slo.limit_ns", .help = "the limit"),
    LOCK(TEXT, by_word, "by", .words = "rate clients",
         .help = "the load that was varied: Poisson arrivals a second, or clients of a closed "
                 "loop"),
    LOCK(TEXT, hold, "hold", .help = "as hold of a stage"),
    LOCK(TEXT, think, "think", .help = "as think of a stage"),
    LOCK(TEXT, keys, "keys", .help = "number of keys"),
    LOCK(COUNT, clients, "clients",
         .help = "by rate: the pool of clients; by clients: the greatest number that was allowed"),
    LOCK(FLAG, violated, "violated",
         .help = "in a stage of the search two clients held the lock at the same time, so that the "
                 "load which it carried does not count"),
    LOCK(REAL, saturated_per_s, "saturated_per_s", .unit = "1/s",
         .help =
             "throughput of the closed loop before a search by rate; `why` says so if the answer "
             "is above it"),
    NO_MEMBER(OPTIONAL, "answer",
              .help = "the load at which the promise begins to break; null: no answer with "
                      "confidence"),
    LOCK(REAL, value, "answer.value", .help = "arrivals a second, or clients"),
    LOCK(REAL, low, "answer.low", .help = "begin of its 95 % interval"),
    LOCK(REAL, high, "answer.high",
         .help = "its end; null: the lock may carry more, and only low is sure"),
    LOCK(TEXT, limited_by_word, "limited_by", .words = "slo generator range",
         .help = "what ended the search; null without an answer",
         .more = "slo: the promise is broken beyond it. generator: the generator or a busy "
                 "machine was too slow beyond it. range: the greatest load that was allowed "
                 "keeps the promise."),
    LOCK(TEXT, why, "why",
         .help = "the same in words, the reason for a wide interval, or the reason why there is "
                 "no answer; null if only the promise ended the search"),
    LIST_ROW(capacity_lock, probes, probe_count, "probes", .items = probe_fields,
             .most = PROBES_MAX, .help = "in the order they ran"),
    {.path = NULL},
};

static const struct result_field root_fields[] = {
    RESULT_HEAD_ROWS(capacity),
    ROW(capacity, FREE, environment, "environment", .help = "as in run.json"),
    LIST_ROW(capacity, locks, lock_count, "locks", .items = lock_fields, .most = LOCKS_MAX,
             .help = "one for each lock that was tried"),
    {.path = NULL},
};

void capacity_lock_clear(struct capacity_lock *lock) {
    *lock = (struct capacity_lock){0};
    result_field_clear_all(lock_fields, lock);
}

json_t *capacity_lock_json(const struct capacity_lock *lock) {
    return result_fields_json(lock_fields, lock);
}

/* The index of a word in a list; -1 with the error. */
static int read_word(struct tree_place *place, const char *path, const char *word,
                     const char *const *words) {
    for (int i = 0; word && words[i]; i++) {
        if (strcmp(words[i], word) == 0) return i;
    }
    return tree_bad_word(place, path, word);
}

static int check_probe(struct tree_place *place, struct capacity_probe *probe) {
    probe->verdict = promise_verdict_from(probe->verdict_word);
    if (probe->verdict == PROMISE_VERDICTS)
        return tree_bad_word(place, "verdict", probe->verdict_word);
    return probe->value > 0 ? 0 : tree_bad(place, "value", "is not a load above 0");
}

/* Reads an answer: a load with an interval around it, whose upper end may be missing. */
static int read_answer(struct tree_place *place, const json_t *object, struct capacity_lock *lock) {
    lock->answered = tree_at(object, "answer") != NULL;
    if (!lock->answered) return 0;
    int limit = read_word(place, "limited_by", lock->limited_by_word, limits);
    if (limit < 0) return -1;
    lock->limited_by = (enum capacity_limit)(limit + 1);
    return lock->value > 0 ? 0 : tree_bad(place, "answer.value", "is not a load above 0");
}

static int check_lock(struct tree_place *place, json_t *object, struct capacity_lock *lock) {
    if (!lock->lock) return tree_bad(place, "lock", "is missing");
    int by = read_word(place, "by", lock->by_word, loads);
    if (by < 0) return -1;
    lock->by = (enum capacity_by)by;
    if (!(lock->quantile > 0 && lock->quantile < 1))
        return tree_bad(place, "slo.quantile", "is not between 0 and 1");
    if (!(lock->limit_ns > 0)) return tree_bad(place, "slo.limit_ns", "is not a time above 0");
    return read_answer(place, object, lock);
}

static int check_capacity(struct tree_place *place, void *of) {
    struct capacity *capacity = of;
    json_t *locks = tree_at(capacity->root, "locks");
    if (!locks) return tree_bad(place, "", "has no .locks");
    for (int i = 0; i < capacity->lock_count; i++) {
        struct capacity_lock *lock = &capacity->locks[i];
        snprintf(place->where, sizeof place->where, ".locks[%d]", i);
        if (check_lock(place, json_array_get(locks, (size_t)i), lock)) return -1;
        for (int p = 0; p < lock->probe_count; p++) {
            snprintf(place->where, sizeof place->where, ".locks[%d].probes[%d]", i, p);
            if (check_probe(place, &lock->probes[p])) return -1;
        }
    }
    return 0;
}

const struct result_document capacity_document = {
    .file = CAPACITY_FILE,
    .schema = CAPACITY_SCHEMA,
    .kind = "lockbench capacity",
    .about = "The result of `lockbench capacity`; its probes are runs, in folders beside it.",
    .fields = root_fields,
    .bytes = sizeof(struct capacity),
    .check = check_capacity,
};

json_t *capacity_json(const struct capacity *capacity, json_t *locks) {
    json_t *json = json_pack("{s:s}", "schema", CAPACITY_SCHEMA);
    json_t *members = result_fields_json(root_fields, capacity);
    int failed = json_object_update(json, members); /* -1 if one of them is NULL */
    failed |= json_object_set_new(json, "locks", locks);
    json_decref(members);
    if (!failed) return json;
    json_decref(json);
    return NULL;
}

struct capacity *capacity_parse(const char *text, size_t length, const char *path,
                                struct lb_err *err) {
    json_t *root = tree_parse(text, length, path, capacity_document.kind, err);
    return tree_document(&capacity_document, root, path, err);
}

struct capacity *capacity_from_json(json_t *root, const char *path, struct lb_err *err) {
    return tree_document(&capacity_document, json_incref(root), path, err);
}

struct capacity *capacity_read(const char *path, struct lb_err *err) {
    return tree_read(&capacity_document, path, err);
}

void capacity_free(struct capacity *capacity) {
    tree_free(&capacity_document, capacity);
}
