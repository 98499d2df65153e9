/* trend_file: reads a history's CSV file. See trend.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/utf8.h"
#include "report/run/words.h"
#include "report/trend/trend_parts.h"
#include "results/format/field.h"
#include "results/format/tree.h"

#define LINES_MAX 10000000
#define BYTE_ORDER_MARK                                                                            \
    "\xef\xbb\xbf" /* spreadsheets write it before the text of a file in UTF-8 */

const char *const trend_columns[TREND_TEXTS] = {
    [TREND_TIME] = "time",         [TREND_COMMIT] = "commit",
    [TREND_RUN] = "run",           [TREND_ENVIRONMENT] = "environment",
    [TREND_HOST] = "host",         [TREND_KERNEL] = "kernel",
    [TREND_SERVER] = "server",     [TREND_LOCK] = "lock",
    [TREND_CLIENTS] = "clients",   [TREND_LOAD] = "load",
    [TREND_TOPOLOGY] = "topology", [TREND_DURABILITY] = "durability",
    [TREND_EXECUTOR] = "executor", [TREND_REPEATS] = "repeats",
    [TREND_VERDICT] = "verdict",   [TREND_LIMITED] = "limited",
};

bool trend_is_time(const char *text) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    for (const char *sign = form; *sign; sign++, text++) {
        if (*sign == 'd' ? !isdigit((unsigned char)*text) : *text != *sign) return false;
    }
    if (*text == '.') text += 1 + strspn(text + 1, "0123456789");
    return strcmp(text, "Z") == 0;
}

int trend_by_series(const struct trend_line *a, const struct trend_line *b) {
    static const enum trend_text key[] = {TREND_LOCK,       TREND_LOAD,       TREND_CLIENTS,
                                          TREND_TOPOLOGY,   TREND_DURABILITY, TREND_EXECUTOR,
                                          TREND_ENVIRONMENT};
    int order = 0;
    for (size_t i = 0; i < sizeof key / sizeof *key && !order; i++) {
        const char *x = a->text[key[i]], *y = b->text[key[i]];
        order = key[i] == TREND_CLIENTS ? (atof(x) > atof(y)) - (atof(x) < atof(y)) : 0;
        if (!order) order = strcmp(x, y);
    }
    return order;
}

struct reader {
    char *at; /* the part that is not read yet */
    int line;
    const char *path;
    struct lb_err *err;
    struct trend *trend;
};

static int bad(const struct reader *reader, const char *what) {
    return err_set(reader->err, LB_EXIT_USAGE, "%s:%d: %s", reader->path, reader->line, what);
}

/* Cuts the next line into fields, in place. Returns their number; 0 at the end; -1 with err. */
static int next_fields(struct reader *reader, char **fields) {
    char *from = reader->at, *to;
    int count = 0, lines = 0;
    reader->line++;
    if (!*from) return 0;
    for (;;) {
        bool quoted = *from == '"';
        if (count == TREND_COLUMNS_MAX) return bad(reader, "has too many fields");
        fields[count] = to = from += quoted;
        for (; *from && (quoted || !strchr(",\r\n", *from)); from++) {
            if (quoted && *from == '"' && *++from != '"') break;
            lines += *from == '\n';
            *to++ = *from;
        }
        if (quoted &&
            (from == fields[count] || from[-1] != '"' || (*from && !strchr(",\r\n", *from))))
            return bad(reader, "has a quoted field without its end");
        count++;
        char after = *from;
        if (after == '\r' && from[1] == '\n') from++;
        from += *from != '\0';
        *to = '\0';
        if (after == ',') continue;
        if (after == '\0')
            return bad(
                reader,
                "was cut off: its end is missing: remove the line, and append its run again");
        break;
    }
    /* Removes the character that escape_csv put before a text that a spreadsheet would run. */
    for (int i = 0; i < count; i++) {
        if (fields[i][0] == '\'' && fields[i][1] && strchr("=+-@\t\r", fields[i][1])) fields[i]++;
    }
    reader->at = from;
    reader->line += lines;
    return count;
}

static int column_of(const char *name) {
    for (int i = 0; i < TREND_TEXTS; i++) {
        if (strcmp(name, trend_columns[i]) == 0) return i;
    }
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(name, compare_metric(m)->compared) == 0) return TREND_TEXTS + m;
    }
    return -1;
}

