/* trend_append: the medians of runs as lines of a history's file. See trend.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/utf8.h"
#include "report/doc/escape.h"
#include "report/run/model.h"
#include "report/run/words.h"
#include "report/trend/trend_parts.h"
#include "results/format/run_folder.h"
#include "results/stats/rank.h"

/* A stage of a line that is being made; its texts are in one block. The first stage of a line gets the line's
 * figures. */
struct fresh {
    struct trend_line line;
    char *texts;
    const struct run *run;
    const struct run_stage *stage;
    int place;
};

struct list {
    struct fresh *item;
    int count, room;
};

/* FNV-1a. Machines of the same kind have the same eight digits. */
static unsigned hash(const char *text) {
    unsigned value = 2166136261u;
    for (; *text; text++) value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

/* The option with the command of the program under test (drivers/exec). A history is there to show what a new
 * build of this program changes, and each build may have a path of its own. */
#define PROGRAM_OPTION "program"

/* Mixes a lock's or a backend's options, if there are any, into a hash. -1: out of memory. */
static int hash_options(unsigned *value, const json_t *options) {
    if (!options) return 0;
    json_t *rest = json_copy((json_t *)options); /* a cast, since jansson takes no const here */
    if (rest) json_object_del(rest, PROGRAM_OPTION);
    char *text = rest ? json_dumps(rest, JSON_SORT_KEYS | JSON_COMPACT) : NULL, with[16];
    json_decref(rest);
    if (!text) return -1;
    snprintf(with, sizeof with, "%08x", *value);
    *value = hash(with) ^ hash(text);
    free(text);
    return 0;
}

static void hash_machine(unsigned *value, const json_t *environment) {
    static const char *const parts[] = {"cpu_model", "cpus", "clock_source", "governor", "build"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(environment, parts[i]);
        /* the usable processors: a container with two of 64 is another machine than one with all */
        const json_t *usable = json_object_get(environment, "cpus_usable");
        if (usable && strcmp(parts[i], "cpus") == 0) part = usable;
        char text[300];
        snprintf(text, sizeof text, "%08x %s %.15g %.200s", *value, parts[i],
                 json_number_value(part), json_is_string(part) ? json_string_value(part) : "");
        *value = hash(text);
    }
}

static bool is_text(const char *text, const char *expected) {
    return text && strcmp(text, expected) == 0;
}

/* Mixes in what an attempt asks for and the load's text leaves out: the wait after which a timed attempt gives up, and
 * the segments of a lock (acquire.bound), which stands in one table with locks without any. The usual number of
 * segments is left out, since older versions wrote it for all locks. */
static void hash_request(unsigned *value, const struct run *run, const struct run_stage *stage) {
    enum { USUAL_SEGMENTS = 4 };
    const json_t *acquire = json_object_get(run->plan, "acquire");
    char text[100] = "";
    if (is_text(stage->mode, "timed"))
        snprintf(text, sizeof text, "%08x timeout %.15g", *value,
                 json_number_value(json_object_get(acquire, "timeout_ns")));
    if (is_text(stage->primitive, "mutex") && stage->bound > 0 && stage->bound != USUAL_SEGMENTS)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%08x segments %.15g", *value,
                 stage->bound);
    if (*text) *value = hash(text);
}

/* The hash of the properties that make figures of the same load incomparable: the machine, those of the load hosts,
 * the lock's options, and what its attempts ask for. The host is not among them, because its name changes with each
 * container. Kernel and libraries are not either, because a history shows their effects. -1: out of memory. */
static int environment_hash(const struct run *run, const struct run_stage *stage,
                            unsigned *ret_hash) {
    const json_t *options = json_object_get(run->plan, "options"), *host;
    unsigned value = 0;
    size_t i;
    hash_machine(&value, run->environment);
    json_array_foreach(run->hosts, i, host) {
        hash_machine(&value, json_object_get(host, "environment"));
    }
    if (hash_options(&value, json_object_get(options, stage->lock)) != 0 ||
        hash_options(&value, json_object_get(options, doc_or(stage->backend, ""))) != 0)
        return -1;
    hash_request(&value, run, stage);
    *ret_hash = value;
    return 0;
}

static const char *text_at(const json_t *object, const char *name) {
    return doc_or(json_string_value(json_object_get(object, name)), "");
}

static const char *folder_name(const char *dir) {
    const char *slash = strrchr(dir, '/');
    return slash && slash[1] ? slash + 1 : dir;
}

/* Where the name before `name` begins in a path. */
static const char *with_parent(const char *path, const char *name) {
    const char *parent = name > path ? name - 1 : path; /* the slash between the two */
    while (parent > path && parent[-1] != '/') parent--;
    return parent;
}

