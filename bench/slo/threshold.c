/* threshold: see threshold.h. */
#include "bench/slo/threshold.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/nearest.h"
#include "bench/option/text.h"

#define EXAMPLE "write it as acquire_due.p99<=20ms"
#define NAME_MAX_BYTES 64
#define NUMBER_MAX 1e18

/* ---- the figure ---- */

/* True if name is the whole path, or its end after a dot. */
static bool is_end_of(const char *path, const char *name) {
    size_t length = strlen(path), end = strlen(name);
    if (end > length || strcmp(path + length - end, name) != 0) return false;
    return end == length || path[length - end - 1] == '.';
}

/* Names that people use for a figure, beside its own. */
static const char *const other_names[][2] = {{"failed", "not_granted"}};

static bool is_called(const struct result_field *field, const char *name) {
    if (strcmp(field->path, name) == 0) return true;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (strcmp(other_names[i][0], name) == 0 && strcmp(other_names[i][1], field->path) == 0)
            return true;
    }
    return field->compared && strcmp(field->compared, name) == 0;
}

/* True if a threshold may be about this field: a figure, or (latency) an object that has
 * quantiles. */
static bool can_be_promised(const struct result_field *field, bool latency) {
    if (latency) return field->kind == RESULT_LATENCY;
    return result_field_is_figure(field) && field->kind != RESULT_YES_NO;
}

/* The row that a name means: by its whole path, by its name in `compare`, or by an end that only
 * one path has. NULL if there is none. *ret_other: a second row that the name may mean, or NULL. */
static const struct result_field *find_row(const char *name, bool latency,
                                           const struct result_field **ret_other) {
    const struct result_field *found = NULL;
    *ret_other = NULL;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!can_be_promised(field, latency)) continue;
        if (is_called(field, name)) {
            *ret_other = NULL;
            return field;
        }
        if (!is_end_of(field->path, name)) continue;
        if (found) *ret_other = field;
        if (!found) found = field;
    }
    return found;
}

/* The name that was probably meant, among whole paths and their ends. */
static int refuse_name(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[120];
    nearest_init(&nearest, name);
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!can_be_promised(field, false)) continue;
        nearest_offer(&nearest, field->path);
        if (field->compared) nearest_offer(&nearest, field->compared);
        for (const char *dot = strchr(field->path, '.'); dot; dot = strchr(dot + 1, '.'))
            nearest_offer(&nearest, dot + 1);
    }
    return err_set(err, LB_EXIT_USAGE,
                   "'%s' can't be promised: a stage has no such figure%s (results/FIELDS.md lists "
                   "them); " EXAMPLE,
                   name, nearest_hint(&nearest, hint, sizeof hint));
}

/* "p99", "p99.9"; "p999" is p99.9, as in run.json. */
static int read_quantile(const char *word, double *ret, struct lb_err *err) {
    double percent = 0;
    struct lb_err why = {0};
    if (strcmp(word, "p999") == 0) {
        *ret = 0.999;
        return 0;
    }
    if (word[0] != 'p' || text_real(word + 1, 100 * THRESHOLD_QUANTILE_MIN,
                                    100 * THRESHOLD_QUANTILE_MAX, &percent, &why))
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is no quantile from p50 to p99.99; " EXAMPLE,
                       word);
    *ret = percent / 100;
    return 0;
}

static bool is_other_part(const char *word) {
    for (const struct result_field *part = run_latency_fields(); part->path; part++) {
        if (part->path[0] != 'p' && strcmp(part->path, word) == 0) return true;
    }
    return false;
}

/* A figure that is a quantile by a name of its own (acquire_p99, response_ns.p99) is judged as that quantile: so it
 * counts what was never granted, and the seconds of a run. */
static void read_own_name(struct threshold *ret) {
    const struct result_field *other;
    const char *path = ret->figure->path, *part = strrchr(path, '.');
    char head[NAME_MAX_BYTES];
    double quantile;
    struct lb_err why = {0};
    if (!part || text_trim(path, (size_t)(part - path), head, sizeof head) ||
        read_quantile(part + 1, &quantile, &why))
        return;
    bool response = strcmp(head, "response_ns") == 0;
    const struct result_field *row =
        find_row(response ? "latency_ns.acquire_due" : head, true, &other);
    if (!row) return;
    ret->figure = row;
    ret->quantile = quantile;
}

