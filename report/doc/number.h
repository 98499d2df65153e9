/* number: figures as people read them: three significant digits, one unit for a column, a dash for
 * a figure that was not measured. An unknown figure is never shown as a zero. */
#ifndef REPORT_DOC_NUMBER_H
#define REPORT_DOC_NUMBER_H

#define NUMBER_NONE "\xe2\x80\x93" /* an en dash, for NAN */
#define NUMBER_NEVER "never"       /* for INFINITY: a wait that nothing ended */
#define NUMBER_TEXT_MAX 48

struct number_unit {
    const char *name; /* "us"; "" for a plain number */
    double scale;     /* how many of the figure's own unit it has: 1000 for us of ns */
};

extern const struct number_unit number_plain;
extern const struct number_unit number_per_cent; /* of a share, 0 to 1 */

/* The unit for a column of ns, chosen by its median so that most of its cells lie in 1 .. 1000. NANs do not count; the
 * unit is ns if there are only NANs. Sorts values, which may be NULL with count 0. */
const struct number_unit *number_time_unit(double *values, int count);

/* Writes value / unit->scale with three significant digits and thousands separators: "21,300",
 * "0.0412", "–", "never"; below 0.0001 of the unit "<0.0001". Writes at most NUMBER_TEXT_MAX bytes
 * into text and returns it. */
char *number_text(double value, const struct number_unit *unit, char *text);

/* Writes a time with its own best unit: "45.1 us". */
char *number_time_text(double ns, char *text);

/* Writes a share, 0 to 1, as per cent: "1.20 %". */
char *number_share_text(double share, char *text);

/* Writes a count in full, with thousands separators: "1,234,567"; the median of an even number of
 * counts may end in a half: "2,006.5". */
char *number_count_text(double count, char *text);

/* Writes a relative change: 0.052 is "+5.2 %", 1.15 is "+115 %"; from tenfold on the factor is
 * written: 63.8 is "64.8x". */
char *number_change_text(double shift, char *text);

/* The median: the middle value, or the mean of the two middle ones; NAN if there are no values.
 * NANs do not count. Sorts values. */
double number_median(double *values, int count);

#endif
