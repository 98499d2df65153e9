/* hlog: see hlog.h. */
#include "results/format/hlog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "results/format/hdr.h"

/* value / unit with three decimals, rounded, with a point in every locale. */
struct decimal {
    char text[32];
};

static struct decimal decimal(int64_t value, int64_t unit) {
    struct decimal d;
    int64_t part = unit / 1000;
    int64_t thousandths = value < 0 ? 0 : value / part + (value % part >= part / 2);
    snprintf(d.text, sizeof d.text, "%" PRId64 ".%03d", thousandths / 1000,
             (int)(thousandths % 1000));
    return d;
}

static int check_printed(FILE *file, int printed, struct lb_err *err) {
    if (printed >= 0 && !ferror(file)) return 0;
    return err_set(err, LB_EXIT_MACHINE, "cannot write the histogram log: %s",
                   printed < 0 ? strerror(errno) : "an earlier write failed");
}

int hlog_begin(FILE *file, int64_t start_wall_ns, const char *version, struct lb_err *err) {
    time_t start_s = (time_t)(start_wall_ns / LB_S_NS);
    struct tm utc;
    char date[64];
    /* Java's Date.toString(), in the words of the C locale whatever the program's is. */
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (!gmtime_r(&start_s, &utc))
        return err_set(err, LB_EXIT_USAGE, "the log's start is not a date");
    snprintf(date, sizeof date, "%s %s %02d %02d:%02d:%02d UTC %d", days[utc.tm_wday],
             months[utc.tm_mon], utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
             1900 + utc.tm_year);
    int printed = fprintf(
        file,
        "#[lockbench %.60s]\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: %s (seconds since epoch), %s]\n"
        "#UNITS: StartTimestamp s, Interval_Length s, Interval_Max ms, histogram values ns\n"
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        version, decimal(start_wall_ns, LB_S_NS).text, date);
    return check_printed(file, printed, err);
}

static int tag_is_sound(const char *tag) {
    for (const char *c = tag; *c; c++) {
        if (*c <= ' ' || *c >= 0x7f || *c == ',') return 0;
    }
    return *tag != '\0';
}

int hlog_write(FILE *file, const char *tag, int64_t start_wall_ns, int64_t length_ns,
               const struct hist *h, struct lb_err *err) {
    if (!tag_is_sound(tag)) {
        return err_set(
            err, LB_EXIT_USAGE,
            "histogram tag '%s': use printable characters without comma or space, at least one",
            tag);
    }
    char *text = hdr_encode(h, err);
    if (!text) return -1;
    int printed = fprintf(file, "Tag=%s,%s,%s,%s,%s\n", tag, decimal(start_wall_ns, LB_S_NS).text,
                          decimal(length_ns, LB_S_NS).text, decimal(h->max, LB_MS_NS).text, text);
    free(text);
    return check_printed(file, printed, err);
}

/* --- the reader --- */

#define YEAR_NS (365 * 86400 * LB_S_NS)
#define FIRST_ROOM 4096

struct hlog_reader {
    FILE *stream;
    char *name;
    /* the current line, without its end, NUL-terminated; owned, like its `room` bytes */
    char *line;
    size_t room;
    long number;
    int64_t started_ns, base_ns; /* the times of #[StartTime and #[BaseTime */
    bool has_started, has_base;
    struct hist *hist; /* the histogram of the line that was returned last */
};

struct hlog_reader *hlog_open_stream(FILE *stream, const char *name, struct lb_err *err) {
    struct hlog_reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->stream = stream;
        reader->name = strdup(name);
        reader->line = malloc(FIRST_ROOM);
        reader->room = FIRST_ROOM;
        if (reader->name && reader->line) return reader;
        hlog_close(reader);
    } else {
        fclose(stream);
    }
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}

struct hlog_reader *hlog_open(const char *path, struct lb_err *err) {
    struct stat status;
    /* opening a pipe would wait for its writer */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_set(err, LB_EXIT_USAGE, "%s: cannot be read as a histogram log: %s", path,
                strerror(errno));
        return NULL;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        err_set(err, LB_EXIT_USAGE, "%s: is not a regular file", path);
        return NULL;
    }
    FILE *stream = fdopen(fd, "r");
    if (!stream) {
        close(fd);
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    return hlog_open_stream(stream, path, err);
}

void hlog_close(struct hlog_reader *reader) {
    if (!reader) return;
    fclose(reader->stream);
    hist_free(reader->hist);
    free(reader->name);
    free(reader->line);
    free(reader);
}

#define wrong(reader, err, ...) wrong_at((reader), (err), "" __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static int
wrong_at(const struct hlog_reader *reader, struct lb_err *err, const char *format, ...) {
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(err, LB_EXIT_USAGE, "%s: line %ld %s", reader->name, reader->number, what);
}

static bool has_room(struct hlog_reader *reader, size_t bytes) {
    if (bytes <= reader->room) return true;
    char *more = realloc(reader->line, 2 * reader->room);
    if (!more) return false;
    reader->line = more;
    reader->room *= 2;
    return true;
}

/* Reads the next line into reader->line. Returns 1, 0 at the end, or -1 with err. If a line is too
 * long, its rest is skipped, so that the next call begins with a new line. */