/* Splits "acquire_due.p99" into a row and a quantile; the quantile is NAN if the figure is none. */
static int read_figure(const char *name, struct threshold *ret, struct lb_err *err) {
    const struct result_field *other;
    char head[NAME_MAX_BYTES], rest[NAME_MAX_BYTES];
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (text_trim(name, (size_t)(dot - name), head, sizeof head) ||
            text_trim(dot + 1, strlen(dot + 1), rest, sizeof rest))
            break;
        const struct result_field *latency = find_row(head, true, &other);
        if (!latency || is_other_part(rest)) continue;
        ret->figure = latency;
        return read_quantile(rest, &ret->quantile, err);
    }
    ret->figure = find_row(name, false, &other);
    ret->quantile = NAN;
    if (!ret->figure) return refuse_name(name, err);
    if (!other) {
        read_own_name(ret);
        return 0;
    }
    return err_set(err, LB_EXIT_USAGE,
                   "'%s' is no promise: it can be %s or %s: write the whole path", name,
                   ret->figure->path, other->path);
}

/* ---- the limit ---- */

static int read_number(const char *word, double *ret, struct lb_err *err) {
    char digits[40];
    size_t length = strlen(word);
    bool percent = length > 0 && word[length - 1] == '%';
    if (text_trim(word, length - percent, digits, sizeof digits) ||
        text_real(digits, -NUMBER_MAX, NUMBER_MAX, ret, err))
        return -1;
    if (percent) *ret /= 100;
    return 0;
}

static int read_limit(const char *word, const struct threshold *threshold, double *ret,
                      struct lb_err *err) {
    int64_t limit_ns = 0;
    bool time = !isnan(threshold->quantile) || result_field_is_time(threshold->figure);
    int rc = time ? text_duration(word, LB_US_NS, HIST_HIGHEST_NS, &limit_ns, err)
                  : read_number(word, ret, err);
    if (rc) err_prefix(err, "the limit");
    if (rc == 0 && time) *ret = (double)limit_ns;
    return rc;
}

int threshold_read(const char *text, struct threshold *ret, struct lb_err *err) {
    char name[NAME_MAX_BYTES], limit[40];
    struct threshold threshold = {.quantile = NAN};
    const char *sign = strstr(text, "<=");
    if (!sign) sign = strstr(text, ">=");
    if (!sign || text_trim(text, (size_t)(sign - text), name, sizeof name) || !*name ||
        text_trim(sign + 2, strlen(sign + 2), limit, sizeof limit)) {
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is no promise: " EXAMPLE, text);
    }
    threshold.at_least = sign[0] == '>';
    /* Blanks around the dots mean nothing. */
    char *to = name;
    for (const char *from = name; *from; from++)
        if (*from != ' ') *to++ = *from;
    *to = '\0';
    if (read_figure(name, &threshold, err) || read_limit(limit, &threshold, &threshold.limit, err))
        return -1;
    snprintf(threshold.text, sizeof threshold.text, "%s%.2s%s", name, sign, limit);
    *ret = threshold;
    return 0;
}

int thresholds_read(const char *text, struct threshold *ret, struct lb_err *err) {
    int count = 0;
    for (bool more = *text; more;) {
        size_t length = strcspn(text, ",");
        char one[THRESHOLD_TEXT_MAX];
        if (text_trim(text, length, one, sizeof one))
            return err_set(err, LB_EXIT_USAGE, "'%.60s...' is no promise: " EXAMPLE, text);
        if (count == THRESHOLDS_MAX)
            return err_set(err, LB_EXIT_USAGE, "more than %d promises", THRESHOLDS_MAX);
        if (threshold_read(one, &ret[count], err)) return -1;
        count++;
        more = text[length] == ',';
        text += length + more;
    }
    return count;
}

enum metric threshold_metric(const struct threshold *threshold) {
    if (isnan(threshold->quantile)) return METRICS;
    size_t begin = offsetof(struct run_stage, latency);
    return (enum metric)((threshold->figure->offset - begin) / sizeof(struct run_latency));
}

bool threshold_needs_schedule(const struct threshold *threshold) {
    static const char *const starts[] = {"latency_ns.acquire_due", "latency_ns.lag", "arrivals.",
                                         "offered_per_s"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(threshold->figure->path, starts[i], strlen(starts[i])) == 0) return true;
    }
    return false;
}

bool threshold_leaves_out_wait(const struct threshold *threshold) {
    static const char acquire[] = "latency_ns.acquire";
    const char *path = threshold->figure->path;
    bool time = !isnan(threshold->quantile) || result_field_is_time(threshold->figure);
    return time && strncmp(path, acquire, strlen(acquire)) == 0 &&
           !threshold_needs_schedule(threshold);
}
