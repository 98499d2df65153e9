/* trend_ack: changes that people have acknowledged, and that a gate ignores. The file is kept in
 * git, so its history says who accepted what and when. It refuses a line without a reason. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/base/utf8.h"
#include "report/trend/trend_parts.h"
#include "results/format/tree.h"

#define BLANKS " \t\r"

/* Cuts the next word off. NULL at the end. */
static char *next_word(char **at) {
    char *word = *at + strspn(*at, BLANKS);
    if (!*word) return NULL;
    char *end = word + strcspn(word, BLANKS);
    *at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool is_figure(const char *name) {
    if (strcmp(name, "*") == 0) return true;
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(name, compare_metric(m)->compared) == 0) return true;
    }
    return false;
}

static int read_ack(struct trend_acks *acks, char *line, int number, struct lb_err *err) {
    struct trend_ack ack = {0};
    ack.where = next_word(&line);
    if (!ack.where || *ack.where == '#') return 0;
    ack.lock = next_word(&line);
    ack.figure = ack.lock ? next_word(&line) : NULL;
    ack.why = ack.figure ? line + strspn(line, BLANKS) : "";
    if (!*ack.why)
        return err_set(err, LB_EXIT_USAGE,
                       "%s:%d: expected COMMIT-OR-RUN LOCK FIGURE and why the change is accepted",
                       acks->path, number);
    if (!is_figure(ack.figure))
        return err_set(
            err, LB_EXIT_USAGE,
            "%s:%d: no figure is called '%.40s': the history's first line has the names, "
            "and * means all of them",
            acks->path, number, ack.figure);
    if (!utf8_is_valid(ack.why))
        return err_set(err, LB_EXIT_USAGE, "%s:%d: '%.40s' is no UTF-8", acks->path, number,
                       ack.why);
    struct trend_ack *more = realloc(acks->items, (size_t)(acks->count + 1) * sizeof *more);
    if (!more) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    acks->items = more;
    acks->items[acks->count++] = ack;
    return 0;
}

struct trend_acks *trend_acks_parse(char *text, const char *path, struct lb_err *err) {
    struct trend_acks *acks = calloc(1, sizeof *acks);
    if (!acks) {
        free(text);
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    acks->buffer = text;
    acks->path = strdup(path);
    int failed = acks->path ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory"), number = 0;
    for (char *rest = text, *line; !failed && (line = strsep(&rest, "\n"));)
        failed = read_ack(acks, line, ++number, err);
    if (!failed) return acks;
    trend_acks_free(acks);
    return NULL;
}

struct trend_acks *trend_acks_read(const char *path, struct lb_err *err) {
    size_t length;
    char *text = tree_file(path, "a file of acknowledged changes",
                           "lines of COMMIT-OR-RUN LOCK FIGURE WHY", &length, err);
    return text ? trend_acks_parse(text, path, err) : NULL;
}

void trend_acks_free(struct trend_acks *acks) {
    if (!acks) return;
    free(acks->items);
    free(acks->buffer);
    free(acks->path);
    free(acks);
}

/* The place where a change is found may move by a run or two as more runs follow. */
static bool is_near(const struct trend_ack *ack, const struct trend_series *series, int line) {
    for (int i = line - TREND_LEVEL + 1; i < line + TREND_LEVEL; i++) {
        if (i < 0 || i >= series->count) continue;
        const char *const *text = (const char *const *)series->lines[i]->text;
        if (strcmp(ack->where, text[TREND_COMMIT]) == 0 || strcmp(ack->where, text[TREND_RUN]) == 0)
            return true;
    }
    return false;
}

static bool is_word(const char *pattern, const char *word) {
    return strcmp(pattern, "*") == 0 || strcmp(pattern, word) == 0;
}

const char *trend_acks_why(const struct trend_acks *acks, const struct trend_series *series,
                           int metric, const struct change_point *change) {
    const char *lock = series->lines[0]->text[TREND_LOCK];
    int line = series->figure[metric].lines[change->index];
    for (int i = 0; acks && i < acks->count; i++) {
        const struct trend_ack *ack = &acks->items[i];
        if (is_word(ack->lock, lock) && is_word(ack->figure, compare_metric(metric)->compared) &&
            is_near(ack, series, line))
            return ack->why;
    }
    return NULL;
}
