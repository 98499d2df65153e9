/* trend_file: a history's CSV file: reads it, and appends the medians of runs. See trend.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/text.h"
#include "report/doc/escape.h"
#include "report/run/words.h"
#include "report/trend/trend.h"
#include "results/format/run_read.h"
#include "results/format/tree.h"
#include "results/stats/rank.h"

static const char *const text_columns[TREND_TEXTS] = {
    [TREND_TIME] = "time",
    [TREND_RUN] = "run",
    [TREND_LOCK] = "lock",
    [TREND_CLIENTS] = "clients",
    [TREND_LOAD] = "load",
    [TREND_TOPOLOGY] = "topology",
    [TREND_DURABILITY] = "durability",
    [TREND_EXECUTOR] = "executor",
    [TREND_ENVIRONMENT] = "environment",
    [TREND_KERNEL] = "kernel",
    [TREND_SERVER] = "server",
    [TREND_COMMIT] = "commit",
    [TREND_REPEATS] = "repeats",
    [TREND_LIMITED] = "limited",
    [TREND_VERDICT] = "verdict",
};

#define COLUMNS_MAX (TREND_TEXTS + COMPARE_METRICS_MAX)

static int column_count(void) {
    return TREND_TEXTS + compare_metric_count();
}

static const char *column_name(int column) {
    return column < TREND_TEXTS ? text_columns[column]
                                : compare_metric(column - TREND_TEXTS)->compared;
}

/* ---- reading ---- */

struct reader {
    char *at; /* the part that is not read yet */
    int line;
    const char *path;
    struct lb_err *err;
};

static int bad(const struct reader *reader, const char *what) {
    return err_set(reader->err, LB_EXIT_USAGE, "%s:%d: %s", reader->path, reader->line, what);
}

/* Reads a field in place, without its quotes. Returns the character after it, or -1 if a quote is not closed. */
static int next_field(struct reader *reader, char **field) {
    char *from = reader->at, *to;
    bool quoted = *from == '"';
    *field = to = from += quoted;
    for (; *from && (quoted || !strchr(",\r\n", *from)); from++) {
        if (quoted && *from == '"' && *++from != '"') {
            quoted = false;
            break;
        }
        *to++ = *from;
    }
    if (quoted || (*from && !strchr(",\r\n", *from))) return -1;
    if (*from == '\r' && from[1] == '\n') from++;
    int after = (unsigned char)*from;
    reader->at = from + (after != '\0');
    *to = '\0';
    return after;
}

/* Splits the next line into fields. Returns their number, 0 at the end of the text, or -1 with the error. */
static int next_fields(struct reader *reader, char *fields[COLUMNS_MAX + 1]) {
    int count = 0, after = ',';
    if (*reader->at == '\0') return 0;
    for (reader->line++; after == ','; count++) {
        if (count > column_count()) return bad(reader, "has too many fields");
        after = next_field(reader, &fields[count]);
    }
    if (after < 0) return bad(reader, "has a quoted field without its end");
    if (after == '\0') return bad(reader, "was cut off: remove the line, and append its run again");
    return count;
}

static int check_header(struct reader *reader) {
    char *fields[COLUMNS_MAX + 1];
    int count = next_fields(reader, fields), all = column_count();
    if (count < 0) return -1;
    for (int i = 0; i < count || i < all; i++) {
        const char *is = i < count ? fields[i] : "missing";
        const char *wanted = i < all ? column_name(i) : "nothing more";
        if (strcmp(is, wanted) == 0) continue;
        return err_set(reader->err, LB_EXIT_USAGE,
                       "%s: is no history of this version of lockbench: column %d is '%.40s', not "
                       "'%s'; append to another file (--file)",
                       reader->path, i + 1, is, wanted);
    }
    return 0;
}

/* Reads a number as CSV files have it. strtod alone would also take hexadecimal digits, a sign and leading blanks. */
static bool read_decimal(const char *text, double *ret) {
    if (!isdigit((unsigned char)*text) || text[strspn(text, "0123456789.eE+-")]) return false;
    char *end;
    double value = strtod(text, &end);
    if (*end || !isfinite(value)) return false;
    *ret = value;
    return true;
}

