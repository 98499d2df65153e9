/* hlog: see hlog.h. It refuses to read logs: HdrHistogram's own tools do that, and reports read
 * run.json. */
#include "results/format/hlog.h"

#include <errno.h>
#include <inttypes.h>
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
