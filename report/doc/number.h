/* number: figures as people read them: three significant digits, one unit down a column, a dash for
 * what was not measured. It never invents a digit: an unknown figure is never a zero. */
#ifndef REPORT_DOC_NUMBER_H
#define REPORT_DOC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_NONE "\xe2\x80\x93" /* an en dash, for NAN */
#define NUMBER_NEVER "never"       /* for INFINITY: a wait that nothing ended */
#define NUMBER_TEXT_MAX 48

struct number_unit {
    const char *name; /* "us"; "" for a plain number */
    double scale;     /* one unit in the figure's own measure: 1000 for us of ns */
};

extern const struct number_unit number_plain;

/* The unit for a column of ns, chosen by its median so that most of its cells lie in 1 .. 1000.
 * NANs do not count; ns when there is none. Reorders nothing; values may be NULL with count 0. NULL
 * when out of memory. */
const struct number_unit *number_time_unit(const double *values, int count);

/* value / unit->scale with three significant digits and thousands separators: "21,300", "0.0412",
 * "–", "never"; below 0.0001 of the unit "<0.0001". Writes at most NUMBER_TEXT_MAX bytes into text and
 * returns it. */
char *number_text(double value, const struct number_unit *unit, char *text);

/* A time with its own best unit: "45.1 us". */
char *number_time_text(double ns, char *text);

/* A count in full with thousands separators: "1,234,567". */
char *number_count_text(double count, char *text);

/* How far a figure moved, as a part of what it was: 0.052 is "+5.2 %", 1.15 "+115 %", and from
 * tenfold on it says how many times as much it is: 63.8 is "64.8x". */
char *number_change_text(double shift, char *text);

/* The middle value, the mean of the two middle ones; NAN when there is none. NANs do not count.
 * Sorts values. */
double number_median(double *values, int count);

#endif
