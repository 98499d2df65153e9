/* hlog: see hlog.h. */
#define _GNU_SOURCE
#include "results/format/hlog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

struct hlog_reader {
    FILE *stream;
    char *name, *line; /* the current line, without its end; owned */
    size_t room;       /* bytes of line */
    long number;
    struct hist *hist; /* the histogram of the line that was returned last */
};

struct hlog_reader *hlog_open(const char *path, struct lb_err *err) {
    struct hlog_reader *reader = calloc(1, sizeof *reader);
    if (!reader || !(reader->name = strdup(path))) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
    } else if (!(reader->stream = fopen(path, "re"))) {
        err_set(err, LB_EXIT_USAGE, "%s: cannot be read as a histogram log: %s", path,
                strerror(errno));
    } else {
        return reader;
    }
    hlog_close(reader);
    return NULL;
}

void hlog_close(struct hlog_reader *reader) {
    if (!reader) return;
    if (reader->stream) fclose(reader->stream);
    hist_free(reader->hist);
    free(reader->name);
    free(reader->line);
    free(reader);
}

/* Reads "1795218481.253,", as decimal() writes it. *at moves past it. */
static bool read_seconds(char **at, int64_t *ret_ns) {
    char *point, *end;
    int64_t seconds = strtoll(*at, &point, 10);
    if (**at == '-' || point == *at || *point != '.' || seconds >= INT64_MAX / LB_S_NS / 2)
        return false;
    int64_t thousandths = strtoll(point + 1, &end, 10);
    if (end != point + 4 || *end != ',' || thousandths < 0) return false;
    *ret_ns = seconds * LB_S_NS + thousandths * LB_MS_NS;
    *at = end + 1;
    return true;
}

/* Tag=acquire,start,length,max,histogram. */
static int read_interval(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err) {
    struct hlog_line line = {.tag = reader->line + strlen("Tag=")};
    struct lb_err why = {0};
    char *at = strchr(line.tag, ',');
    if (at) *at++ = '\0';
    bool sound = at && read_seconds(&at, &line.start_ns) && read_seconds(&at, &line.length_ns) &&
                 (at = strchr(at, ','));
    if (!sound)
        return err_set(err, LB_EXIT_USAGE, "%s: line %ld is no interval", reader->name,
                       reader->number);
    line.hist = reader->hist = hdr_decode(at + 1, &why);
    if (!line.hist)
        return err_set(err, why.code, "%s: line %ld is not sound: %s", reader->name, reader->number,
                       why.text);
    *ret = line;
    return 1;
}

int hlog_next(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err) {
    hist_free(reader->hist);
    reader->hist = NULL;
    for (;;) {
        ssize_t length = getline(&reader->line, &reader->room, reader->stream);
        reader->number++;
        if (length < 0 && feof(reader->stream)) return 0;
        if (length < 0)
            return err_set(err, LB_EXIT_MACHINE, "%s: %s", reader->name, strerror(errno));
        reader->line[strcspn(reader->line, "\n")] = '\0';
        if (strncmp(reader->line, "Tag=", strlen("Tag=")) == 0)
            return read_interval(reader, ret, err);
    }
}
