/* run_notes: the runs, their warnings, the locks that were left out, the commands that repeat them. See
 * run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- warnings ---- */

#define WARNINGS_OPEN 8     /* more of them are folded in the page */
#define WARNINGS_TERMINAL 6 /* the most lines in a terminal; the page has all */
#define KINDS_MAX 64 /* the kinds that are told apart; the warnings of others count as known */

/* In the order in which they stand. */
enum weight {
    WEIGHT_ERROR, /* what a stage failed with */
    WEIGHT_RUN,   /* about the run as a whole */
    WEIGHT_NEW,   /* the first of its kind about a lock */
    WEIGHT_KNOWN, /* one that differs from an earlier one in its figures only */
    WEIGHT_ASIDE  /* about a control or the baseline, which nobody chooses */
};

struct warning {
    const char *name, *text; /* name: of the stage; NULL = of the run */
    enum weight weight;
    int place; /* in the order of the stages */
};

struct warnings {
    struct warning *item;
    int count;
    const char *kinds[KINDS_MAX];
    int kind_count;
};

/* True if the texts differ in their figures only. */
static bool same_kind(const char *a, const char *b) {
    static const char figures[] = "0123456789.";
    for (;; a++, b++) {
        a += strspn(a, figures);
        b += strspn(b, figures);
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static enum weight weigh(struct warnings *warnings, const struct run_stage *stage,
                         const char *text) {
    if (stage->control || stage->baseline) return WEIGHT_ASIDE;
    for (int k = 0; k < warnings->kind_count; k++)
        if (same_kind(warnings->kinds[k], text)) return WEIGHT_KNOWN;
    if (warnings->kind_count == KINDS_MAX) return WEIGHT_KNOWN;
    warnings->kinds[warnings->kind_count++] = text;
    return WEIGHT_NEW;
}

/* The error of a stage that is not among the warnings of the run already; NULL = none. */
static const char *new_error(const struct run *run, const struct run_stage *stage) {
    size_t i, length = stage->id ? strlen(stage->id) : 0;
    json_t *warning;
    json_array_foreach(run->warnings, i, warning) {
        const char *text = json_string_value(warning);
        if (stage->error && length > 0 && text && strncmp(text, stage->id, length) == 0 &&
            strncmp(text + length, ": ", 2) == 0 && strcmp(text + length + 2, stage->error) == 0)
            return NULL;
    }
    return stage->error;
}

static void put(struct warnings *warnings, enum weight weight, const char *name, const char *text) {
    warnings->item[warnings->count] =
        (struct warning){.name = name, .text = text, .weight = weight, .place = warnings->count};
    warnings->count++;
}

static const char *text_of(const json_t *warning) {
    return doc_or(json_string_value(warning), "?");
}

static int by_weight(const void *a, const void *b) {
    const struct warning *x = a, *y = b;
    return x->weight != y->weight ? (int)x->weight - (int)y->weight : x->place - y->place;
}

/* item: room for all warnings and for an error of each stage. */
static void gather(const struct run *run, struct warnings *warnings) {
    size_t i;
    json_t *warning;
    json_array_foreach(run->warnings, i, warning) {
        put(warnings, WEIGHT_RUN, NULL, text_of(warning));
    }
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        const char *name = doc_or(stage->id, stage->lock), *error = new_error(run, stage);
        if (error) put(warnings, WEIGHT_ERROR, name, error);
        json_array_foreach(stage->warnings, i, warning) {
            put(warnings, weigh(warnings, stage, text_of(warning)), name, text_of(warning));
        }
    }
    qsort(warnings->item, (size_t)warnings->count, sizeof *warnings->item, by_weight);
}

static size_t room_for(const struct run *run) {
    size_t room = json_array_size(run->warnings) + (size_t)run->stage_count;
    for (int s = 0; s < run->stage_count; s++) room += json_array_size(run->stages[s].warnings);
    return room;
}

/* The warnings of the run and of its stages, and what stages failed with. */
static void run_warnings(const struct run *run, struct doc *doc) {
    struct warnings warnings = {.item = calloc(room_for(run) + 1, sizeof *warnings.item)};
    doc->failed |= warnings.item == NULL;
    if (warnings.item) gather(run, &warnings);
    if (warnings.count == 0) goto out;
    doc_fold(doc, warnings.count <= WARNINGS_OPEN, "Warnings and failures (%d)", warnings.count);
    doc_list(doc, NULL);
    for (int i = 0; i < warnings.count; i++) {
        const struct warning *warning = &warnings.item[i];
        doc_item(doc, TONE_WARN, "Warning: ");
        if (i >= WARNINGS_TERMINAL) doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
        if (warning->name) doc_span(doc, DOC_STRONG, "%s", warning->name);
        doc_span(doc, DOC_PLAIN, "%s%s", warning->name ? ": " : "", warning->text);
    }
    if (warnings.count > WARNINGS_TERMINAL) {
        doc_item(doc, TONE_WARN, "... and %d more: in the page, --html, and in run.json",
                 warnings.count - WARNINGS_TERMINAL);
        doc_set_only(doc, DOC_TERMINAL);
    }
    doc_end(doc);
    doc_end(doc);
out:
    free(warnings.item);
}

/* ---- notes ---- */

static void add_executor(struct doc *doc, const struct run *run) {
    double least = INFINITY, most = 0, processes = 0, spread = 0, stall = NAN;
    bool pinned = false;
    char text[NUMBER_TEXT_MAX];
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        least = fmin(least, stage->threads);
        most = fmax(most, stage->threads);
        processes = fmax(processes, stage->processes);
        stall = fmax(stall, stage->latency[METRIC_HICCUP].p99);
        pinned |= stage->pinned;
        /* Of several hosts each has a process; a stage that failed may have heard of no host. */
        bool failed = stage->status && strcmp(stage->status, "failed") == 0;
        if (!failed && json_array_size(stage->hosts) == 0) spread = fmax(spread, stage->processes);
    }
    if (!isfinite(least)) return;
    doc_say(doc, TONE_PLAIN, "Executor: clients are fibers on ");
    if (least < most) doc_span(doc, DOC_PLAIN, "%.0f to ", least);
    doc_span(doc, DOC_PLAIN,
             "%.0f thread%s in %.0f process%s, %s; its own "
             "stalls, p99 of the worst stage: %s",
             most, most == 1 ? "" : "s", processes, processes == 1 ? "" : "es",
             pinned ? "pinned" : "not pinned", number_time_text(stall, text));
    const json_t *asked = json_object_get(json_object_get(run->plan, "load"), "processes");
    if (json_is_integer(asked) && spread > (double)json_integer_value(asked))
        doc_say(doc, TONE_PLAIN,
                "These are more processes than load.processes asks for, since one may not open the "
                "files of all clients (ulimit -n)");
}

