/* append: see append.h. */
#define _GNU_SOURCE
#include "bench/tools/history/append.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/doc/escape.h"
#include "report/run/words.h"
#include "report/trend/trend.h"
#include "results/format/run_read.h"
#include "results/format/tree.h"
#include "results/stats/rank.h"

/* ---- the lines of a run ---- */

/* What makes figures of the same load incomparable: the machine, those of the load hosts, the options of the lock and its
 * backend, and the wait after which a timed attempt gives up. The host's name is not among them, since it changes with
 * each container; kernel and servers are not, since a history shows their effects; and exec.program is not, since each
 * build of the program under test may have a path of its own. NULL when out of memory. */
static char *environment_text(const struct run *run, const struct run_stage *stage) {
    static const char *const names[] = {"cpu_model",    "cpus",     "cpus_usable",
                                        "clock_source", "governor", "build"};
    const json_t *options = json_object_get(run->plan, "options");
    const char *const of[] = {stage->lock, doc_or(stage->backend, "")};
    bool timed = stage->mode && strcmp(stage->mode, "timed") == 0;
    json_t *all = json_array();
    for (size_t h = 0; h <= json_array_size(run->hosts); h++) {
        const json_t *machine =
            h == 0 ? run->environment
                   : json_object_get(json_array_get(run->hosts, h - 1), "environment");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            json_t *part = json_object_get(machine, names[i]);
            json_array_append_new(all, part ? json_incref(part) : json_null());
        }
    }
    for (int i = 0; i < 2; i++) {
        json_t *part = json_copy(json_object_get(options, of[i]));
        if (part) json_object_del(part, "program");
        json_array_append_new(all, part ? part : json_null());
    }
    if (timed)
        json_array_append(all,
                          json_object_get(json_object_get(run->plan, "acquire"), "timeout_ns"));
    json_array_append_new(all, escape_json_figure(stage->bound));
    char *text = json_dumps(all, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(all);
    return text;
}

