/* carry: see carry.h. */
#include "report/capacity/carry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/verdict.h"
#include "report/doc/escape.h"
#include "report/run/words.h"

#define TIGHT 1.2 /* margins below this are called tight */

static const char *const verdicts[] = {"carries",  "close",    "unknown",
                                       "too much", "VIOLATED", "other"};

static bool same_text(const char *asked, const char *measured) {
    return !asked || (measured && strcmp(asked, measured) == 0);
}

/* Writes the conditions of a measurement that are not those of the question: "promise, hold". */
static void fill_differs(const struct carry_ask *ask, const struct capacity_lock *lock, char *text,
                         size_t size) {
    bool by_rate = lock->by == CAPACITY_BY_RATE;
    const struct {
        const char *name;
        bool same;
    } conditions[] = {
        {"arrivals", by_rate == ask->by_rate},
        {"promise", same_text(ask->slo, lock->slo)},
        {"hold", same_text(ask->hold, lock->hold)},
        {"keys", same_text(ask->keys, lock->keys)},
        {"clients", !ask->by_rate || isnan(ask->clients) || ask->clients == lock->clients},
    };
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        if (conditions[i].same || length >= size) continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                   conditions[i].name);
    }
}

static struct carry_row judge(const struct carry_ask *ask, const struct capacity *from,
                              const struct capacity_lock *lock) {
    struct carry_row row = {.from = from, .lock = lock, .margin = NAN};
    fill_differs(ask, lock, row.differs, sizeof row.differs);
    bool broken = lock->limited_by == CAPACITY_LIMIT_SLO; /* high broke the promise */
    if (lock->violated) {
        row.verdict = CARRY_VIOLATED;
    } else if (row.differs[0]) {
        row.verdict = CARRY_OTHER;
    } else if (lock->answered && ask->load <= lock->low) {
        row.verdict = CARRY_YES;
        row.margin = lock->low / ask->load;
    } else if (lock->answered && broken && ask->load >= lock->high) {
        row.verdict = CARRY_NO;
        row.margin = lock->high / ask->load;
    } else {
        row.verdict = lock->answered && broken ? CARRY_CLOSE : CARRY_UNKNOWN;
    }
    return row;
}

static int guarantee_rank(const struct capacity_lock *lock) {
    static const int ranks[LB_GUARANTEES + 1] = {
        [LB_ON_ONE_HOST] = 0, [LB_ON_ASYNC_REPLICA] = 1, [LB_ON_ONE_NODE] = 2,
        [LB_ON_MAJORITY] = 3, [LB_NO_GUARANTEE] = -1,    [LB_GUARANTEES] = -1};
    return ranks[lb_guarantee_from(lock->guarantee)];
}

static int durability_rank(const struct capacity_lock *lock) {
    enum durability durability = durability_from(lock->durability_class);
    return durability == DURABILITY_UNKNOWN ? -1 : (int)durability;
}

static int compare_places(const struct carry_row *x, const struct carry_row *y) {
    int order = strcmp(x->lock->lock, y->lock->lock);
    if (!order) order = strcmp(doc_or(x->lock->topology, ""), doc_or(y->lock->topology, ""));
    return order ? order : strcmp(doc_or(x->lock->durability, ""), doc_or(y->lock->durability, ""));
}

/* True of the lock at which a search was cut off: only the last one of a file can be. */
static bool was_cut(const struct carry_row *row) {
    const struct capacity *from = row->from;
    return from->partial && row->lock == &from->locks[from->lock_count - 1];
}

/* The rank of a measurement among those of one place, the smallest first. */
static int rank_of(const struct carry_row *row) {
    if (row->verdict == CARRY_VIOLATED) return -1;
    return row->verdict == CARRY_OTHER ? 2 : !row->lock->answered || was_cut(row);
}

static int by_place(const void *a, const void *b) {
    const struct carry_row *x = a, *y = b;
    int order = compare_places(x, y);
    if (!order) order = rank_of(x) - rank_of(y);
    return order ? order : strcmp(doc_or(y->from->started_at, ""), doc_or(x->from->started_at, ""));
}

static int by_verdict(const void *a, const void *b) {
    const struct carry_row *x = a, *y = b;
    int order = (int)x->verdict - (int)y->verdict;
    if (!order) order = guarantee_rank(y->lock) - guarantee_rank(x->lock);
    if (!order) order = durability_rank(y->lock) - durability_rank(x->lock);
    if (!order && !isnan(x->margin)) order = (y->margin > x->margin) - (y->margin < x->margin);
    return order ? order : compare_places(x, y);
}