static int read_line(const struct reader *reader, char **fields, struct trend_line *line) {
    static const enum trend_text counts[] = {TREND_CLIENTS, TREND_REPEATS, TREND_LIMITED};
    enum { DIGITS_MAX = 9 }; /* such a number is an int */
    for (int i = 0; i < TREND_TEXTS; i++) line->text[i] = fields[i];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *text = line->text[counts[i]];
        if (result_text_is_count(text) && strlen(text) <= DIGITS_MAX) continue;
        return err_set(reader->err, LB_EXIT_USAGE, "%s:%d: %s '%.40s' is no whole number",
                       reader->path, reader->line, text_columns[counts[i]], text);
    }
    for (int m = 0; m < compare_metric_count(); m++) {
        const char *text = fields[TREND_TEXTS + m];
        line->figure[m] = strcmp(text, RESULT_NEVER) == 0 ? INFINITY : NAN;
        if (!*text || isinf(line->figure[m]) || read_decimal(text, &line->figure[m])) continue;
        return err_set(reader->err, LB_EXIT_USAGE,
                       "%s:%d: %s '%.40s' is neither a number of 0 or more nor never", reader->path,
                       reader->line, compare_metric(m)->compared, text);
    }
    if (words_state_of(line->text[TREND_VERDICT], &line->state, reader->err) == 0) return 0;
    err_prefix(reader->err, "%s:%d", reader->path, reader->line);
    return -1;
}

static int by_run(const void *a, const void *b) {
    const struct trend_line *x = a, *y = b;
    int order = trend_by_series(x, y, false);
    if (!order) order = strcmp(x->text[TREND_TIME], y->text[TREND_TIME]);
    return order ? order : strcmp(x->text[TREND_RUN], y->text[TREND_RUN]);
}

/* Sorts the lines. A run is one sample, however often a merge or a copy has put its line there. */
static void sort_lines(struct trend *trend) {
    int kept = 0;
    if (trend->count > 0) qsort(trend->lines, (size_t)trend->count, sizeof *trend->lines, by_run);
    for (int i = 0; i < trend->count; i++) {
        if (kept == 0 || by_run(&trend->lines[kept - 1], &trend->lines[i]) != 0)
            trend->lines[kept++] = trend->lines[i];
    }
    trend->count = kept;
}

static int read_lines(struct reader *reader, struct trend *trend) {
    char *fields[COLUMNS_MAX + 1];
    int room = 0;
    for (int count; (count = next_fields(reader, fields)) != 0;) {
        if (count < 0) return -1;
        if (count == 1 && !*fields[0]) continue; /* an empty line */
        if (count != column_count())
            return err_set(reader->err, LB_EXIT_USAGE,
                           "%s:%d: has %d fields, and the first line %d", reader->path,
                           reader->line, count, column_count());
        if (trend->count == room) {
            room = room ? 2 * room : 64;
            struct trend_line *more = realloc(trend->lines, (size_t)room * sizeof *more);
            if (!more) return err_set(reader->err, LB_EXIT_MACHINE, "out of memory");
            trend->lines = more;
        }
        if (read_line(reader, fields, &trend->lines[trend->count]) != 0) return -1;
        trend->count++;
    }
    sort_lines(trend);
    return 0;
}