/* The order in which the locks of the same servers ran. */
static void add_order(struct doc *doc, const struct run *run) {
    const json_t *locks = json_object_get(run->plan, "locks"),
                 *seed = json_object_get(json_object_get(run->plan, "load"), "seed");
    if (!json_is_integer(seed) || json_array_size(locks) < 2) return;
    doc_say(
        doc, TONE_PLAIN,
        "Order: the locks on the same servers ran in an order drawn from the seed %" JSON_INTEGER_FORMAT,
        json_integer_value(seed));
}

static void add_skips(struct doc *doc, const struct run *run) {
    if (run->skip_count == 0) return;
    doc_list(doc, NULL);
    for (int i = 0; i < run->skip_count; i++) {
        const struct run_skip *skip = &run->skips[i];
        doc_item(doc, TONE_WARN, "Left out: ");
        doc_span(doc, DOC_STRONG, "%s", doc_or(skip->lock, doc_or(skip->backend, "?")));
        doc_span(doc, DOC_PLAIN, ": %s", doc_or(skip->reason, "no reason given"));
        if (skip->install) {
            doc_span(doc, DOC_PLAIN, "; install ");
            doc_span(doc, DOC_INLINE, "%s", skip->install);
        }
    }
    doc_end(doc);
}

static void add_facts(struct doc *doc, const json_t *facts) {
    doc_cell(doc, "%s", "");
    for (void *at = json_object_iter((json_t *)facts); at;
         at = json_object_iter_next((json_t *)facts, at)) {
        const json_t *value = json_object_iter_value(at);
        doc_span(doc, DOC_DETAIL, "%s ", json_object_iter_key(at));
        doc_span_json(doc, value);
    }
}

static void add_server_notes(struct doc *doc, const struct run *run) {
    static const struct doc_column columns[] = {
        {.title = "backend"},
        {.title = "topology"},
        {.title = "durability", .words = true},
        {.title = "started by"},
        {.title = "facts", .words = true},
        {.title = NULL},
    };
    if (run->server_count == 0) return;
    doc_table(doc, NULL, "Servers, in their own words");
    doc_set_only(doc, DOC_HTML);
    doc_columns(doc, columns);
    for (int i = 0; i < run->server_count; i++) {
        const struct run_server *server = &run->servers[i];
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", doc_or(server->backend, NUMBER_NONE));
        doc_cell(doc, "%s", doc_or(server->topology, NUMBER_NONE));
        doc_cell(doc, "%s", doc_or(server->durability, NUMBER_NONE));
        if (report_is_yours(server))
            doc_cell(doc, "you%s%s", server->url ? ": " : "", doc_or(server->url, ""));
        else
            doc_cell(doc, "%s", doc_or(server->started_by, NUMBER_NONE));
        add_facts(doc, server->facts);
    }
    doc_end(doc);
}

static void add_run_notes(struct doc *doc, const struct report *report, int r) {
    const struct run *run = report->runs[r];
    char letter[8];
    doc_heading(doc, "Run %s%s%s", report->run_count > 1 ? report_run_letter(r, letter) : "",
                report->run_count > 1 ? ": " : "",
                doc_or(run->workload, "of a workload without a name"));
    doc_say(doc, TONE_PLAIN, "%s to %s, %d stage%s, %s %s; ", doc_or(run->started_at, "undated"),
            doc_or(run->ended_at, "its end"), run->stage_count, run->stage_count == 1 ? "" : "s",
            doc_or(run->tool_name, "lockbench"),
            doc_or(run->tool_version, "of an unknown version"));
    doc_span(doc, DOC_INLINE, "%s", run->path);
    add_executor(doc, run);
    run_hosts(run, doc);
    add_order(doc, run);
    add_skips(doc, run);
    run_warnings(run, doc);
    if (run->command) {
        doc_say(doc, TONE_PLAIN, "Run it again:");
        doc_code(doc, run->command);
    }
    add_server_notes(doc, run);
    doc_tree(doc, "The machine", run->environment);
    doc_tree(doc, "The plan, with every default", run->plan);
}

void run_notes(const struct report *report, struct doc *doc) {
    doc_section(doc, "run", report->run_count > 1 ? "The runs" : "The run");
    for (int r = 0; r < report->run_count; r++) add_run_notes(doc, report, r);
    doc_end(doc);
}