struct carry *carry_new(struct capacity *const *files, int file_count, const struct carry_ask *ask,
                        struct lb_err *err) {
    size_t room = 1;
    for (int f = 0; f < file_count; f++) room += (size_t)files[f]->lock_count;
    struct carry *carry = calloc(1, sizeof *carry);
    if (carry) carry->rows = calloc(room, sizeof *carry->rows);
    if (!carry || !carry->rows) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        carry_free(carry);
        return NULL;
    }
    carry->ask = *ask;
    int count = 0, kept = 0;
    struct carry_row *rows = carry->rows;
    for (int f = 0; f < file_count; f++) {
        for (int l = 0; l < files[f]->lock_count; l++) {
            const struct capacity_lock *lock = &files[f]->locks[l];
            bool unsafe = lb_guarantee_from(lock->guarantee) == LB_NO_GUARANTEE;
            carry->left_out |= unsafe;
            if (!unsafe) rows[count++] = judge(ask, files[f], lock);
        }
    }
    qsort(rows, (size_t)count, sizeof *rows, by_place);
    for (int i = 0; i < count; i++) {
        if (kept == 0 || compare_places(&rows[kept - 1], &rows[i]) != 0) rows[kept++] = rows[i];
    }
    qsort(rows, (size_t)kept, sizeof *rows, by_verdict);
    carry->count = kept;
    return carry;
}

void carry_free(struct carry *carry) {
    if (!carry) return;
    free(carry->rows);
    free(carry);
}

int carry_exit(const struct carry *carry) {
    int no = 0;
    for (int i = 0; i < carry->count; i++) {
        enum carry_verdict verdict = carry->rows[i].verdict;
        if (verdict == CARRY_YES) return LB_EXIT_OK;
        no += verdict == CARRY_NO || verdict == CARRY_VIOLATED;
    }
    return no > 0 && no == carry->count ? LB_EXIT_REGRESSION : LB_EXIT_INCONCLUSIVE;
}

static const char *unit_of(bool by_rate) {
    return by_rate ? "/s" : " clients";
}

/* "320/s, acquire_due.p99<=200ms, hold 1ms, keys 1" */
static void add_ask(const struct carry_ask *ask, struct doc *doc) {
    char load[NUMBER_TEXT_MAX], clients[NUMBER_TEXT_MAX];
    doc_say(doc, TONE_PLAIN, "%s%s, %s", number_text(ask->load, &number_plain, load),
            unit_of(ask->by_rate), ask->slo);
    if (ask->hold) doc_span(doc, DOC_PLAIN, ", hold %s", ask->hold);
    if (ask->keys) doc_span(doc, DOC_PLAIN, ", keys %s", ask->keys);
    if (!isnan(ask->clients))
        doc_span(doc, DOC_PLAIN, ", a pool of %s clients",
                 number_count_text(ask->clients, clients));
    doc_set_headline(doc);
}

static void add_verdict(struct doc *doc, const struct carry_row *row) {
    static const enum tone tones[] = {TONE_GOOD, TONE_WARN, TONE_WARN,
                                      TONE_BAD,  TONE_BAD,  TONE_PLAIN};
    char times[NUMBER_TEXT_MAX];
    bool tight = row->verdict == CARRY_YES && row->margin < TIGHT;
    number_text(row->margin, &number_plain, times);
    if (row->verdict == CARRY_YES)
        doc_cell(doc, "carries %sx%s", times, tight ? ", tight" : "");
    else if (row->verdict == CARRY_NO)
        doc_cell(doc, "too much, at most %sx", times);
    else if (row->verdict == CARRY_OTHER)
        doc_cell(doc, "other %s", row->differs);
    else
        doc_cell(doc, "%s", verdicts[row->verdict]);
    doc_set_tone(doc, tight ? TONE_WARN : tones[row->verdict]);
}

/* "390/s (360 .. 425) for acquire_due.p99<=20ms, hold 1ms, keys 1, 64 clients; redis 7.0.15;
 * results/... of 2026-..." */
static void add_measured(struct doc *doc, const struct carry_row *row) {
    const struct capacity_lock *lock = row->lock;
    char value[NUMBER_TEXT_MAX], interval[WORDS_INTERVAL_MAX], clients[NUMBER_TEXT_MAX];
    if (lock->answered)
        doc_cell(doc, "%s%s (%s)", number_text(lock->value, &number_plain, value),
                 unit_of(lock->by == CAPACITY_BY_RATE), words_capacity_interval(lock, interval));
    else
        doc_cell(doc, "no answer%s%s", lock->why ? " (" : "", lock->why ? lock->why : "");
    if (!lock->answered && lock->why) doc_span(doc, DOC_PLAIN, ")");
    doc_span(doc, DOC_PLAIN, " for %s, hold %s, keys %s", doc_or(lock->slo, "not stated"),
             doc_or(lock->hold, "not stated"), doc_or(lock->keys, "not stated"));
    if (lock->by == CAPACITY_BY_RATE)
        doc_span(doc, DOC_PLAIN, ", %s clients", number_count_text(lock->clients, clients));
    doc_span(doc, DOC_PLAIN, "; %s; %s of %s%s", doc_or(lock->server, "not stated"), row->from->dir,
             doc_or(row->from->started_at, "not stated"), was_cut(row) ? ", cut off" : "");
}

