/* html_environment: what the numbers were measured on, run beside run: machine, build, servers'
 * versions and durabilities. What differs between the runs is marked: such numbers are not to be
 * compared without a thought. See html_views.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "report/page/html_parts.h"
#include "report/page/html_views.h"

#define LINES_MAX 200 /* of a table of what a file has in it */

/* One line of the table: a name, and how it reads in a run. */
struct line {
    const char *name;
    const char *of; /* a server's backend; NULL = the machine's */
};

/* A scalar as text; malloced, NULL for what is none. */
static char *text_of(const json_t *value) {
    char *text = NULL;
    if (json_is_string(value)) return strdup(json_string_value(value));
    if (json_is_boolean(value)) return strdup(json_is_true(value) ? "yes" : "no");
    if (json_is_integer(value))
        return asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value)) < 0 ? NULL
                                                                                       : text;
    if (json_is_real(value))
        return asprintf(&text, "%.6g", json_real_value(value)) < 0 ? NULL : text;
    return NULL;
}

/* A backend's server in a run, in words: "redis 7.0.15; in memory, ...". */
static char *server_text(const struct run *run, const char *backend) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    for (int i = 0; i < run->server_count; i++) {
        const struct run_server *server = &run->servers[i];
        const char *version = report_server_version(server);
        if (!server->backend || strcmp(server->backend, backend) != 0) continue;
        fprintf(out, "%s%s%s%s; %s; started by %s", ftell(out) > 0 ? " / " : "",
                server->topology ? server->topology : "topology not stated", version ? " " : "",
                version ? version : "",
                server->durability ? server->durability : "durability not stated",
                server->started_by ? server->started_by : "whom is not stated");
    }
    if (fclose(out)) return NULL;
    if (text && *text) return text;
    free(text);
    return NULL;
}

static char *cell_of(const struct run *run, const struct line *line) {
    return line->of ? server_text(run, line->of)
                    : text_of(json_object_get(run->environment, line->name));
}

static void add_line(struct line *lines, int *count, const char *name, const char *of) {
    for (int i = 0; i < *count; i++) {
        if (strcmp(lines[i].name, name) == 0 && !lines[i].of == !of) return;
    }
    if (*count < LINES_MAX) lines[(*count)++] = (struct line){name, of};
}

/* Every name that any run has; the machine's first. */
static int collect(const struct report *report, struct line *lines) {
    int count = 0;
    for (int r = 0; r < report->run_count; r++) {
        json_t *environment = (json_t *)report->runs[r]->environment;
        for (void *at = json_object_iter(environment); at;
             at = json_object_iter_next(environment, at)) {
            if (!json_is_object(json_object_iter_value(at)) &&
                !json_is_array(json_object_iter_value(at)))
                add_line(lines, &count, json_object_iter_key(at), NULL);
        }
    }
    for (int r = 0; r < report->run_count; r++) {
        for (int i = 0; i < report->runs[r]->server_count; i++) {
            const char *backend = report->runs[r]->servers[i].backend;
            if (backend) add_line(lines, &count, backend, backend);
        }
    }
    return count;
}

static void write_line(FILE *out, const struct report *report, const struct line *line) {
    char *first = cell_of(report->runs[0], line);
    bool differs = false;
    for (int r = 1; r < report->run_count; r++) {
        char *text = cell_of(report->runs[r], line);
        differs |= !text != !first || (text && strcmp(text, first) != 0);
        free(text);
    }
    fputs("<tr><th scope=\"row\">", out);
    escape_html(out, line->name);
    if (differs) fputs(" <span class=\"chip warn\">differs</span>", out);
    fputs("</th>", out);
    for (int r = 0; r < report->run_count; r++) {
        char *text = r == 0 ? NULL : cell_of(report->runs[r], line);
        fputs("<td class=\"words long\">", out);
        escape_html(out, r == 0 ? first : text);
        fputs("</td>", out);
        free(text);
    }
    free(first);
    fputs("</tr>\n", out);
}

void html_environment(FILE *out, const struct report *report) {
    struct line lines[LINES_MAX];
    char letter[8];
    int count = collect(report, lines);
    html_section(out, "environment", "Environment: what it was measured on");
    if (count == 0) {
        fputs(
            "<p class=\"empty\">The runs say nothing of their machine: they were not written by lockbench, "
            "or "
            "were cut down. Any run of lockbench does.</p>\n</section>\n",
            out);
        return;
    }
    fputs(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures\"><caption>Machine, build and "
        "servers</caption><thead><tr><th scope=\"col\">what</th>",
        out);
    for (int r = 0; r < report->run_count; r++) {
        fputs("<th scope=\"col\">", out);
        if (report->run_count > 1) fprintf(out, "%s: ", report_run_letter(r, letter));
        escape_html(out, report->runs[r]->started_at ? report->runs[r]->started_at : "undated");
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < count; i++) write_line(out, report, &lines[i]);
    fputs("</tbody></table></div>\n</section>\n", out);
}
