/* trend_append: the medians of runs as lines of a history's file. See trend.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/doc/escape.h"
#include "report/run/model.h"
#include "report/run/words.h"
#include "report/trend/trend_parts.h"
#include "results/stats/rank.h"

/* A line that is being made: its texts are one block. */
struct fresh {
    struct trend_line line;
    char *texts;
    const struct run_stage *stage;
    int place;
};

struct list {
    struct fresh *item;
    int count, room;
};

/* FNV-1a: the same kind of machine has the same eight digits. */
static unsigned hash(const char *text) {
    unsigned value = 2166136261u;
    for (; *text; text++) value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

static const char *or_empty(const char *text) {
    return text ? text : "";
}

/* Mixes a lock's or a backend's options, if there are any, into a hash. -1: out of memory. */
static int hash_options(unsigned *value, const json_t *options) {
    if (!options) return 0;
    char *text = json_dumps(options, JSON_SORT_KEYS | JSON_COMPACT), with[16];
    if (!text) return -1;
    snprintf(with, sizeof with, "%08x", *value);
    *value = hash(with) ^ hash(text);
    free(text);
    return 0;
}

/* What makes figures of the same load incomparable: the machine and the lock's options. Not the
 * host, whose name changes with each container, nor kernel and libraries: what they do to the
 * figures is what a history is for. -1: out of memory. */
static int environment_hash(const struct run *run, const struct run_stage *stage,
                            unsigned *ret_hash) {
    static const char *const parts[] = {"cpu_model", "cpus", "clock_source", "governor", "build"};
    const json_t *options = json_object_get(run->plan, "options");
    unsigned value = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(run->environment, parts[i]);
        char text[300];
        snprintf(text, sizeof text, "%08x %s %.15g %.200s", value, parts[i],
                 json_number_value(part), json_is_string(part) ? json_string_value(part) : "");
        value = hash(text);
    }
    if (hash_options(&value, json_object_get(options, stage->lock)) != 0 ||
        hash_options(&value, json_object_get(options, or_empty(stage->backend))) != 0)
        return -1;
    *ret_hash = value;
    return 0;
}

static const char *text_at(const json_t *object, const char *name) {
    return or_empty(json_string_value(json_object_get(object, name)));
}

static const char *folder_name(const char *dir) {
    const char *slash = strrchr(dir, '/');
    return slash && slash[1] ? slash + 1 : dir;
}

static const char *version_of(const struct run *run, const char *backend) {
    for (int i = 0; backend && i < run->server_count; i++) {
        if (run->servers[i].backend && strcmp(run->servers[i].backend, backend) == 0)
            return text_at(run->servers[i].facts, "version");
    }
    return "";
}

/* All texts of a stage's line but the repeats and the verdict, one after the other in a block. NULL
 * when out of memory. */
static char *stage_texts(const struct run *run, const struct run_stage *stage, const char *commit) {
    char *block = NULL, *load = report_load_text(stage), *dir = realpath(run->dir, NULL);
    const char *version = version_of(run, stage->backend);
    size_t size;
    unsigned environment = 0;
    bool ready = load && environment_hash(run, stage, &environment) == 0;
    FILE *out = ready ? open_memstream(&block, &size) : NULL;
    if (!out) goto out;
    /* In the order of enum trend_text. */
    fprintf(out, "%s%c%s%c%s%c", run->started_at, 0, or_empty(commit), 0,
            folder_name(dir ? dir : run->dir), 0);
    fprintf(out, "%08x%c%s%c%s%c", environment, 0, text_at(run->environment, "hostname_hash"), 0,
            text_at(run->environment, "kernel"), 0);
    fprintf(out, "%s%s%s%c%s%c%.0f%c%s%c", or_empty(stage->backend), *version ? " " : "", version,
            0, stage->lock, 0, stage->clients, 0, load, 0);
    fprintf(out, "%s%c%s%c%.0f x %.0f%c", or_empty(stage->topology), 0, or_empty(stage->durability),
            0, stage->processes, stage->threads, 0);
    if (fclose(out) != 0) {
        free(block);
        block = NULL;
    }
out:
    free(load);
    free(dir);
    return block;
}

static int add_stage(struct list *list, const struct run *run, const struct run_stage *stage,
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
        .stage = stage, .place = list->count, .texts = stage_texts(run, stage, commit)};
    if (!fresh->texts) return -1;
    list->count++;
    const char *at = fresh->texts;
    for (int i = 0; i <= TREND_EXECUTOR; i++, at += strlen(at) + 1) fresh->line.text[i] = at;
    fresh->line.text[TREND_REPEATS] = fresh->line.text[TREND_VERDICT] = "";
    return 0;
}

static void free_list(struct list *list) {
    for (int i = 0; i < list->count; i++) free(list->item[i].texts);
    free(list->item);
}

/* The same series of the same run. */
static int by_line(const struct trend_line *a, const struct trend_line *b) {
    int order = strcmp(a->text[TREND_TIME], b->text[TREND_TIME]);
    if (!order) order = strcmp(a->text[TREND_HOST], b->text[TREND_HOST]);
    return order ? order : trend_by_series(a, b);
}

static int by_fresh(const void *a, const void *b) {
    const struct fresh *x = a, *y = b;
    int order = by_line(&x->line, &y->line);
    return order ? order : x->place - y->place;
}

