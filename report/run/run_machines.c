/* run_machines: the basis of the figures, run beside run: machine, build, servers' versions and
 * durabilities. Differences between the runs are marked, because figures with different bases need
 * care when they are compared. See run_doc.h. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/run_doc.h"

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