static int next_line(struct hlog_reader *reader, struct lb_err *err) {
    size_t length = 0;
    bool whole = true, nul = false;
    int c;
    reader->number++;
    while ((c = getc_unlocked(reader->stream)) != EOF && c != '\n') {
        if (length >= HLOG_LINE_MAX) {
            whole = false;
        } else if (!has_room(reader, length + 2)) {
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
        } else {
            nul |= c == '\0';
            reader->line[length++] = (char)c;
        }
    }
    if (c == EOF && ferror(reader->stream)) {
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", reader->name, strerror(errno));
    }
    if (c == EOF && length == 0) return 0;
    if (!whole) return wrong(reader, err, "is longer than %d bytes", HLOG_LINE_MAX);
    if (nul) return wrong(reader, err, "has a NUL byte, so this is no text");
    if (length > 0 && reader->line[length - 1] == '\r') length--;
    reader->line[length] = '\0';
    return 1;
}

/* Reads seconds, as digits, a point and digits in every locale, into ns; finer digits are cut.
 * *ret_end: the text after them. Returns false, and sets nothing, if there is no such number or it
 * is too large. */
static bool read_seconds(const char *text, const char **ret_end, int64_t *ret_ns) {
    int64_t ns = 0, unit = LB_S_NS;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, *at - '0', &ns))
            return false;
    }
    if (at == text || __builtin_mul_overflow(ns, LB_S_NS, &ns)) return false;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            if (__builtin_add_overflow(ns, (*at - '0') * unit, &ns)) return false;
        }
    }
    *ret_ns = ns;
    *ret_end = at;
    return true;
}

/* "#[StartTime: 1795218481.253 (seconds since epoch), ..." and similar comments; other comments are
 * ignored. */
static int read_comment(struct hlog_reader *reader, struct lb_err *err) {
    static const char version[] = "#[Histogram log format version ",
                      start[] = "#[StartTime: ", base[] = "#[BaseTime: ";
    const char *line = reader->line, *end;
    if (strncmp(line, version, sizeof version - 1) == 0) {
        const char *number = line + sizeof version - 1;
        if (number[0] == '1' && number[1] == '.' && number[2] >= '0' && number[2] <= '3' &&
            number[3] == ']')
            return 0;
        return wrong(reader, err, "says log format version %.10s: 1.0 to 1.3 can be read", number);
    }
    bool is_start = strncmp(line, start, sizeof start - 1) == 0;
    if (!is_start && strncmp(line, base, sizeof base - 1) != 0) return 0;
    int64_t ns;
    if (!read_seconds(line + (is_start ? sizeof start : sizeof base) - 1, &end, &ns) || *end != ' ')
        return wrong(reader, err, "has no time in seconds: %.60s", line);
    if (is_start) {
        reader->started_ns = ns;
        reader->has_started = true;
    } else {
        reader->base_ns = ns;
        reader->has_base = true;
    }
    return 0;
}

/* HistogramLogReader's rule: without a base, times more than a year before the log's start count
 * from it. */
static int place_in_time(struct hlog_reader *reader, int64_t *ns, struct lb_err *err) {
    if (!reader->has_started) {
        reader->started_ns = *ns;
        reader->has_started = true;
    }
    if (!reader->has_base) {
        reader->base_ns = *ns < reader->started_ns - YEAR_NS ? reader->started_ns : 0;
        reader->has_base = true;
    }
    if (__builtin_add_overflow(*ns, reader->base_ns, ns))
        return wrong(reader, err, "starts beyond all time");
    return 0;
}

/* Cuts off "Tag=x,"; *ret_rest: the text after it. */
static int read_tag(struct hlog_reader *reader, const char **ret_tag, char **ret_rest,
                    struct lb_err *err) {
    *ret_tag = "";
    *ret_rest = reader->line;
    if (strncmp(reader->line, "Tag=", 4) != 0) return 0;
    char *tag = reader->line + 4, *at = tag;
    while (*at > ' ' && *at < 0x7f && *at != ',') at++;
    if (at == tag || *at != ',')
        return wrong(reader, err, "has a tag that is empty or not printable");
    *at = '\0';
    *ret_tag = tag;
    *ret_rest = at + 1;
    return 0;
}

/* start,length,max,histogram. */
static int read_interval(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err) {
    struct hlog_line line = {.number = reader->number};
    int64_t end_ns;
    char *rest;
    const char *at;
    if (read_tag(reader, &line.tag, &rest, err) != 0) return -1;
    if (!read_seconds(rest, &at, &line.start_ns) || *at++ != ',')
        return wrong(reader, err, "does not begin with a time in seconds: %.40s", rest);
    if (!read_seconds(at, &at, &line.length_ns) || *at++ != ',')
        return wrong(reader, err, "has no interval's length in seconds: %.40s", at);
    size_t max = strspn(at, "0123456789.");
    if (max == 0 || at[max] != ',')
        return wrong(reader, err, "has no interval's maximum: %.40s", at);
    if (place_in_time(reader, &line.start_ns, err) != 0) return -1;
    if (__builtin_add_overflow(line.start_ns, line.length_ns, &end_ns))
        return wrong(reader, err, "ends beyond all time");
    struct lb_err why = {0};
    reader->hist = hdr_decode(at + max + 1, &why);
    if (!reader->hist && why.code == LB_EXIT_USAGE)
        return wrong(reader, err, "is not sound: %s", why.text);
    if (!reader->hist) return err_set(err, why.code, "%s", why.text);
    line.hist = reader->hist;
    *ret = line;
    return 1;
}

int hlog_next(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err) {
    hist_free(reader->hist);
    reader->hist = NULL;
    for (;;) {
        int got = next_line(reader, err);
        if (got <= 0) return got;
        if (reader->line[0] == '#') {
            if (read_comment(reader, err) != 0) return -1;
        } else if (reader->line[0] != '\0' &&
                   strncmp(reader->line, "\"StartTimestamp\"", 16) != 0) {
            return read_interval(reader, ret, err);
        }
    }
}
