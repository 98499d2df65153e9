/* self_check: see self_check.h. */
#include "bench/run/self_check.h"

#include <math.h>
#include <string.h>

#include "results/stats/series.h"

#define STATES_PART 0.02 /* of clients x window */
#define GRID_OFF_NS 2    /* a constant arrival is rounded to the nanosecond */
#define GAPS_MIN 100     /* with fewer, the statistic A2 says little */
#define Z_LIMIT 3.29     /* SELF_CHECK_ALPHA of a normal value, two-sided */
#define DRIFT_PART 0.1   /* less than so much of the mean changes no decision */

static enum self_result result_of(double figure, double limit, double *ret_figure,
                                  double *ret_limit) {
    *ret_figure = figure;
    *ret_limit = limit;
    return figure <= limit ? SELF_PASSED : SELF_FAILED;
}

/* ---- sums ---- */

static enum self_result check_outcomes(const struct self_facts *facts, double *ret_figure,
                                       double *ret_limit) {
    if (!facts->whole) return SELF_NOT_APPLICABLE;
    return result_of(fabs(facts->attempts - facts->outcomes), 0, ret_figure, ret_limit);
}

static enum self_result check_grants(const struct self_facts *facts, double *ret_figure,
                                     double *ret_limit) {
    if (!facts->whole || facts->rounds) return SELF_NOT_APPLICABLE;
    return result_of(fabs(facts->grants_of_clients - facts->grants_recorded), 0, ret_figure,
                     ret_limit);
}

static enum self_result check_records(const struct self_facts *facts, double *ret_figure,
                                      double *ret_limit) {
    if (!facts->whole || facts->rounds) return SELF_NOT_APPLICABLE;
    double recorded = facts->grants_recorded + facts->failed_recorded;
    return result_of(fabs(facts->attempts - recorded), 0, ret_figure, ret_limit);
}

static enum self_result check_log(const struct self_facts *facts, double *ret_figure,
                                  double *ret_limit) {
    if (!facts->whole || !facts->log_read) return SELF_NOT_APPLICABLE;
    return result_of(facts->log_apart, 0, ret_figure, ret_limit);
}

static enum self_result check_states(const struct self_facts *facts, double *ret_figure,
                                     double *ret_limit) {
    if (!facts->whole || !(facts->clients_ns > 0) || isnan(facts->states_ns))
        return SELF_NOT_APPLICABLE;
    return result_of(fabs(facts->states_ns / facts->clients_ns - 1), STATES_PART, ret_figure,
                     ret_limit);
}

/* ---- arrivals ---- */

static enum self_result check_gaps(const struct self_facts *facts, double *ret_figure,
                                   double *ret_limit) {
    if (!facts->whole || facts->arrival == ARRIVAL_CLOSED || facts->gap_count == 0)
        return SELF_NOT_APPLICABLE;
    if (facts->arrival == ARRIVAL_CONSTANT)
        return result_of(facts->grid_off_ns, GRID_OFF_NS, ret_figure, ret_limit);
    if (facts->gap_count < GAPS_MIN) return SELF_NOT_APPLICABLE;
    double a2 = series_exponential(facts->gaps, facts->gap_count);
    return result_of(isnan(a2) ? INFINITY : a2, SERIES_A2_LIMIT, ret_figure, ret_limit);
}

/* The deviation of the arrivals as a part of rate x window. At a constant rate each of the window's
 * two ends decides about one arrival. */
static enum self_result check_due(const struct self_facts *facts, double *ret_figure,
                                  double *ret_limit) {
    double expected = facts->due_expected;
    if (!facts->whole || facts->early || facts->arrival == ARRIVAL_CLOSED || expected < GAPS_MIN)
        return SELF_NOT_APPLICABLE;
    double limit = facts->arrival == ARRIVAL_CONSTANT ? 2 / expected : Z_LIMIT / sqrt(expected);
    return result_of(fabs(facts->due / expected - 1), limit, ret_figure, ret_limit);
}

/* ---- seconds ---- */

static bool has_series(const struct self_facts *facts) {
    return facts->whole && !facts->disturbed && facts->second_count >= SERIES_MIN &&
           facts->second_count <= SERIES_MAX;
}

