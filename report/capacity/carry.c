/* carry: see carry.h. */
#include "report/capacity/carry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/verdict.h"
#include "report/doc/escape.h"
#include "report/run/words.h"

static const struct {
    const char *word;
    enum tone tone;
} verdicts[] = {[CARRY_YES] = {"carries", TONE_GOOD},      [CARRY_CLOSE] = {"close", TONE_WARN},
                [CARRY_UNKNOWN] = {"unknown", TONE_WARN},  [CARRY_NO] = {"too much", TONE_BAD},
                [CARRY_VIOLATED] = {"violated", TONE_BAD}, [CARRY_OTHER] = {"other", TONE_PLAIN}};

static const char *first_difference(const struct carry_ask *ask, const struct capacity_lock *lock) {
    if ((lock->by == CAPACITY_BY_RATE) != ask->by_rate) return "arrivals";
    if (strcmp(ask->slo, doc_or(lock->slo, "")) != 0) return "promise";
    bool any = !ask->by_rate || isnan(ask->clients);
    return any || ask->clients == lock->clients ? "" : "clients";
}

static struct carry_row judge(const struct carry_ask *ask, const struct capacity *from,
                              const struct capacity_lock *lock) {
    struct carry_row row = {.from = from, .lock = lock, .margin = NAN, .differs = ""};
    const char *differs = first_difference(ask, lock);
    bool broken = lock->limited_by == CAPACITY_LIMIT_SLO; /* high broke the promise */
    if (lock->violated) {
        row.verdict = CARRY_VIOLATED;
    } else if (*differs) {
        row.verdict = CARRY_OTHER;
        row.differs = differs;
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

/* True if two searches have put the same question to the same lock. */
static bool same_search(const struct capacity_lock *a, const struct capacity_lock *b) {
    const char *const texts[][2] = {
        /* Every row below the count has its lock. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        {a->lock, b->lock}, {a->topology, b->topology}, {a->durability, b->durability},
        {a->slo, b->slo},   {a->hold, b->hold},         {a->keys, b->keys}};
    bool same = a->by == b->by && (a->by == CAPACITY_BY_CLIENTS || a->clients == b->clients);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        same = same && strcmp(doc_or(texts[i][0], ""), doc_or(texts[i][1], "")) == 0;
    return same;
}

static int newest_first(const void *a, const void *b) {
    const struct capacity *const *x = a, *const *y = b;
    return strcmp(doc_or((*y)->started_at, ""), doc_or((*x)->started_at, ""));
}

static int by_verdict(const void *a, const void *b) {
    const struct carry_row *x = a, *y = b;
    int order = (int)x->verdict - (int)y->verdict;
    if (!order) order = strcmp(x->lock->lock, y->lock->lock);
    return order ? order : newest_first(&x->from, &y->from);
}

static void add_lock(struct carry *carry, const struct capacity *from,
                     const struct capacity_lock *lock) {
    if (from->partial && lock->probe_count == 0) return; /* the search reached no server */
    bool known = lb_guarantee_from(lock->guarantee) == LB_NO_GUARANTEE;
    for (int i = 0; i < carry->count && !known && !lock->violated; i++)
        known = same_search(carry->rows[i].lock, lock);
    if (!known) carry->rows[carry->count++] = judge(&carry->ask, from, lock);
}

struct carry *carry_new(struct capacity **files, int file_count, const struct carry_ask *ask,
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
    if (file_count > 0) qsort(files, (size_t)file_count, sizeof *files, newest_first);
    for (int f = 0; f < file_count; f++) {
        for (int l = 0; l < files[f]->lock_count; l++)
            add_lock(carry, files[f], &files[f]->locks[l]);
    }
    qsort(carry->rows, (size_t)carry->count, sizeof *carry->rows, by_verdict);
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

/* "390/s (360 .. 425) for acquire_due.p99<=20ms, hold 1ms, keys 1, 64 clients; redis 7.0.15;
 * results/... of 2026-..." */
static void add_measured(struct doc *doc, const struct carry_row *row) {
    const struct capacity_lock *lock = row->lock;
    char value[NUMBER_TEXT_MAX], interval[WORDS_INTERVAL_MAX], clients[NUMBER_TEXT_MAX];
    if (lock->answered)
        doc_cell(doc, "%s%s (%s)", number_text(lock->value, &number_plain, value),
                 unit_of(lock->by == CAPACITY_BY_RATE), words_capacity_interval(lock, interval));
    else
        doc_cell(doc, "no answer (%s)", doc_or(lock->why, "not stated why"));
    doc_span(doc, DOC_PLAIN, " for %s, hold %s, keys %s", doc_or(lock->slo, "not stated"),
             doc_or(lock->hold, "not stated"), doc_or(lock->keys, "not stated"));
    if (lock->by == CAPACITY_BY_RATE)
        doc_span(doc, DOC_PLAIN, ", %s clients", number_count_text(lock->clients, clients));
    doc_span(doc, DOC_PLAIN, "; %s; %s of %s%s", doc_or(lock->server, "not stated"), row->from->dir,
             doc_or(row->from->started_at, "not stated"), row->from->partial ? ", cut off" : "");
}

static const struct doc_column columns[] = {
    {.title = "lock"},
    {.title = "verdict",
     .help =
         "carries: the load is at most the lower end of the measured interval; too much: it is at "
         "least the upper end; other: measured under other conditions, which says nothing about "
         "those asked for"},
    {.title = "margin", .right = true, .help = "that end, divided by the load"},
    {.title = "guarantee"},
    {.title = "topology"},
    {.title = "durability", .words = true},
    {.title = "measured", .words = true, .below = true},
    {.title = NULL},
};

static void add_row(struct doc *doc, const struct carry_row *row) {
    char margin[NUMBER_TEXT_MAX];
    doc_row(doc, row->verdict == CARRY_OTHER ? DOC_ASIDE : DOC_ROW);
    doc_cell(doc, "%s", row->lock->lock);
    doc_cell(doc, "%s%s%s", verdicts[row->verdict].word, *row->differs ? " " : "", row->differs);
    doc_set_tone(doc, verdicts[row->verdict].tone);
    number_text(row->margin, &number_plain, margin);
    doc_value(doc, row->margin, "%s%s", margin, isnan(row->margin) ? "" : "x");
    doc_cell(doc, "%s", words_guarantee_text(row->lock->guarantee));
    doc_cell(doc, "%s", doc_or(row->lock->topology, "not stated"));
    words_capacity_durability_cell(doc, row->lock);
    add_measured(doc, row);
}

void carry_doc(const struct carry *carry, struct doc *doc) {
    const struct carry_ask *ask = &carry->ask;
    char load[NUMBER_TEXT_MAX], clients[NUMBER_TEXT_MAX];
    doc_say(doc, TONE_PLAIN, "%s%s, %s", number_text(ask->load, &number_plain, load),
            unit_of(ask->by_rate), ask->slo);
    if (!isnan(ask->clients))
        doc_span(doc, DOC_PLAIN, ", a pool of %s clients",
                 number_count_text(ask->clients, clients));
    doc_set_headline(doc);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < carry->count; i++) add_row(doc, &carry->rows[i]);
    doc_end(doc);
    if (carry_exit(carry) == LB_EXIT_INCONCLUSIVE)
        doc_say(doc, TONE_PLAIN, "Not known: lockbench capacity LOCK%s --slo '%s' measures it.",
                ask->by_rate ? "" : " --search clients", ask->slo);
}

/* The members of the lock in capacity.json, and what the table adds. */
static json_t *row_json(const struct carry_row *row) {
    json_t *json = capacity_lock_json(row->lock);
    json_t *added = json_pack(
        "{s:s, s:o, s:s, s:s, s:o, s:b}", "verdict", verdicts[row->verdict].word, "margin",
        escape_json_figure(row->margin), "differs_in", row->differs, "path", row->from->path,
        "started_at", escape_json(row->from->started_at), "partial", (int)row->from->partial);
    json_object_del(json, "probes");
    json_object_update(json, added);
    json_decref(added);
    return json;
}

int carry_json(const struct carry *carry, FILE *out, struct lb_err *err) {
    const struct carry_ask *ask = &carry->ask;
    json_t *locks = json_array();
    for (int i = 0; i < carry->count; i++) json_array_append_new(locks, row_json(&carry->rows[i]));
    json_t *json =
        json_pack("{s:s, s:i, s:{s:s, s:o, s:o, s:s}, s:o}", "schema", "lockbench.plan/2",
                  "exit_code", carry_exit(carry), "ask", "by", ask->by_rate ? "rate" : "clients",
                  "load", escape_json_figure(ask->load), "clients",
                  escape_json_figure(ask->clients), "slo", ask->slo, "locks", locks);
    return output_json(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the answer", err);
}
