/* run_ran: what ran where: locks and servers in sentences, machines and builds side by side. See
 * run_doc.h. */
#define _GNU_SOURCE
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/differ.h"

/* ---- sentences ---- */

#define SERVERS_SAID 6
#define UNLIKE_SAID 6 /* differences of two plans */

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

/* Adds what ran on which servers, a line for each run. */
static void say_ran(struct doc *doc, const struct report *report) {
    char letter[8], of_asked[24], machine[WORDS_MACHINE_MAX];
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        int locks = 0;
        for (int i = 0; i < report->lock_count; i++) locks += report->locks[i].run == r;
        int asked = locks + report_count_not_reached(run);
        if (asked > locks)
            snprintf(of_asked, sizeof of_asked, " of %d", asked);
        else
            of_asked[0] = '\0';
        doc_say(doc, TONE_PLAIN, "%s%s: %s, %d%s lock%s in %d stage%s",
                report->run_count > 1 ? "Run " : "Ran",
                report->run_count > 1 ? report_run_letter(r, letter) : "",
                doc_or(run->workload, "a workload without a name"), locks, of_asked,
                asked == 1 ? "" : "s", run->stage_count, run->stage_count == 1 ? "" : "s");
        add_server_names(doc, run);
        words_machine(run->environment, machine, sizeof machine);
        doc_span(doc, DOC_PLAIN, "%s%s%s.", *machine ? "; " : "",
                 *machine && json_array_size(run->hosts) > 0 ? "coordinator (rank 0) on " : "",
                 machine);
    }
}

/* Where the clients of a run were. */
static const char *place_of_clients(const struct run *run, char text[40]) {
    size_t hosts = 0;
    for (int s = 0; s < run->stage_count; s++) {
        size_t count = json_array_size(run->stages[s].hosts);
        if (count > hosts) hosts = count;
    }
    snprintf(text, 40, hosts == 0 ? "one machine" : "%zu load host%s", hosts,
             hosts == 1 ? "" : "s");
    return text;
}

/* Locks of such runs stand in one table, but their clients met under other conditions. */
static void say_unlike_hosts(struct doc *doc, const struct report *report) {
    char first[40], other[40], letter[2][8];
    for (int r = 1; r < report->run_count; r++) {
        place_of_clients(report->runs[0], first);
        if (strcmp(first, place_of_clients(report->runs[r], other)) == 0) continue;
        doc_say(
            doc, TONE_WARN,
            "The clients of run %s were on %s, those of run %s on %s: a difference between their locks may "
            "come from that alone.",
            report_run_letter(0, letter[0]), first, report_run_letter(r, letter[1]), other);
        return;
    }
}

/* True if a table has rows of both runs. */
static bool share_a_table(const struct report *report, int a, int b) {
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        bool has_a = false, has_b = false;
        for (int r = 0; r < group->row_count; r++) {
            int run = report->locks[group->rows[r].lock].run;
            has_a |= run == a;
            has_b |= run == b;
        }
        if (has_a && has_b) return true;
    }
    return false;
}

/* True for a difference that makes no figures of one table incomparable: names, seeds, the number of repeats, and which
 * locks and loads were chosen, since each of these has rows or tables of its own. */
static bool is_choice(const char *path, const char *was, const char *is) {
    static const char *const choices[] = {"plan.workload",     "plan.locks",      "plan.load.seed",
                                          "plan.load.clients", "plan.run.repeat", "plan.slo"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strncmp(path, choices[i], strlen(choices[i])) == 0) return true;
    /* the options of a lock that one of them did not have */
    bool one_only = strcmp(was, DIFFER_NONE) == 0 || strcmp(is, DIFFER_NONE) == 0;
    return one_only && strncmp(path, "plan.options", strlen("plan.options")) == 0;
}

/* The sentence about two runs, and the differences in it so far. */
struct unlike {
    struct doc *doc;
    const char *first, *other; /* letters of the runs */
    int count;
};