/* The name of a run: that of its folder. `run --repeat` calls the folders 00, 01, ... in that of their batch, or in those
 * of its two sides: then the batch's name is before it, since each batch has a 00. */
static const char *run_name(const char *path) {
    const char *name = folder_name(path);
    if (name[strspn(name, "0123456789")] != '\0') return name;
    name = with_parent(path, name);
    bool side = strncmp(name, "base/", 5) == 0 || strncmp(name, "new/", 4) == 0;
    return side ? with_parent(path, name) : name;
}

static const char *version_of(const struct run *run, const char *backend) {
    for (int i = 0; backend && i < run->server_count; i++) {
        if (run->servers[i].backend && strcmp(run->servers[i].backend, backend) == 0)
            return text_at(run->servers[i].facts, "version");
    }
    return "";
}

/* All texts of a stage's line except the repeats and the verdict, one after the other in a block.
 * NULL when out of memory. */
static char *stage_texts(const struct run *run, const struct run_stage *stage, const char *commit) {
    char *block = NULL, *load = report_load_text(stage), *dir = realpath(run->dir, NULL);
    const char *version = version_of(run, stage->backend);
    size_t size;
    unsigned environment = 0;
    bool ready = load && environment_hash(run, stage, &environment) == 0;
    FILE *out = ready ? open_memstream(&block, &size) : NULL;
    if (!out) goto out;
    /* In the order of enum trend_text. */
    fprintf(out, "%s%c%s%c%s%c", run->started_at, 0, doc_or(commit, ""), 0,
            run_name(dir ? dir : run->dir), 0);
    fprintf(out, "%08x%c%s%c%s%c", environment, 0, text_at(run->environment, "hostname_hash"), 0,
            text_at(run->environment, "kernel"), 0);
    fprintf(out, "%s%s%s%c%s%c%.0f%c%s%c", doc_or(stage->backend, ""), *version ? " " : "", version,
            0, stage->lock, 0, stage->clients, 0, load, 0);
    fprintf(out, "%s%c%s%s%s%c%.0f x %.0f%c", doc_or(stage->topology, ""), 0,
            doc_or(stage->durability, ""), stage->encryption ? "; " : "",
            doc_or(stage->encryption, ""), 0, stage->processes, stage->threads, 0);
    if (fclose(out) != 0) {
        free(block);
        block = NULL;
    }
out:
    free(load);
    free(dir);
    return block;
}

static int add_stage_line(struct list *list, const struct run *run, const struct run_stage *stage,
                          const char *commit) {
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 64;
        struct fresh *more = realloc(list->item, (size_t)room * sizeof *more);
        if (!more) return -1;
        list->item = more;
        list->room = room;
    }
    struct fresh *fresh = &list->item[list->count];
    *fresh = (struct fresh){
        .run = run, .stage = stage, .place = list->count, .texts = stage_texts(run, stage, commit)};
    if (!fresh->texts) return -1;
    list->count++;
    const char *at = fresh->texts;
    for (int i = 0; i <= TREND_EXECUTOR; i++, at += strlen(at) + 1) fresh->line.text[i] = at;
    for (int i = TREND_EXECUTOR + 1; i < TREND_TEXTS; i++) fresh->line.text[i] = "";
    return 0;
}

static void free_list(struct list *list) {
    for (int i = 0; i < list->count; i++) free(list->item[i].texts);
    free(list->item);
}

/* Compares two lines by their run and series. Two runs that began in the same second
 * are told apart by their folders, if both lines name one. */
static int by_line(const struct trend_line *a, const struct trend_line *b) {
    int order = strcmp(a->text[TREND_TIME], b->text[TREND_TIME]);
    if (!order) order = strcmp(a->text[TREND_HOST], b->text[TREND_HOST]);
    /* A line of an older version has the folder's name alone. */
    const char *x = folder_name(a->text[TREND_RUN]), *y = folder_name(b->text[TREND_RUN]);
    if (!order && *x && *y) order = strcmp(x, y);
    return order ? order : trend_by_series(a, b);
}

/* The places are in the order of the runs. */
static int by_fresh(const void *a, const void *b) {
    const struct fresh *x = a, *y = b;
    int order = by_line(&x->line, &y->line);
    return order ? order : x->place - y->place;
}

/* The median of a figure over stages that differ in their repeat only; NAN if none has it. values
 * has room for all of them. */
static double median_of(int metric, const struct fresh *fresh, int count, double *values) {
    int known = 0;
    for (int i = 0; i < count; i++) {
        double value = compare_value(compare_metric(metric), fresh[i].stage);
        if (!isnan(value) && !report_limited(fresh[i].stage)) values[known++] = value;
    }
    return rank_median(values, known);
}