/* The search that would answer for a lock. */
static void add_search(struct doc *doc, const struct carry_ask *ask) {
    char command[400], clients[60] = "";
    if (!isnan(ask->clients))
        snprintf(clients, sizeof clients, " --set load.clients=%.0f", ask->clients);
    snprintf(command, sizeof command, "lockbench capacity LOCK%s --slo '%s'%s%s%s%s%s",
             ask->by_rate ? "" : " --clients", ask->slo, ask->hold ? " --hold " : "",
             doc_or(ask->hold, ""), ask->keys ? " --keys " : "", doc_or(ask->keys, ""), clients);
    doc_say(doc, TONE_PLAIN, "A lock without an answer is measured by:");
    doc_code(doc, command);
}

static const struct doc_column columns[] = {
    {.title = "lock"},
    {.title = "verdict",
     .help =
         "carries: the margin is the load at the lower end of the measured interval, divided by "
         "the load asked for; too much: the same with the upper end; other: measured under "
         "other conditions, which says nothing about those asked for"},
    {.title = "guarantee"},
    {.title = "topology"},
    {.title = "durability", .words = true},
    {.title = "measured", .words = true, .below = true},
    {.title = NULL},
};

void carry_doc(const struct carry *carry, struct doc *doc) {
    add_ask(&carry->ask, doc);
    if (carry->count == 0) {
        doc_say(doc, TONE_WARN, "No capacity was measured.");
    } else {
        doc_table(doc, NULL, NULL);
        doc_columns(doc, columns);
        for (int i = 0; i < carry->count; i++) {
            const struct carry_row *row = &carry->rows[i];
            doc_row(doc, row->verdict == CARRY_OTHER ? DOC_ASIDE : DOC_ROW);
            doc_cell(doc, "%s", row->lock->lock);
            add_verdict(doc, row);
            doc_cell(doc, "%s", words_guarantee_text(row->lock->guarantee));
            doc_cell(doc, "%s", doc_or(row->lock->topology, "not stated"));
            words_capacity_durability_cell(doc, row->lock);
            add_measured(doc, row);
        }
        doc_end(doc);
    }
    if (carry->left_out)
        doc_say(doc, TONE_PLAIN,
                "Left out: locks broken on purpose, and baselines, which guarantee nothing.");
    if (carry->count > 0)
        doc_say(doc, TONE_PLAIN,
                "The order is not by speed: the locks that carry the load come first, then the "
                "stronger guarantee, the more durable setting and the greater margin.");
    if (carry_exit(carry) == LB_EXIT_INCONCLUSIVE) add_search(doc, &carry->ask);
}

static json_t *row_json(const struct carry_row *row) {
    const struct capacity_lock *lock = row->lock;
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}}",
        "lock", lock->lock, "verdict", verdicts[row->verdict], "margin",
        escape_json_figure(row->margin), "differs_in", row->differs, "guarantee",
        escape_json(lock->guarantee), "topology", escape_json(lock->topology), "durability",
        escape_json(lock->durability), "durability_class", escape_json(lock->durability_class),
        "measured", "path", row->from->path, "started_at", escape_json(row->from->started_at),
        "cut_off", (int)was_cut(row), "slo", escape_json(lock->slo), "by",
        escape_json(lock->by_word), "hold", escape_json(lock->hold), "keys",
        escape_json(lock->keys), "clients", escape_json_figure(lock->clients), "value",
        escape_json_figure(lock->value), "low", escape_json_figure(lock->low), "high",
        escape_json_figure(lock->high));
}

int carry_json(const struct carry *carry, FILE *out, struct lb_err *err) {
    const struct carry_ask *ask = &carry->ask;
    json_t *locks = json_array();
    for (int i = 0; i < carry->count; i++) json_array_append_new(locks, row_json(&carry->rows[i]));
    json_t *json = json_pack(
        "{s:s, s:i, s:{s:s, s:o, s:o, s:s, s:o, s:o}, s:b, s:o}", "schema", "lockbench.plan/2",
        "exit_code", carry_exit(carry), "ask", "by", ask->by_rate ? "rate" : "clients", "load",
        escape_json_figure(ask->load), "clients", escape_json_figure(ask->clients), "slo", ask->slo,
        "hold", escape_json(ask->hold), "keys", escape_json(ask->keys), "left_out",
        (int)carry->left_out, "locks", locks);
    return output_json(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the answer", err);
}