static int add_unlike(void *to, const char *path, const char *was, const char *is) {
    struct unlike *unlike = to;
    if (is_choice(path, was, is)) return 0;
    if (unlike->count++ == 0)
        doc_say(unlike->doc, TONE_WARN,
                "Tables have rows of runs %s and %s, whose plans differ: ", unlike->first,
                unlike->other);
    if (unlike->count <= UNLIKE_SAID)
        doc_span(unlike->doc, DOC_PLAIN, "%s%s %s and %s", unlike->count > 1 ? ", " : "",
                 path + strlen("plan."), was, is);
    return 0;
}

/* A table has the rows of one load, but its text leaves out much of a plan: leases, timeouts, lengths of runs, options. */
static void say_unlike_plans(struct doc *doc, const struct report *report) {
    char letter[2][8];
    for (int r = 1; r < report->run_count; r++) {
        struct unlike unlike = {.doc = doc,
                                .first = report_run_letter(0, letter[0]),
                                .other = report_run_letter(r, letter[1])};
        const json_t *base = report->runs[0]->plan, *new = report->runs[r]->plan;
        if (!base || !new || !share_a_table(report, 0, r)) continue;
        if (differ_objects("plan", base, new, add_unlike, &unlike) != 0) doc->failed = true;
        if (unlike.count > UNLIKE_SAID)
            doc_span(doc, DOC_PLAIN, " and %d more", unlike.count - UNLIKE_SAID);
        if (unlike.count > 0) doc_span(doc, DOC_PLAIN, ".");
    }
}

/* The number of runs from `from` to the one before `to` that have the plan of run r. */
static int count_same_plan(const struct report *report, int r, int from, int to) {
    int count = 0;
    for (int other = from; other < to; other++) count += report_same_plan(report, r, other);
    return count;
}

/* A reader of repeats expects medians; the rows of such runs are not ranked (report_group.repeated). */
static void say_same_plan(struct doc *doc, const struct report *report) {
    char letter[8];
    for (int r = 0; r < report->run_count; r++) {
        int count = count_same_plan(report, r, r, report->run_count);
        if (count < 2 || count_same_plan(report, r, 0, r) > 0) continue;
        doc_say(
            doc, TONE_WARN,
            "%d runs have the same plan, that of run %s. Their rows of one lock differ by chance, or "
            "because the machine, the servers or lockbench changed, so nothing is ranked beside them. For medians, "
            "repeat within a run (run.repeat); lockbench compare judges two sets of runs.",
            count, report_run_letter(r, letter));
        doc_set_shown(doc);
    }
}

void run_ran(const struct report *report, struct doc *doc) {
    say_ran(doc, report);
    say_unlike_hosts(doc, report);
    say_unlike_plans(doc, report);
    say_same_plan(doc, report);
}

/* ---- the machines ---- */

#define LINES_MAX 200 /* the most rows of a table whose names come from a file */

/* One line of the table: a name, and the backend of the server that it is about; NULL: the
 * machine. */
struct line {
    const char *name, *backend;
};

/* A scalar as text; malloced, NULL if the value is no scalar. */
static char *scalar_text(const json_t *value) {
    char *text = NULL;
    int length = 0;
    if (json_is_string(value)) return strdup(json_string_value(value));
    if (json_is_boolean(value)) return strdup(json_is_true(value) ? "yes" : "no");
    if (json_is_integer(value)) {
        length = asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        length = asprintf(&text, "%.6g", json_real_value(value));
    }
    return length < 0 ? NULL : text;
}

/* A backend's servers in a run, in words: "redis 7.0.15; in memory, ...". */
static char *server_text(const struct run *run, const char *backend) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    for (int i = 0; i < run->server_count; i++) {
        const struct run_server *server = &run->servers[i];
        const char *version = report_server_version(server);
        if (!server->backend || strcmp(server->backend, backend) != 0) continue;
        fprintf(out, "%s%s%s%s; %s; ", ftell(out) > 0 ? " / " : "", report_server_name(server),
                version ? " " : "", version ? version : "",
                server->durability ? server->durability : "durability not stated");
        if (report_is_yours(server))
            fprintf(out, "yours%s%s", server->url ? ": " : "", server->url ? server->url : "");
        else
            fprintf(out, "started by %s",
                    server->started_by ? server->started_by : "whom is not stated");
    }
    if (fclose(out)) return NULL;
    if (text && *text) return text;
    free(text);
    return NULL;
}