static int count_limited(const struct fresh *fresh, int count) {
    int limited = 0;
    for (int i = 0; i < count; i++) limited += report_limited(fresh[i].stage);
    return limited;
}

static void write_figure(double figure, FILE *out) {
    if (isinf(figure)) {
        fputs(RESULT_NEVER, out);
    } else if (!isnan(figure)) {
        fprintf(out, "%.9g", figure);
    }
}

/* Computes the figures of a line from its stages. 0, or -1 when out of memory. */
static int fill_figures(struct fresh *fresh, int count) {
    double *values = malloc((size_t)count * sizeof *values);
    if (!values) return -1;
    for (int m = 0; m < compare_metric_count(); m++)
        fresh->line.figure[m] = median_of(m, fresh, count, values);
    free(values);
    return 0;
}

/* True if a figure in a file is this one, as write_figure rounds it. A figure that the file does not have may be newer
 * than the file. */
static bool same_figure(double stored, double figure) {
    if (isnan(stored) || stored == figure) return true;
    return fabs(stored - figure) <= 1e-8 * fabs(figure) && isfinite(figure);
}

/* True if a line is of this run. Two runs may have begun in the same second, in folders of one name:
 * their figures tell them apart. */
static bool is_same_run(const struct trend_line *line, int repeats, const struct fresh *fresh,
                        int count) {
    if (by_line(line, &fresh->line) != 0 || repeats != count - count_limited(fresh, count))
        return false;
    for (int m = 0; m < compare_metric_count(); m++) {
        if (!same_figure(line->figure[m], fresh->line.figure[m])) return false;
    }
    return true;
}

/* The end of the stages that are one line: those of one run, lock and load. */
static int end_of_line(const struct list *list, int from) {
    const struct fresh *first = &list->item[from];
    int to = from + 1;
    while (to < list->count && list->item[to].run == first->run &&
           by_line(&first->line, &list->item[to].line) == 0)
        to++;
    return to;
}

/* True if the line of these stages is in the file, or is one of the new ones before it. */
static bool is_there(const struct trend *trend, const struct list *list, int from, int to) {
    const struct fresh *fresh = &list->item[from];
    for (int i = 0; i < trend->count; i++) {
        const struct trend_line *line = &trend->lines[i];
        if (is_same_run(line, atoi(line->text[TREND_REPEATS]), fresh, to - from)) return true;
    }
    int first = from;
    while (first > 0 && by_line(&list->item[first - 1].line, &fresh->line) == 0) first--;
    for (int i = first, end; i < from; i = end) {
        const struct fresh *other = &list->item[i];
        end = end_of_line(list, i);
        int repeats = end - i - count_limited(other, end - i);
        if (is_same_run(&other->line, repeats, fresh, to - from)) return true;
    }
    return false;
}

/* Writes one line, in the columns of the file. */
static void write_trend_line(const struct trend *trend, const struct fresh *fresh, int count,
                             FILE *out) {
    enum lock_state state = LOCK_BASELINE;
    for (int i = 0; i < count; i++) state = report_worse(state, report_stage_state(fresh[i].stage));
    for (int c = 0; c < trend->columns; c++) {
        int column = trend->column[c];
        if (c > 0) fputc(',', out);
        if (column == TREND_REPEATS) {
            fprintf(out, "%d", count - count_limited(fresh, count));
        } else if (column == TREND_LIMITED) {
            fprintf(out, "%d", count_limited(fresh, count));
        } else if (column == TREND_VERDICT) {
            escape_csv(out, words_state(state));
        } else if (column >= TREND_TEXTS) {
            write_figure(fresh->line.figure[column - TREND_TEXTS], out);
        } else if (column >= 0) {
            escape_csv(out, fresh->line.text[column]);
        }
    }
    fputc('\n', out);
}