static int read_header(struct reader *reader) {
    char *fields[TREND_COLUMNS_MAX];
    bool seen[TREND_TEXTS + COMPARE_METRICS_MAX] = {false};
    struct trend *trend = reader->trend;
    trend->columns = next_fields(reader, fields);
    if (trend->columns < 0) return -1;
    for (int i = 0; i < trend->columns; i++) {
        int column = trend->column[i] = column_of(fields[i]);
        if (column >= 0 && seen[column]) return bad(reader, "names a column twice");
        if (column >= 0) seen[column] = true;
    }
    for (int i = 0; i < TREND_NEEDED; i++) {
        if (!seen[i])
            return err_set(reader->err, LB_EXIT_USAGE,
                           "%s: is no history of lockbench: its first line names no column '%s'",
                           reader->path, trend_columns[i]);
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

static int read_trend_figure(const struct reader *reader, int metric, const char *text,
                             double *ret) {
    if (!*text) return 0; /* not measured */
    if (strcmp(text, RESULT_NEVER) == 0) {
        *ret = INFINITY;
        return 0;
    }
    if (read_decimal(text, ret)) return 0;
    return err_set(reader->err, LB_EXIT_USAGE,
                   "%s:%d: %s '%.40s' is neither a number of 0 or more nor never", reader->path,
                   reader->line, compare_metric(metric)->compared, text);
}

static int check_counts(const struct reader *reader, const struct trend_line *line) {
    static const enum trend_text counts[] = {TREND_CLIENTS, TREND_REPEATS, TREND_LIMITED};
    enum { DIGITS_MAX = 9 }; /* such a number is an int */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *text = line->text[counts[i]];
        if (counts[i] == TREND_LIMITED && !*text) continue; /* older files lack this column */
        if (result_text_is_count(text) && strlen(text) <= DIGITS_MAX) continue;
        return err_set(reader->err, LB_EXIT_USAGE,
                       "%s:%d: %s '%.40s' is no whole number of 0 or more", reader->path,
                       reader->line, trend_columns[counts[i]], text);
    }
    return 0;
}

static int read_trend_line(struct reader *reader, char **fields, struct trend_line *line) {
    for (int i = 0; i < TREND_TEXTS; i++) line->text[i] = "";
    for (int m = 0; m < compare_metric_count(); m++) line->figure[m] = NAN;
    for (int i = 0; i < reader->trend->columns; i++) {
        int column = reader->trend->column[i];
        if (column < 0) continue;
        if (!utf8_is_valid(fields[i]))
            return err_set(reader->err, LB_EXIT_USAGE, "%s:%d: '%.40s' is no UTF-8", reader->path,
                           reader->line, fields[i]);
        int metric = column - TREND_TEXTS;
        if (metric < 0) {
            line->text[column] = fields[i];
        } else if (read_trend_figure(reader, metric, fields[i], &line->figure[metric]) != 0) {
            return -1;
        }
    }
    if (!trend_is_time(line->text[TREND_TIME]))
        return bad(reader, "time is not like " TREND_TIME_EXAMPLE);
    if (!*line->text[TREND_LOCK]) return bad(reader, "names no lock");
    if (check_counts(reader, line) != 0) return -1;
    if (words_state_of(line->text[TREND_VERDICT], &line->state, reader->err) == 0) return 0;
    err_prefix(reader->err, "%s:%d", reader->path, reader->line);
    return -1;
}

/* In the order of the file, into whose text lines point. */
static int by_place(const struct trend_line *x, const struct trend_line *y) {
    return (x->text[TREND_TIME] > y->text[TREND_TIME]) -
           (x->text[TREND_TIME] < y->text[TREND_TIME]);
}

static int by_time(const void *a, const void *b) {
    const struct trend_line *x = a, *y = b;
    int order = strcmp(x->text[TREND_TIME], y->text[TREND_TIME]);
    if (!order) order = strcmp(x->text[TREND_RUN], y->text[TREND_RUN]);
    if (!order) order = trend_by_series(x, y);
    return order ? order : by_place(x, y);
}

/* Not measured comes before each number. */
static int by_figure(double x, double y) {
    return isnan(x) || isnan(y) ? isnan(y) - isnan(x) : (x > y) - (x < y);
}

static int by_contents(const struct trend_line *x, const struct trend_line *y) {
    int order = 0;
    for (int i = 0; !order && i < TREND_TEXTS; i++) order = strcmp(x->text[i], y->text[i]);
    for (int m = 0; !order && m < compare_metric_count(); m++)
        order = by_figure(x->figure[m], y->figure[m]);
    return order;
}

static int by_contents_and_place(const void *a, const void *b) {
    int order = by_contents(a, b);
    return order ? order : by_place(a, b);
}

/* Leaves the first one of equal lines: one run is one sample, however often a merge or a copy has put its line there. */
static void leave_out_copies(struct trend *trend) {
    int kept = 0;
    qsort(trend->lines, (size_t)trend->count, sizeof *trend->lines, by_contents_and_place);
    for (int i = 0; i < trend->count; i++) {
        if (kept > 0 && by_contents(&trend->lines[kept - 1], &trend->lines[i]) == 0) continue;
        trend->lines[kept++] = trend->lines[i];
    }
    trend->copies = trend->count - kept;
    trend->count = kept;
}

/* The number of fields is that of the first line, and the line is none of the two kinds that joined or merged files have. */
static int check_fields(struct reader *reader, char **fields, int count) {
    const struct trend *trend = reader->trend;
    if (count > 0 && (strncmp(fields[0], "<<<<<<<", 7) == 0 || strcmp(fields[0], "=======") == 0 ||
                      strncmp(fields[0], ">>>>>>>", 7) == 0))
        return bad(
            reader,
            "is a mark of a conflict of git: keep the lines of both sides, and remove the marks");
    if (count != trend->columns)
        return err_set(reader->err, LB_EXIT_USAGE,
                       "%s:%d: has %d fields, and the first line names %d", reader->path,
                       reader->line, count, trend->columns);
    for (int i = 0; i < count; i++) {
        if (trend->column[i] == TREND_TIME && strcmp(fields[i], trend_columns[TREND_TIME]) == 0)
            return bad(reader, "names the columns again: remove this line");
    }
    return 0;
}

static int read_lines(struct reader *reader) {
    struct trend *trend = reader->trend;
    char *fields[TREND_COLUMNS_MAX];
    int room = 0;
    for (int count; (count = next_fields(reader, fields)) != 0;) {
        if (count < 0) return -1;
        if (count == 1 && !*fields[0]) continue; /* an empty line */
        if (check_fields(reader, fields, count) != 0) return -1;
        if (trend->count == LINES_MAX) return bad(reader, "too many lines");
        if (trend->count == room) {
            room = room ? 2 * room : 64;
            struct trend_line *more = realloc(trend->lines, (size_t)room * sizeof *more);
            if (!more) return err_set(reader->err, LB_EXIT_MACHINE, "out of memory");
            trend->lines = more;
        }
        if (read_trend_line(reader, fields, &trend->lines[trend->count]) != 0) return -1;
        trend->count++;
    }
    if (trend->count == 0) return 0;
    leave_out_copies(trend);
    qsort(trend->lines, (size_t)trend->count, sizeof *trend->lines, by_time);
    return 0;
}

struct trend *trend_parse(char *text, const char *path, struct lb_err *err) {
    struct trend *trend = calloc(1, sizeof *trend);
    if (!trend || !(trend->path = strdup(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        free(text);
        trend_free(trend);
        return NULL;
    }
    trend->buffer = text;
    bool marked = strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0;
    struct reader reader = {.at = text + (marked ? strlen(BYTE_ORDER_MARK) : 0),
                            .path = trend->path,
                            .err = err,
                            .trend = trend};
    if (read_header(&reader) == 0 && read_lines(&reader) == 0) return trend;
    trend_free(trend);
    return NULL;
}

struct trend *trend_read(const char *path, struct lb_err *err) {
    size_t length;
    char *text = tree_file(path, "a history",
                           "the file that `lockbench history RUN... --append` made", &length, err);
    if (!text) return NULL;
    if (strlen(text) == length) return trend_parse(text, path, err);
    free(text);
    err_set(err, LB_EXIT_USAGE, "%s: is no history of lockbench: it has zero bytes in it", path);
    return NULL;
}

void trend_free(struct trend *trend) {
    if (!trend) return;
    free(trend->lines);
    free(trend->buffer);
    free(trend->path);
    free(trend);
}