struct trend *trend_parse(char *text, const char *path, struct lb_err *err) {
    static const char mark[] = "\xef\xbb\xbf"; /* spreadsheets write it before UTF-8 */
    struct trend *trend = calloc(1, sizeof *trend);
    if (!trend || !(trend->path = strdup(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        free(text);
        trend_free(trend);
        return NULL;
    }
    trend->buffer = text;
    bool marked = strncmp(text, mark, strlen(mark)) == 0;
    struct reader reader = {.at = text + (marked ? strlen(mark) : 0), .path = path, .err = err};
    if (!utf8_is_valid(text)) {
        err_set(err, LB_EXIT_USAGE, "%s: is no history of lockbench: it is no UTF-8", path);
    } else if (check_header(&reader) == 0 && read_lines(&reader, trend) == 0) {
        return trend;
    }
    trend_free(trend);
    return NULL;
}

static char *file_text(const char *path, struct lb_err *err) {
    size_t length;
    char *text = tree_file(path, "a history",
                           "the file that `lockbench history RUN... --append` made", &length, err);
    if (!text || strlen(text) == length) return text;
    free(text);
    err_set(err, LB_EXIT_USAGE, "%s: is no history of lockbench: it has zero bytes in it", path);
    return NULL;
}

struct trend *trend_read(const char *path, struct lb_err *err) {
    char *text = file_text(path, err);
    return text ? trend_parse(text, path, err) : NULL;
}

void trend_free(struct trend *trend) {
    if (!trend) return;
    free(trend->lines);
    free(trend->buffer);
    free(trend->path);
    free(trend);
}

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

/* Where the name before `name` begins in a path. */
static const char *with_parent(const char *path, const char *name) {
    const char *parent = name > path ? name - 1 : path; /* the slash between the two */
    while (parent > path && parent[-1] != '/') parent--;
    return parent;
}

/* The name of a run: that of its folder. `run --repeat` calls the folders 00, 01, ... in that of their batch, or in those
 * of its two sides: then the batch's name is before it, since each batch has a 00. */
static const char *run_name(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (name[strspn(name, "0123456789")] != '\0') return name;
    name = with_parent(path, name);
    bool side = strncmp(name, "base/", 5) == 0 || strncmp(name, "new/", 4) == 0;
    return side ? with_parent(path, name) : name;
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

/* The texts before TREND_COMMIT: those of one run are the same for all repeats of a lock and load. NULL when out
 * of memory. */
static char *key_text(const struct run *run, const struct run_stage *stage) {
    char *key = NULL, *load = report_load_text(stage), *dir = realpath(run->dir, NULL);
    char *environment = environment_text(run, stage);
    const char *version = version_of(run, stage->backend);
    size_t size;
    FILE *out = load && environment ? open_memstream(&key, &size) : NULL;
    if (out) {
        put(out, "%s", run->started_at);
        put(out, "%s", run_name(dir ? dir : run->dir));
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
    }
    if (out && fclose(out) != 0) {
        free(key);
        key = NULL;
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

/* Writes the line of the stages that have the same key as the first one. -1: out of memory. */
static int write_line(const struct run *run, char *const *keys, int first, const char *commit,
                      FILE *out, struct trend_added *added) {
    const struct run_stage **stages = malloc((size_t)run->stage_count * sizeof *stages);
    double *values = malloc((size_t)run->stage_count * sizeof *values);
    int repeats = 0, limited = 0, failed = !stages || !values;
    enum lock_state state = LOCK_BASELINE;
    for (int i = first; i < run->stage_count && !failed; i++) {
        if (!keys[i] || strcmp(keys[i], keys[first]) != 0) continue;
        state = report_worse(state, report_stage_state(&run->stages[i]));
        if (report_limited(&run->stages[i]))
            limited++;
        else
            stages[repeats++] = &run->stages[i];
    }
    if (failed) goto out;
    fputs(keys[first], out);
    put(out, "%s", doc_or(commit, ""));
    fprintf(out, "%d,%d,", repeats, limited);
    escape_csv(out, words_state(state));
    for (int m = 0; m < compare_metric_count(); m++) {
        int count = 0;
        for (int i = 0; i < repeats; i++) {
            double value = compare_value(compare_metric(m), stages[i]);
            if (!isnan(value)) values[count++] = value;
        }
        double median = rank_median(values, count);
        fputc(',', out);
        if (isinf(median)) fputs(RESULT_NEVER, out);
        if (isfinite(median)) fprintf(out, "%.9g", median);
    }
    fputc('\n', out);
    added->lines++;
    added->limited += limited;
out:
    free(stages);
    free(values);
    return failed ? -1 : 0;
}

/* ---- appending ---- */

/* A history's text while lines are added to it. */
struct growing {
    FILE *out;
    char *text;
    size_t size;
};

static bool has_key(const struct growing *file, const char *key) {
    for (const char *at = file->text; (at = strstr(at, key)); at++) {
        if (at > file->text && at[-1] == '\n') return true;
    }
    return false;
}

static int add_run(struct growing *file, const struct run *run, const char *commit,
                   struct trend_added *added) {
    char **keys = calloc((size_t)run->stage_count + 1, sizeof *keys);
    int failed = !keys;
    for (int i = 0; i < run->stage_count && !failed; i++) {
        if (!has_line(&run->stages[i])) continue;
        keys[i] = key_text(run, &run->stages[i]);
        failed = !keys[i];
    }
    failed |= fflush(file->out);
    for (int i = 0; i < run->stage_count && !failed; i++) {
        bool first = keys[i] != NULL;
        for (int j = 0; j < i && first; j++) first = !keys[j] || strcmp(keys[i], keys[j]) != 0;
        if (!first) continue;
        if (has_key(file, keys[i])) {
            added->there++;
        } else {
            failed = write_line(run, keys, i, commit, file->out, added);
        }
    }
    for (int i = 0; i < run->stage_count && keys; i++) free(keys[i]);
    free(keys);
    return failed;
}

static void write_header(FILE *out) {
    for (int i = 0; i < column_count(); i++) fprintf(out, "%s%s", i ? "," : "", column_name(i));
    fputc('\n', out);
}

static int cannot_write(const char *path, int why, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(why));
}

/* Opens the file, and waits until no other process appends to it. Closing lets others append. -1 with err. */
static int open_alone(const char *path, struct lb_err *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0) return fd;
    cannot_write(path, errno, err);
    if (fd >= 0) close(fd);
    return -1;
}

/* All of the text or nothing. */
static int append_text(int fd, const char *path, const char *text, struct lb_err *err) {
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t length = (ssize_t)strlen(text), wrote = write(fd, text, (size_t)length);
    if (wrote == length) return 0;
    int why = wrote < 0 ? errno : ENOSPC;
    if (end >= 0 && ftruncate(fd, end) != 0) why = errno;
    return cannot_write(path, why, err);
}

static int append_runs(int fd, const char *path, struct run *const *runs, int run_count,
                       const char *commit, struct trend_added *added, struct lb_err *err) {
    struct stat status;
    struct growing file = {NULL};
    char *old = NULL;
    bool fresh = fstat(fd, &status) != 0 || status.st_size == 0;
    if (!fresh) {
        old = file_text(path, err);
        struct trend *sound = old ? trend_read(path, err) : NULL;
        trend_free(sound);
        if (!sound) {
            free(old);
            return -1;
        }
    }
    file.out = open_memstream(&file.text, &file.size);
    int failed = !file.out;
    if (!failed && fresh) write_header(file.out);
    if (!failed && !fresh) fputs(old, file.out);
    for (int i = 0; i < run_count && !failed; i++) failed = add_run(&file, runs[i], commit, added);
    if (file.out) failed |= fclose(file.out);
    if (failed) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
    } else if (added->lines > 0) {
        failed = append_text(fd, path, file.text + (fresh ? 0 : strlen(old)), err);
    }
    free(file.text);
    free(old);
    return failed ? -1 : 0;
}

int trend_append(const char *path, const char *const *paths, int path_count, const char *commit,
                 struct trend_added *ret, struct lb_err *err) {
    struct run **runs = NULL;
    int run_count = 0, fd = -1;
    bool any = false;
    *ret = (struct trend_added){0};
    int failed = run_read_all(paths, path_count, &runs, &run_count, err);
    for (int i = 0; i < run_count && !failed; i++) {
        for (int s = 0; s < runs[i]->stage_count; s++) any |= has_line(&runs[i]->stages[s]);
        if (!runs[i]->started_at)
            failed = err_set(err, LB_EXIT_USAGE, "%s: does not say when it began (.started_at)",
                             runs[i]->path);
    }
    if (!failed && !any)
        failed = err_set(err, LB_EXIT_USAGE,
                         "history: no stage of these runs came to its end: nothing to append");
    if (!failed) fd = open_alone(path, err);
    if (fd >= 0) {
        failed = append_runs(fd, path, runs, run_count, commit, ret, err);
        close(fd);
    }
    for (int i = 0; i < run_count; i++) run_free(runs[i]);
    free(runs);
    return failed || fd < 0 ? -1 : 0;
}
