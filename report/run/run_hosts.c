/* run_hosts: the load hosts of a run on several machines, each with the worst of its stages, and
 * the uncertainty of their clocks. See run_doc.h. */
#include <math.h>
#include <string.h>

#include "bench/base/clock.h"
#include "report/run/run_doc.h"
#include "report/run/words.h"
#include "results/format/tree.h"

/* One host, over all stages. */
struct host_row {
    const char *name, *lost;
    double clients, offset_ns, error_ns, grants, hiccup_ns;
};

static void add_host_stage(struct host_row *row, const json_t *host, bool first) {
    const char *lost = json_string_value(json_object_get(host, "lost"));
    if (first) {
        *row = (struct host_row){.name = json_string_value(json_object_get(host, "name")),
                                 .clients = NAN,
                                 .offset_ns = tree_number(host, "clock_offset_ns"),
                                 .error_ns = NAN,
                                 .grants = NAN,
                                 .hiccup_ns = NAN};
    }
    row->clients = fmax(row->clients, tree_number(host, "clients"));
    row->error_ns = fmax(row->error_ns, tree_number(host, "clock_error_ns"));
    double grants = tree_number(host, "grants");
    if (!isnan(grants)) row->grants = isnan(row->grants) ? grants : row->grants + grants;
    row->hiccup_ns = fmax(row->hiccup_ns, tree_number(host, "hiccup_p99_ns"));
    if (lost) row->lost = lost;
}

/* Returns how many there are. */
static int collect_hosts(const struct run *run, struct host_row *rows) {
    int count = 0;
    for (int s = 0; s < run->stage_count; s++) {
        size_t i;
        const json_t *host;
        json_array_foreach(run->stages[s].hosts, i, host) {
            if (i >= RUN_HOSTS_MAX) break;
            add_host_stage(&rows[i], host, (int)i >= count);
            if ((int)i >= count) count = (int)i + 1;
        }
    }
    return count;
}

/* The longest time of one stage; NAN for a stage on one machine. */
static double unseen_ns(const struct run_stage *stage) {
    double most_ns = NAN;
    size_t i;
    const json_t *host;
    json_array_foreach(stage->hosts, i, host) most_ns =
        fmax(most_ns, tree_number(host, "clock_error_ns"));
    return LB_UNSEEN_ERRORS * most_ns;
}

double run_hosts_lock_unseen_ns(const struct report *report, const struct report_lock *lock) {
    const struct run *run = report->run;
    double most_ns = NAN;
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        if (report_is_of(lock, stage) && json_array_size(stage->hosts) > 1)
            most_ns = fmax(most_ns, unseen_ns(stage));
    }
    return most_ns;
}

static const struct doc_column columns[] = {
    {.title = "host", .words = true},
    {.title = "clients", .figure = DOC_COUNT},
    {.title = "grants", .help = "in the windows of all stages", .figure = DOC_COUNT},
    {.title = "clock ahead",
     .help = "of the coordinator's, in the first stage",
     .figure = DOC_TIME},
    {.title = "error",
     .brief = "+/-",
     .help = "by how much that may be wrong, in the worst stage",
     .figure = DOC_TIME},
    {.title = "timers late",
     .brief = "timers",
     .help = "how late timers were, p99 of the worst stage",
     .figure = DOC_TIME},
    {.title = "lost", .words = true},
    {.title = "machine", .brief = "", .below = true, .words = true},
    {.title = NULL},
};

/* The machine of a load host as people read it; "" if the file does not tell. */
static char *machine_of(const struct run *run, size_t host, char text[WORDS_MACHINE_MAX]) {
    const json_t *of = json_array_get(run->hosts, host);
    return words_machine(json_object_get(of, "environment"), text, WORDS_MACHINE_MAX);
}

static void add_host_row(struct doc *doc, const struct run *run, const struct host_row *row,
                         int number) {
    char machine[WORDS_MACHINE_MAX];
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%d %s", number, row->name ? row->name : "");
    doc_figure(doc, row->clients);
    doc_figure(doc, row->grants);
    doc_figure(doc, row->offset_ns);
    doc_figure(doc, row->error_ns);
    doc_figure(doc, row->hiccup_ns);
    doc_cell(doc, "%s", row->lost ? row->lost : "");
    doc_cell(doc, "%s", machine_of(run, (size_t)number - 1, machine));
}

void run_hosts_say_lost(const struct run *run, struct doc *doc) {
    struct host_row rows[RUN_HOSTS_MAX] = {0};
    int count = collect_hosts(run, rows);
    for (int i = 0; i < count; i++) {
        if (!rows[i].lost) continue;
        doc_say(doc, TONE_WARN,
                "The record of host %d (%s) is missing: an overlap with its clients can't be seen.",
                i + 1, doc_or(rows[i].name, "?"));
    }
}

void run_hosts(const struct run *run, struct doc *doc) {
    struct host_row rows[RUN_HOSTS_MAX] = {0};
    int count = collect_hosts(run, rows);
    if (count == 0) return;
    doc_table(doc, NULL, "Load hosts");
    doc_columns(doc, columns);
    for (int i = 0; i < count; i++) add_host_row(doc, run, &rows[i], i + 1);
    doc_end(doc);
}