/* The mean of the last third against that of the first, as a part of the mean of all. */
static double drift_of(const double *values, int count) {
    int third = count / 3;
    double first = 0, last = 0, all = 0;
    for (int i = 0; i < count; i++) all += values[i] / count;
    for (int i = 0; i < third; i++) first += values[i] / third;
    for (int i = count - third; i < count; i++) last += values[i] / third;
    return all > 0 ? fabs(last - first) / all : 0;
}

static enum self_result check_stationary(const struct self_facts *facts, double *ret_figure,
                                         double *ret_limit) {
    if (!has_series(facts)) return SELF_NOT_APPLICABLE;
    double drift = drift_of(facts->seconds, facts->second_count);
    bool trend = series_trend_p(facts->seconds, facts->second_count) < SELF_CHECK_ALPHA;
    enum self_result result = result_of(drift, DRIFT_PART, ret_figure, ret_limit);
    return trend ? result : SELF_PASSED;
}

/* The correlation that chance exceeds with the probability SELF_CHECK_ALPHA, by halving. */
static double lag1_limit(int count) {
    double low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (series_lag1_p(middle, count) > SELF_CHECK_ALPHA) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static enum self_result check_independent(const struct self_facts *facts, double *ret_figure,
                                          double *ret_limit) {
    if (!has_series(facts)) return SELF_NOT_APPLICABLE;
    double r = series_lag1(facts->seconds, facts->second_count);
    if (isnan(r)) return SELF_NOT_APPLICABLE;
    return result_of(r, lag1_limit(facts->second_count), ret_figure, ret_limit);
}

/* ---- the table ---- */

static const struct self_check checks[] = {
    {"outcomes", "the attempts that threads began are the outcomes that they counted",
     "the counts are wrong: please report", true, check_outcomes},
    {"grants", "the grants that clients counted are the waits that threads recorded",
     "the counts are wrong: please report", true, check_grants},
    {"records", "each attempt was recorded, as a grant or as a failed wait",
     "the latencies lack attempts: please report", true, check_records},
    {"log", "the histograms of all seconds in the .hlog add up to the stage's own",
     "the figures over time lack values: a thread answered too late", true, check_log},
    {"states", "what clients did adds up to clients x window (Little's law), within 2 %",
     "some time of the clients is not accounted for", true, check_states},
    {"arrivals",
     "the arrivals have the distribution that was asked for (the figure: of constant arrivals the "
     "greatest distance from the planned time in ns, of Poisson arrivals A2 of Anderson and Darling)",
     "the load was another one than asked for: please report", false, check_gaps},
    {"arrival-count",
     "the number of arrivals is rate x window, up to chance (the figure: the difference, as a share)",
     "the load was another one than asked for: please report", false, check_due},
    {"stationary",
     "the seconds do not rise or fall by more than a tenth of their mean (Mann-Kendall)",
     "the figures depend on how long the stage ran", false, check_stationary},
    {"independent",
     "the value of one second does not predict that of the next second (lag-1 correlation)",
     "intervals that were made from the seconds of this stage are too narrow", false,
     check_independent},
    {NULL, NULL, NULL, false, NULL}};

const struct self_check *self_checks(void) {
    return checks;
}

static json_t *check_number_json(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *self_checks_json(const struct self_facts *facts) {
    static const char *const results[] = {"passed", "failed", "not-applicable"};
    json_t *array = json_array();
    for (const struct self_check *check = checks; check->name; check++) {
        double figure = NAN, limit = NAN;
        enum self_result result = check->compute(facts, &figure, &limit);
        json_t *item = json_pack(
            "{s:s, s:s, s:o, s:o, s:f, s:s, s:s}", "name", check->name, "result", results[result],
            "figure", check_number_json(figure), "limit", check_number_json(limit), "false_alarms",
            check->exact ? 0.0 : SELF_CHECK_ALPHA, "what", check->what, "if_not", check->if_not);
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

void self_checks_warn(const json_t *results, json_t *warnings) {
    size_t i;
    json_t *check;
    json_array_foreach(results, i, check) {
        const char *result = json_string_value(json_object_get(check, "result"));
        if (!result || strcmp(result, "failed") != 0) continue;
        json_array_append_new(
            warnings,
            json_sprintf("self-check %s failed: it must hold that %s (%.4g, at most %.4g): %s",
                         json_string_value(json_object_get(check, "name")),
                         json_string_value(json_object_get(check, "what")),
                         json_number_value(json_object_get(check, "figure")),
                         json_number_value(json_object_get(check, "limit")),
                         json_string_value(json_object_get(check, "if_not"))));
    }
}