static int add_run_lines(struct list *list, struct run *run, const char *commit,
                         struct lb_err *err) {
    if (!run->started_at)
        return err_set(err, LB_EXIT_USAGE, "%s: does not say when it began (.started_at)",
                       run->path);
    if (!trend_is_time(run->started_at))
        return err_set(err, LB_EXIT_USAGE,
                       "%s: .started_at '%.40s' is not like " TREND_TIME_EXAMPLE, run->path,
                       run->started_at);
    for (int i = 0; i < run->stage_count; i++) {
        const struct run_stage *stage = &run->stages[i];
        bool whole = stage->lock && stage->status && strcmp(stage->status, "complete") == 0;
        if (!whole || stage->control) continue;
        if (add_stage_line(list, run, stage, commit) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
        if (!utf8_is_valid(list->item[list->count - 1].line.text[TREND_RUN]))
            return err_set(err, LB_EXIT_USAGE, "%s: its folder's name is no UTF-8: rename it",
                           run->path);
    }
    return 0;
}

/* The new lines as text, after a header if it is not NULL; malloced. */
static char *new_lines(const struct trend *trend, const char *header, struct list *list,
                       struct trend_added *added) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int failed = !out;
    if (list->count > 0) qsort(list->item, (size_t)list->count, sizeof *list->item, by_fresh);
    if (out && header) fprintf(out, "%s\n", header);
    for (int from = 0, to; !failed && from < list->count; from = to) {
        struct fresh *fresh = &list->item[from];
        to = end_of_line(list, from);
        failed = fill_figures(fresh, to - from);
        bool there = !failed && is_there(trend, list, from, to);
        *(there ? &added->there : &added->lines) += 1;
        if (failed || there) continue;
        added->limited += count_limited(fresh, to - from);
        write_trend_line(trend, fresh, to - from, out);
    }
    if (out && fclose(out) != 0) failed = 1;
    if (!failed) return text;
    free(text);
    return NULL;
}

static const char *column_name(int column) {
    return column < TREND_TEXTS ? trend_columns[column]
                                : compare_metric(column - TREND_TEXTS)->compared;
}

static bool has_column(const struct trend *trend, int column) {
    for (int c = 0; c < trend->columns; c++) {
        if (trend->column[c] == column) return true;
    }
    return false;
}

/* Adds the columns that the file lacks to trend->column. Returns their names, with a comma before
 * each, malloced; NULL when out of memory. */
static char *missing_columns(struct trend *trend) {
    char *names = NULL;
    size_t size;
    FILE *out = open_memstream(&names, &size);
    if (!out) return NULL;
    for (int column = 0; column < TREND_TEXTS + compare_metric_count(); column++) {
        if (has_column(trend, column) || trend->columns == TREND_COLUMNS_MAX) continue;
        fprintf(out, ",%s", column_name(column));
        trend->column[trend->columns++] = column;
    }
    if (fclose(out) == 0) return names;
    free(names);
    return NULL;
}

/* Appends to an open file. trend: the contents of the file; a new file has nothing, not even
 * columns. */
static int append_to(int fd, const char *path, struct trend *trend, struct list *list,
                     struct trend_added *added, struct lb_err *err) {
    int before = trend->columns, rc;
    char *names = missing_columns(trend), *text = NULL;
    if (names) text = new_lines(trend, before == 0 ? names + 1 : NULL, list, added);
    if (!text) {
        rc = err_set(err, LB_EXIT_MACHINE, "out of memory");
    } else if (before > 0 && trend->columns > before && added->lines > 0) {
        rc = trend_store_widen(path, names, trend->columns - before, text, err);
    } else {
        rc = trend_store_append(fd, path, text, err);
    }
    free(names);
    free(text);
    return rc;
}

static int append_list(const char *path, struct list *list, struct trend_added *ret,
                       struct lb_err *err) {
    struct stat status;
    struct trend none = {0}, *trend = NULL;
    struct trend_added added = {0};
    int rc = -1, fd = trend_store_open(path, err);
    if (fd < 0) return -1;
    if (fstat(fd, &status) != 0) {
        err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
        goto out;
    }
    if (status.st_size > 0 || !S_ISREG(status.st_mode)) {
        trend = trend_read(path, err);
        if (!trend) goto out;
    }
    rc = append_to(fd, path, trend ? trend : &none, list, &added, err);
    if (rc == 0) *ret = added;
out:
    trend_free(trend);
    close(fd);
    return rc;
}

int trend_append(const char *path, const char *const *paths, int path_count, const char *commit,
                 struct trend_added *ret, struct lb_err *err) {
    struct list list = {0};
    struct run **runs = NULL;
    int run_count = 0;
    if (commit && !utf8_is_valid(commit))
        return err_set(err, LB_EXIT_USAGE, "history: the commit '%.40s' is no UTF-8", commit);
    int failed = run_read_all(paths, path_count, &runs, &run_count, err);
    for (int i = 0; i < run_count && !failed; i++)
        failed = add_run_lines(&list, runs[i], commit, err);
    if (!failed && list.count == 0)
        failed = err_set(err, LB_EXIT_USAGE,
                         "history: no stage of these runs came to its end: nothing to append");
    if (!failed) failed = append_list(path, &list, ret, err);
    for (int i = 0; i < run_count && !failed; i++) ret->partial += runs[i]->partial;
    free_list(&list);
    for (int i = 0; i < run_count; i++) run_free(runs[i]);
    free(runs);
    return failed;
}