/* FNV-1a: eight digits, the same for machines of the same kind. */
static unsigned hash(const char *text) {
    unsigned value = 2166136261u;
    for (; *text; text++) value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

/* The name of a run: that of its folder. `run --against` calls the folders 00, 01, ...: then the name of the folder
 * around it is before it. path: absolute. */
static const char *run_name(const char *path) {
    const char *name = strrchr(path, '/') + 1;
    if (name[strspn(name, "0123456789")] != '\0') return name;
    for (name--; name > path && name[-1] != '/';) name--;
    return name;
}

static const char *text_at(const json_t *object, const char *name) {
    return doc_or(json_string_value(json_object_get(object, name)), "");
}

static const char *version_of(const struct run *run, const char *backend) {
    for (int i = 0; backend && i < run->server_count; i++) {
        if (run->servers[i].backend && strcmp(run->servers[i].backend, backend) == 0)
            return text_at(run->servers[i].facts, "version");
    }
    return "";
}

/* Writes formatted text as a field, with a comma after it. */
static void put(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(FILE *out, const char *format, ...) {
    char *text = NULL;
    va_list values;
    va_start(values, format);
    if (vasprintf(&text, format, values) >= 0) {
        escape_csv(out, text);
        free(text);
    }
    va_end(values);
    fputc(',', out);
}

/* The end of the line before, and the columns before TREND_COMMIT: they are the same for all repeats of a lock and load
 * in one run, and for no others. NULL when out of memory. */
static char *key_text(const struct run *run, const struct run_stage *stage) {
    char *key = NULL, *load = report_load_text(stage), *dir = realpath(run->dir, NULL);
    char *environment = environment_text(run, stage);
    const char *version = version_of(run, stage->backend);
    size_t size;
    FILE *out = load && dir && environment ? open_memstream(&key, &size) : NULL;
    if (out) {
        fputc('\n', out);
        put(out, "%s", doc_or(run->started_at, ""));
        put(out, "%s", run_name(dir));
        put(out, "%s", stage->lock);
        put(out, "%.0f", stage->clients);
        put(out, "%s", load);
        put(out, "%s", doc_or(stage->topology, ""));
        put(out, "%s%s%s", doc_or(stage->durability, ""), stage->encryption ? "; " : "",
            doc_or(stage->encryption, ""));
        put(out, "%.0f x %.0f", stage->processes, stage->threads);
        put(out, "%08x", hash(environment));
        put(out, "%s", text_at(run->environment, "kernel"));
        put(out, "%s%s%s", doc_or(stage->backend, ""), *version ? " " : "", version);
        if (fclose(out) != 0) {
            free(key);
            key = NULL;
        }
    }
    free(environment);
    free(load);
    free(dir);
    return key;
}

/* True for a stage that came to its end, of a lock that is not broken on purpose. */
static bool has_line(const struct run_stage *stage) {
    return stage->lock && !stage->control && stage->status &&
           strcmp(stage->status, "complete") == 0;
}

/* The median of a figure over the stages that have this key. */
static double median_of(const struct run *run, char *const *keys, const char *key, int metric,
                        double *room) {
    int count = 0;
    for (int i = 0; i < run->stage_count; i++) {
        double value = NAN;
        if (keys[i] && strcmp(keys[i], key) == 0 &&
            compare_is_sample(&run->stages[i], compare_metric(metric)))
            value = compare_value(compare_metric(metric), &run->stages[i]);
        if (!isnan(value)) room[count++] = value;
    }
    return rank_median(room, count);
}

/* room: of a number for each stage. */
static void write_line(const struct run *run, char *const *keys, const char *key,
                       const char *commit, double *room, FILE *out) {
    int repeats = 0;
    enum lock_state state = LOCK_BASELINE;
    for (int i = 0; i < run->stage_count; i++) {
        if (!keys[i] || strcmp(keys[i], key) != 0) continue;
        state = report_worse(state, report_stage_state(&run->stages[i]));
        repeats += compare_is_sample(&run->stages[i], compare_metric(0));
    }
    fputs(key + 1, out);
    put(out, "%s", doc_or(commit, ""));
    put(out, "%s", words_state(state));
    fprintf(out, "%d", repeats);
    for (int m = 0; m < compare_metric_count(); m++) {
        double median = median_of(run, keys, key, m, room);
        fputc(',', out);
        if (isinf(median)) fputs(RESULT_NEVER, out);
        if (isfinite(median)) fprintf(out, "%.9g", median);
    }
    fputc('\n', out);
}

/* ---- appending ---- */

/* A history's text while lines are added to it. */
struct growing {
    FILE *out;
    char *text;
    size_t size;
    int lines; /* that were added */
};

/* -1: out of memory. */
static int add_run(struct growing *file, const struct run *run, const char *commit) {
    size_t room = (size_t)run->stage_count + 1;
    char **keys = calloc(room, sizeof *keys);
    double *values = calloc(room, sizeof *values);
    int failed = !keys || !values ? -1 : 0;
    for (int i = 0; i < run->stage_count && !failed; i++) {
        if (has_line(&run->stages[i]) && !(keys[i] = key_text(run, &run->stages[i]))) failed = -1;
    }
    for (int i = 0; i < run->stage_count && !failed; i++) {
        failed = fflush(file->out);
        if (failed || !keys[i] || strstr(file->text, keys[i])) continue;
        write_line(run, keys, keys[i], commit, values, file->out);
        file->lines++;
    }
    for (int i = 0; i < run->stage_count && keys; i++) free(keys[i]);
    free(keys);
    free(values);
    return failed;
}

/* The text of a sound file, "" of an empty one. NULL with err. Malloced. */
static char *sound_text(int fd, const char *path, struct lb_err *err) {
    struct stat status;
    size_t length;
    if (fstat(fd, &status) != 0 || status.st_size == 0) return strdup("");
    struct trend *sound = trend_file(path, err);
    trend_free(sound);
    return sound ? tree_file(path, "a history", "", &length, err) : NULL;
}

static int append_runs(int fd, const char *path, struct run *const *runs, int run_count,
                       const char *commit, struct lb_err *err) {
    struct growing file = {NULL};
    char *old = sound_text(fd, path, err), *header = trend_header();
    if (old) file.out = open_memstream(&file.text, &file.size);
    int failed = !file.out || !header;
    if (!failed) fputs(*old ? old : header, file.out);
    for (int i = 0; i < run_count && !failed; i++) failed = add_run(&file, runs[i], commit);
    if (file.out) failed |= fclose(file.out);
    if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!failed) {
        const char *added = file.text + strlen(old);
        ssize_t length = (ssize_t)strlen(added);
        if (write(fd, added, (size_t)length) != length)
            failed =
                err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno ? errno : ENOSPC));
    }
    free(file.text);
    free(header);
    free(old);
    return failed ? -1 : file.lines;
}

int history_append(const char *path, const char *const *paths, int path_count, const char *commit,
                   struct lb_err *err) {
    struct run **runs = NULL;
    int run_count = 0, fd = -1, lines = -1;
    if (run_read_all(paths, path_count, &runs, &run_count, err) == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0 || flock(fd, LOCK_EX) != 0) /* until it is closed, no other process appends */
            err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
        else
            lines = append_runs(fd, path, runs, run_count, commit, err);
    }
    if (fd >= 0) close(fd);
    for (int i = 0; i < run_count; i++) run_free(runs[i]);
    free(runs);
    return lines;
}