static bool is_there(const struct trend *trend, const struct trend_line *line) {
    if (!trend) return false;
    for (int i = 0; i < trend->count; i++) {
        if (by_line(&trend->lines[i], line) == 0) return true;
    }
    return false;
}

/* One line: the medians of stages that differ in their repeat only. */
static int write_line(const struct fresh *fresh, int count, FILE *out) {
    enum lock_state state = LOCK_BASELINE;
    double *values = malloc((size_t)count * sizeof *values);
    if (!values) return -1;
    for (int i = 0; i < count; i++) state = report_worse(state, report_stage_state(fresh[i].stage));
    for (int i = 0; i <= TREND_EXECUTOR; i++) {
        escape_csv(out, fresh->line.text[i]);
        fputc(',', out);
    }
    fprintf(out, "%d,%s", count, words_state(state));
    for (int m = 0; m < compare_metric_count(); m++) {
        int known = 0;
        for (int i = 0; i < count; i++) {
            double value = result_field_figure(compare_metric(m), fresh[i].stage);
            if (!isnan(value)) values[known++] = value;
        }
        fputc(',', out);
        if (known > 0) fprintf(out, "%.9g", rank_median(values, known));
    }
    fputc('\n', out);
    free(values);
    return 0;
}

static void write_header(FILE *out) {
    for (int i = 0; i < TREND_TEXTS; i++) fprintf(out, "%s,", trend_columns[i]);
    for (int m = 0; m < compare_metric_count(); m++)
        fprintf(out, "%s%c", compare_metric(m)->compared,
                m + 1 < compare_metric_count() ? ',' : '\n');
}

static int add_run(struct list *list, struct run *run, const char *commit, struct lb_err *err) {
    if (!run->started_at)
        return err_set(err, LB_EXIT_USAGE, "%s: does not say when it began (.started_at)",
                       run->path);
    for (int i = 0; i < run->stage_count; i++) {
        const struct run_stage *stage = &run->stages[i];
        bool whole = stage->lock && stage->status && strcmp(stage->status, "complete") == 0;
        if (!whole || stage->control) continue;
        if (add_stage(list, run, stage, commit) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return 0;
}

/* The new lines as text; malloced. */
static char *new_lines(const struct trend *trend, struct list *list, int *ret_added,
                       int *ret_there) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int failed = !out;
    if (list->count > 0) qsort(list->item, (size_t)list->count, sizeof *list->item, by_fresh);
    if (out && !trend) write_header(out);
    for (int from = 0, to; !failed && from < list->count; from = to) {
        for (to = from + 1;
             to < list->count && by_line(&list->item[from].line, &list->item[to].line) == 0;)
            to++;
        bool there = is_there(trend, &list->item[from].line);
        *(there ? ret_there : ret_added) += 1;
        if (!there) failed = write_line(&list->item[from], to - from, out);
    }
    if (out && fclose(out) != 0) failed = 1;
    if (!failed) return text;
    free(text);
    return NULL;
}

/* All of it or nothing: what a full disk cut off is taken away again. */
static int append(int fd, const char *text, const char *path, struct lb_err *err) {
    off_t end = lseek(fd, 0, SEEK_END);
    size_t length = strlen(text), done = 0;
    while (end >= 0 && done < length) {
        ssize_t wrote = write(fd, text + done, length - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) break;
        done += (size_t)wrote;
    }
    if (end >= 0 && done == length) return 0;
    int why = errno;
    if (end >= 0 && ftruncate(fd, end) != 0) why = errno;
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(why));
}

static int append_list(const char *path, struct list *list, int *ret_added, int *ret_there,
                       struct lb_err *err) {
    struct stat status;
    struct trend *trend = NULL;
    char *text = NULL;
    int added = 0, there = 0, rc = -1,
        fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX) != 0 || fstat(fd, &status) != 0) { /* two of us at once, in CI */
        err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
        goto out;
    }
    if (status.st_size > 0 || !S_ISREG(status.st_mode)) {
        trend = trend_read(path, err);
        if (!trend) goto out;
    }
    text = new_lines(trend, list, &added, &there);
    if (!text) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    rc = append(fd, text, path, err);
    if (rc == 0) {
        *ret_added = added;
        *ret_there = there;
    }
out:
    free(text);
    trend_free(trend);
    close(fd);
    return rc;
}

int trend_append(const char *path, const char *const *paths, int run_count, const char *commit,
                 int *ret_added, int *ret_there, struct lb_err *err) {
    struct list list = {0};
    int failed = 0;
    struct run **runs = calloc((size_t)run_count + 1, sizeof(struct run *));
    if (!runs) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < run_count && !failed; i++) {
        runs[i] = run_read(paths[i], err);
        failed = runs[i] ? add_run(&list, runs[i], commit, err) : -1;
    }
    if (!failed && list.count == 0)
        failed = err_set(err, LB_EXIT_USAGE,
                         "history: no stage of these runs came to its end: nothing to append");
    if (!failed) failed = append_list(path, &list, ret_added, ret_there, err);
    free_list(&list);
    for (int i = 0; i < run_count; i++) run_free(runs[i]);
    free(runs);
    return failed;
}