static char *cell_text(const struct run *run, const struct line *line) {
    return line->backend ? server_text(run, line->backend)
                         : scalar_text(json_object_get(run->environment, line->name));
}

static void add_machine_line(struct line *lines, int *count, const char *name,
                             const char *backend) {
    for (int i = 0; i < *count; i++) {
        if (strcmp(lines[i].name, name) == 0 && !lines[i].backend == !backend) return;
    }
    if (*count < LINES_MAX) lines[(*count)++] = (struct line){name, backend};
}

/* Collects every name that a run has, the machine's first. */
static int collect_lines(const struct report *report, struct line *lines) {
    int count = 0;
    for (int r = 0; r < report->run_count; r++) {
        json_t *environment = (json_t *)report->runs[r]->environment;
        for (void *at = json_object_iter(environment); at;
             at = json_object_iter_next(environment, at)) {
            const json_t *value = json_object_iter_value(at);
            if (!json_is_object(value) && !json_is_array(value))
                add_machine_line(lines, &count, json_object_iter_key(at), NULL);
        }
    }
    for (int r = 0; r < report->run_count; r++) {
        for (int i = 0; i < report->runs[r]->server_count; i++) {
            const char *backend = report->runs[r]->servers[i].backend;
            if (backend) add_machine_line(lines, &count, backend, backend);
        }
    }
    return count;
}

static void add_machine_row(struct doc *doc, const struct report *report, const struct line *line) {
    char *first = cell_text(report->runs[0], line);
    bool differs = false;
    for (int r = 1; r < report->run_count; r++) {
        char *text = cell_text(report->runs[r], line);
        differs |= !text != !first || (text && strcmp(text, first) != 0);
        free(text);
    }
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", line->name);
    if (differs) doc_chip(doc, DOC_MARK, TONE_WARN, "!", "differs", NULL);
    for (int r = 0; r < report->run_count; r++) {
        char *text = cell_text(report->runs[r], line);
        doc_cell(doc, "%s", text ? text : NUMBER_NONE);
        free(text);
    }
    free(first);
}

static void add_run_columns(struct doc *doc, const struct report *report) {
    char letter[8], title[200];
    doc_column(doc, &(struct doc_column){.title = "what"});
    for (int r = 0; r < report->run_count; r++) {
        const char *when = report->runs[r]->started_at;
        snprintf(title, sizeof title, "%s%s%s",
                 report->run_count > 1 ? report_run_letter(r, letter) : "",
                 report->run_count > 1 ? ": " : "", when ? when : "undated");
        doc_column(doc, &(struct doc_column){.title = title, .words = true});
    }
}

static bool has_moved(const struct run *run) {
    return json_is_true(json_object_get(run->canary, "moved"));
}

bool run_machine_changed(const struct report *report) {
    bool moved = false;
    for (int r = 0; r < report->run_count; r++) moved |= has_moved(report->runs[r]);
    return moved;
}

void run_machine_moved(const struct report *report, struct doc *doc) {
    for (int r = 0; r < report->run_count; r++) {
        if (!has_moved(report->runs[r])) continue;
        double part = json_number_value(json_object_get(report->runs[r]->canary, "moved_by"));
        doc_say(doc, TONE_WARN,
                "THE MACHINE CHANGED: without a lock the load generator was %.0f %% %s after the "
                "run than before it. A comparison of locks that ran at different times is void: "
                "run them again.",
                100 * fabs(part), part < 0 ? "slower" : "faster");
        doc_set_shown(doc);
    }
}

void run_machines(const struct report *report, struct doc *doc) {
    struct line lines[LINES_MAX];
    int count = collect_lines(report, lines);
    doc_section(doc, "environment", "Environment: what it was measured on");
    doc_set_only(doc, DOC_HTML);
    if (count == 0) {
        doc_say(
            doc, TONE_PLAIN,
            "The runs do not describe their machine: they were not written by lockbench, or were "
            "shortened. Every run of lockbench describes it.");
    } else {
        doc_table(doc, NULL, "Machine, build and servers");
        add_run_columns(doc, report);
        for (int i = 0; i < count; i++) add_machine_row(doc, report, &lines[i]);
        doc_end(doc);
    }
    doc_end(doc);
}
