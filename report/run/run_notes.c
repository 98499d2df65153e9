/* run_notes: what ran where: servers, and load hosts with the uncertainty of their clocks; the run, its warnings, the locks
 * that were left out, the command that repeats it. See run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"

/* ---- what ran where ---- */

#define SERVERS_SAID 6

/* True if an earlier server of the run has the same name and version, so that its sentence would be
 * said twice: a server that was started again, on another port or behind a wire. */
static bool is_same_again(const struct run *run, int server) {
    const struct run_server *mine = &run->servers[server];
    for (int i = 0; i < server; i++) {
        const struct run_server *other = &run->servers[i];
        if (strcmp(report_server_name(mine), report_server_name(other)) == 0 &&
            strcmp(doc_or(report_server_version(mine), ""),
                   doc_or(report_server_version(other), "")) == 0 &&
            report_is_yours(mine) == report_is_yours(other) &&
            (!report_is_yours(mine) || strcmp(doc_or(mine->url, ""), doc_or(other->url, "")) == 0))
            return true;
    }
    return false;
}

/* Adds "redis 7.0.15, zookeeper 3.8.0 and 3 more". An embedded backend has no server. */
static void add_server_names(struct doc *doc, const struct run *run) {
    int count = 0;
    for (int i = 0; i < run->server_count; i++) {
        const struct run_server *server = &run->servers[i];
        if (server->topology && strcmp(server->topology, "embedded") == 0) continue;
        if (is_same_again(run, i) || count++ >= SERVERS_SAID) continue;
        const char *version = report_server_version(server);
        bool yours = report_is_yours(server);
        doc_span(doc, DOC_PLAIN, "%s%s%s%s", count == 1 ? " on " : ", ", report_server_name(server),
                 version ? " " : "", version ? version : "");
        if (yours)
            doc_span(doc, DOC_PLAIN, " (yours%s%s)", server->url ? ": " : "",
                     doc_or(server->url, ""));
    }
    if (count > SERVERS_SAID) doc_span(doc, DOC_PLAIN, " and %d more", count - SERVERS_SAID);
}

void run_ran(const struct report *report, struct doc *doc) {
    const struct run *run = report->run;
    char of_asked[24] = "", machine[WORDS_MACHINE_MAX];
    int locks = report->lock_count, asked = locks + report_count_not_reached(run);
    if (asked > locks) snprintf(of_asked, sizeof of_asked, " of %d", asked);
    doc_say(doc, TONE_PLAIN, "Ran: %s, %d%s lock%s in %d stage%s",
            doc_or(run->workload, "a workload without a name"), locks, of_asked,
            asked == 1 ? "" : "s", run->stage_count, run->stage_count == 1 ? "" : "s");
    add_server_names(doc, run);
    words_machine(run->environment, machine, sizeof machine);
    doc_span(doc, DOC_PLAIN, "%s%s%s.", *machine ? "; " : "",
             *machine && json_array_size(run->hosts) > 0 ? "coordinator (rank 0) on " : "",
             machine);
}

/* ---- load hosts, each with the worst of its stages ---- */

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
                                 .offset_ns = result_number(host, "clock_offset_ns"),
                                 .error_ns = NAN,
                                 .grants = NAN,
                                 .hiccup_ns = NAN};
    }
    row->clients = fmax(row->clients, result_number(host, "clients"));
    row->error_ns = fmax(row->error_ns, result_number(host, "clock_error_ns"));
    double grants = result_number(host, "grants");
    if (!isnan(grants)) row->grants = isnan(row->grants) ? grants : row->grants + grants;
    row->hiccup_ns = fmax(row->hiccup_ns, result_number(host, "hiccup_p99_ns"));
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
        fmax(most_ns, result_number(host, "clock_error_ns"));
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

static const struct doc_column host_columns[] = {
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

static void run_hosts(const struct run *run, struct doc *doc) {
    struct host_row rows[RUN_HOSTS_MAX] = {0};
    int count = collect_hosts(run, rows);
    if (count == 0) return;
    doc_table(doc, NULL, "Load hosts");
    doc_columns(doc, host_columns);
    for (int i = 0; i < count; i++) add_host_row(doc, run, &rows[i], i + 1);
    doc_end(doc);
}

/* ---- warnings ---- */

#define WARNINGS_OPEN 8 /* more of them are folded in the page */

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

static void add_warning(struct doc *doc, const char *name, const char *text) {
    doc_item(doc, TONE_WARN, "Warning: ");
    if (name) doc_span(doc, DOC_STRONG, "%s", name);
    doc_span(doc, DOC_PLAIN, "%s%s", name ? ": " : "", doc_or(text, "?"));
}

/* Those of the stages; controls and baselines last, since nobody chooses them. doc may be NULL. Returns how many. */
static int stage_warnings(const struct run *run, bool real, struct doc *doc) {
    int count = 0;
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        const char *name = doc_or(stage->id, stage->lock), *error = new_error(run, stage);
        size_t i;
        json_t *warning;
        if (report_is_real(stage) != real) continue;
        if (error && doc) add_warning(doc, name, error);
        json_array_foreach(stage->warnings, i, warning) if (doc)
            add_warning(doc, name, json_string_value(warning));
        count += (error != NULL) + (int)json_array_size(stage->warnings);
    }
    return count;
}

/* The warnings of the run and of its stages, and what stages failed with. */
static void run_warnings(const struct run *run, struct doc *doc) {
    size_t i;
    json_t *warning;
    int count = (int)json_array_size(run->warnings) + stage_warnings(run, true, NULL) +
                stage_warnings(run, false, NULL);
    if (count == 0) return;
    doc_fold(doc, count <= WARNINGS_OPEN, "Warnings and failures (%d)", count);
    doc_list(doc);
    json_array_foreach(run->warnings, i, warning) {
        add_warning(doc, NULL, json_string_value(warning));
    }
    stage_warnings(run, true, doc);
    stage_warnings(run, false, doc);
    doc_end(doc);
    doc_end(doc);
}

/* ---- notes ---- */

static void add_skips(struct doc *doc, const struct run *run) {
    if (run->skip_count == 0) return;
    doc_list(doc);
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

void run_notes(const struct report *report, struct doc *doc) {
    const struct run *run = report->run;
    doc_section(doc, "run", "The run");
    doc_heading(doc, "Run %s", doc_or(run->workload, "of a workload without a name"));
    doc_say(doc, TONE_PLAIN, "%s to %s, %d stage%s, %s %s; ", doc_or(run->started_at, "undated"),
            doc_or(run->ended_at, "its end"), run->stage_count, run->stage_count == 1 ? "" : "s",
            doc_or(run->tool_name, "lockbench"),
            doc_or(run->tool_version, "of an unknown version"));
    doc_span(doc, DOC_INLINE, "%s", run->path);
    run_hosts(run, doc);
    add_skips(doc, run);
    run_warnings(run, doc);
    if (run->command) {
        doc_say(doc, TONE_PLAIN, "Run it again:");
        doc_code(doc, run->command);
    }
    doc_end(doc);
}
