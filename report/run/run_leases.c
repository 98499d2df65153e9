/* run_leases: the cost of a longer lease after a crash, and of a shorter lease under pauses. See run_doc.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/run_doc.h"

/* A lock with one of its leases, under one load. */
struct step {
    const struct report_row *row;
    double clients;
};

static int by_lease(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    double p = x->row->typical->lease_ns, q = y->row->typical->lease_ns;
    if (x->row->lock != y->row->lock) return x->row->lock - y->row->lock;
    if (x->clients != y->clients) return x->clients < y->clients ? -1 : 1;
    return (p > q) - (p < q);
}

/* Collects the rows of runs that have several leases; steps may be NULL. Returns how many there
 * are. */
static int gather(const struct report *report, struct step *steps) {
    int count = 0;
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        for (int r = 0; r < group->row_count; r++) {
            if (!group->rows[r].typical->lease_varies) continue;
            if (steps)
                steps[count] = (struct step){.row = &group->rows[r], .clients = group->clients};
            count++;
        }
    }
    return count;
}

/* The pauses of holders that acted, over all repeats. */
static int count_pauses(const struct report_row *row) {
    int count = 0;
    for (int s = 0; s < row->repeats; s++) {
        size_t i;
        json_t *fault;
        json_array_foreach(row->stages[s]->faults, i, fault) {
            const char *kind = json_string_value(json_object_get(fault, "kind"));
            count +=
                kind && strcmp(kind, "pause") == 0 && json_is_true(json_object_get(fault, "acted"));
        }
    }
    return count;
}

static const struct doc_column columns[] = {
    {.title = "lock"},
    {.title = "clients", .figure = DOC_COUNT},
    {.title = "lease", .help = "lease, or session, that was asked for", .figure = DOC_TIME},
    {.title = "after a crash, p50",
     .brief = "crash p50",
     .help = "from the kill of a holder to the next grant of its key: for so long the key is "
             "unavailable",
     .figure = DOC_TIME},
    {.title = "after a crash, max", .brief = "crash max", .figure = DOC_TIME},
    {.title = "crashes",
     .help = "killed holders whose key another client got",
     .figure = DOC_COUNT},
    {.title = "never",
     .help = "keys of stopped holders that nobody got any more",
     .figure = DOC_COUNT},
    {.title = "pauses", .help = "holders that were paused", .figure = DOC_COUNT},
    {.title = "expired holders",
     .brief = "expired",
     .help = "grants that came in while a holder was still there past the end of its lease",
     .figure = DOC_COUNT},
    {.title = NULL},
};

static void add_step(struct doc *doc, const struct report *report, const struct step *step) {
    const struct run_stage *figures = &step->row->figures;
    doc_row(doc, report_is_real(step->row->typical) ? DOC_ROW : DOC_ASIDE);
    doc_cell(doc, "%s", report->locks[step->row->lock].label);
    doc_figure(doc, step->clients);
    doc_figure(doc, step->row->typical->lease_ns);
    doc_figure(doc, figures->crash_p50);
    doc_figure(doc, figures->crash_max);
    doc_figure(doc, figures->crash_count);
    doc_figure(doc, figures->unrecovered);
    doc_figure(doc, count_pauses(step->row));
    doc_figure(doc, figures->expired_holders);
}

void run_leases(const struct report *report, struct doc *doc) {
    int count = gather(report, NULL);
    if (count == 0) return;
    struct step *steps = calloc((size_t)count, sizeof *steps);
    if (!steps) {
        doc->failed = true;
        return;
    }
    gather(report, steps);
    qsort(steps, (size_t)count, sizeof *steps, by_lease);
    doc_section(doc, "leases", "How long a lease?");
    doc_say(
        doc, TONE_PLAIN,
        "The same load with several leases (acquire.lease). A key whose holder died is unavailable until its lease "
        "ends: that asks for a short lease. A holder that stands still for longer than its lease meets another "
        "holder: that asks for a long one. Servers round leases and sessions up to what they can.");
    doc_table(doc, "figures", NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < count; i++) add_step(doc, report, &steps[i]);
    doc_end(doc);
    doc_end(doc);
    free(steps);
}
