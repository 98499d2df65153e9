/* number: see number.h. */
#include "report/doc/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/sort.h"

const struct number_unit number_plain = {"", 1};
const struct number_unit number_per_cent = {"%", 0.01};

static const struct number_unit time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

static char *copy_words(const char *words, char *text) {
    snprintf(text, NUMBER_TEXT_MAX, "%s", words);
    return text;
}

/* The text of a value that is no finite number. */
static char *odd_text(double value, char *text) {
    return copy_words(isinf(value) && value > 0 ? NUMBER_NEVER : NUMBER_NONE, text);
}

char *number_change_text(double shift, char *text) {
    char times[NUMBER_TEXT_MAX];
    if (isnan(shift)) {
        snprintf(text, NUMBER_TEXT_MAX, "%s", NUMBER_NONE);
    } else if (isinf(shift)) {
        copy_words(shift > 0 ? "without limit" : "-inf", text);
    } else if (shift >= 9) {
        snprintf(text, NUMBER_TEXT_MAX, "%.40sx", number_text(1 + shift, &number_plain, times));
    } else {
        snprintf(text, NUMBER_TEXT_MAX, shift < 1 ? "%+.1f %%" : "%+.0f %%", 100 * shift);
    }
    return text;
}

double number_median(double *values, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!isnan(values[i])) values[kept++] = values[i];
    }
    if (kept == 0) return NAN;
    sort_doubles(values, (size_t)kept);
    return kept % 2 ? values[kept / 2] : (values[kept / 2 - 1] + values[kept / 2]) / 2;
}

static const struct number_unit *unit_of(double ns) {
    int u = 0;
    while (u < 3 && fabs(ns) >= time_units[u + 1].scale) u++;
    return &time_units[u];
}

const struct number_unit *number_time_unit(double *values, int count) {
    double median = number_median(values, count);
    double least = isnan(median) ? 0 : values[0]; /* sorted by now */
    const struct number_unit *unit = unit_of(isnan(median) ? 0 : median);
    if (unit > time_units && least < unit->scale && median < 10000 * unit[-1].scale) unit--;
    return unit;
}

/* "1234567" becomes "1,234,567", in place; a fraction or a sign stays where it is. */
static void separate(char *text) {
    size_t digits = strspn(text, "0123456789"), length = strlen(text);
    for (size_t at = digits; at > 3; at -= 3, length++) {
        memmove(text + at - 2, text + at - 3, length - at + 4);
        text[at - 3] = ',';
    }
}

char *number_text(double value, const struct number_unit *unit, char *text) {
    if (!isfinite(value)) return odd_text(value, text);
    value /= unit->scale;
    if (value == 0) return copy_words("0", text);
    if (fabs(value) < 0.0001) return copy_words("<0.0001", text);
    /* The value is rounded first, because 999.6 is shown with four digits. */
    int magnitude = (int)floor(log10(fabs(value)));
    double step = pow(10, magnitude - 2);
    value = round(value / step) * step;
    magnitude = (int)floor(log10(fabs(value)) + 1e-9);
    int decimals = 2 - magnitude;
    snprintf(text, NUMBER_TEXT_MAX, "%.*f", decimals < 0 ? 0 : decimals > 4 ? 4 : decimals, value);
    separate(text);
    return text;
}

static char *text_with_unit(double value, const struct number_unit *unit, char *text) {
    if (!isfinite(value)) return odd_text(value, text);
    number_text(value, unit, text);
    size_t length = strlen(text);
    snprintf(text + length, NUMBER_TEXT_MAX - length, " %s", unit->name);
    return text;
}

char *number_time_text(double ns, char *text) {
    return text_with_unit(ns, unit_of(ns), text);
}

char *number_share_text(double share, char *text) {
    return text_with_unit(share, &number_per_cent, text);
}

char *number_count_text(double count, char *text) {
    if (!isfinite(count)) return odd_text(count, text);
    snprintf(text, NUMBER_TEXT_MAX, "%.*f", count == floor(count) ? 0 : 1, count);
    separate(text);
    return text;
}
