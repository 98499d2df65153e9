/* truths: computes true values from the log of a fake server; see answers.h. lockbench, whose figures are compared with
 * these values, uses no code of this file. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/base/sort.h"
#include "bench/tests/answers/answers.h"

/* Quantile, or the mean, of values, which are sorted and freed. NAN of none. */
static double summarize(double *values, size_t count, double quantile) {
    double result = NAN, sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    if (count > 0 && quantile == MEAN) result = sum / (double)count;
    if (count > 0 && quantile != MEAN) {
        sort_doubles(values, count);
        size_t rank = (size_t)ceil(quantile * (double)count);
        result = values[rank > 0 ? rank - 1 : 0];
    }
    free(values);
    return result;
}

static double *make_values(const struct seen *seen, size_t *ret_count) {
    *ret_count = atomic_load(&seen->log->count);
    double *values = calloc(*ret_count + 1, sizeof *values);
    if (!values) abort();
    return values;
}

/* The time of a round trip on the connection and of the client's own work: from a grant's answer to the client's
 * release, less the hold. NAN: the client sent no release. */
static double wire_of(const struct seen *seen, size_t all, size_t grant_number) {
    const struct fake_record *grant = &seen->log->record[grant_number], *next = grant + 1;
    while (next < &seen->log->record[all] && next->client != grant->client) next++;
    if (next == &seen->log->record[all] || next->kind != FAKE_RELEASE) return NAN;
    return (double)(next->received_ns - grant->sent_ns - seen->experiment->hold_ns);
}

static bool is_grant(const struct fake_record *record) {
    return record->kind == FAKE_ACQUIRE && record->outcome == FAKE_GRANTED;
}

double truth_wire(const struct seen *seen, double unused) {
    size_t all, count = 0;
    double *values = make_values(seen, &all);
    (void)unused;
    for (size_t i = 0; i < all; i++) {
        double wire = is_grant(&seen->log->record[i]) ? wire_of(seen, all, i) : NAN;
        if (!isnan(wire)) values[count++] = wire;
    }
    return summarize(values, count, 0.5);
}

double truth_time(const struct seen *seen, double ns) {
    return ns + truth_wire(seen, 0);
}

double truth_residence(const struct seen *seen, double quantile) {
    size_t all, count = 0;
    double *values = make_values(seen, &all);
    for (size_t i = 0; i < all; i++) {
        const struct fake_record *record = &seen->log->record[i];
        double wire = is_grant(record) ? wire_of(seen, all, i) : NAN;
        if (!isnan(wire)) values[count++] = (double)(record->sent_ns - record->received_ns) + wire;
    }
    return summarize(values, count, quantile);
}

/* W(n+1) = max(0, W(n) + S(n) - A(n)): D. V. Lindley, 1952. Writes for each acquire of the log how
 * long it waits and is served, and how much later its answer was sent than that. Returns how many. */
static size_t play_queue(const struct seen *seen, size_t all, double *ret_times, double *ret_late) {
    const struct fake_record *before = NULL;
    double wait = 0;
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct fake_record *record = &seen->log->record[i];
        if (record->kind != FAKE_ACQUIRE) continue;
        if (before) {
            double between = (double)(record->received_ns - before->received_ns);
            wait = fmax(0, wait + (double)before->service_ns - between);
        }
        before = record;
        ret_times[count] = wait + (double)record->service_ns;
        ret_late[count] = (double)(record->sent_ns - record->received_ns) - ret_times[count];
        count++;
    }
    return count;
}

double truth_lindley(const struct seen *seen, double quantile) {
    size_t all;
    double *times = make_values(seen, &all), *late = make_values(seen, &all);
    size_t count = play_queue(seen, all, times, late);
    return summarize(times, count, quantile) + summarize(late, count, 0.5) + truth_wire(seen, 0);
}

double truth_md1_wait_at_most(double rate_per_s, double service_s, double wait_s) {
    double sum = 0;
    for (int k = 0; k * service_s <= wait_s; k++) {
        double x = rate_per_s * (k * service_s - wait_s), power_over_factorial = 1;
        for (int i = 1; i <= k; i++) power_over_factorial *= x / i;
        sum += power_over_factorial * exp(-x);
    }
    return (1 - rate_per_s * service_s) * sum;
}

/* The offered rate of a queue, and its service time. */
static double rate_of(const struct seen *seen) {
    return answers_figure(seen, "offered_per_s");
}

static double service_of(const struct seen *seen) {
    return (double)seen->experiment->script.acquire_ns / 1e9;
}

double truth_endless_md1(const struct seen *seen, double quantile) {
    double low_s = 0, high_s = service_of(seen);
    /* The search goes no further than needed: in a long sum the terms cancel, and lose their digits. */
    while (truth_md1_wait_at_most(rate_of(seen), service_of(seen), high_s) < quantile) high_s *= 2;
    for (int i = 0; i < 60; i++) {
        double middle_s = (low_s + high_s) / 2;
        bool within = truth_md1_wait_at_most(rate_of(seen), service_of(seen), middle_s) >= quantile;
        *(within ? &high_s : &low_s) = middle_s;
    }
    return (high_s + service_of(seen)) * 1e9;
}

/* Wait and service of M/M/1 together are exponential. */
double truth_endless_mm1(const struct seen *seen, double quantile) {
    return -log(1 - quantile) / (1 / service_of(seen) - rate_of(seen)) * 1e9;
}

double truth_count(const struct seen *seen, double outcome) {
    bool of_release = outcome == FAKE_RELEASED || outcome == FAKE_LOST;
    double count = 0;
    size_t all = atomic_load(&seen->log->count);
    for (size_t i = 0; i < all; i++) {
        const struct fake_record *record = &seen->log->record[i];
        count += record->kind == (of_release ? FAKE_RELEASE : FAKE_ACQUIRE) &&
                 record->outcome == (uint8_t)outcome;
    }
    return count;
}

double truth_bytes(const struct seen *seen, double unused) {
    double bytes = 0;
    size_t all = atomic_load(&seen->log->count);
    (void)unused;
    for (size_t i = 0; i < all; i++) {
        const struct fake_record *record = &seen->log->record[i];
        bool of_lock = record->kind == FAKE_ACQUIRE || record->kind == FAKE_RELEASE ||
                       record->kind == FAKE_LOOK;
        if (of_lock) bytes += record->bytes_in + record->bytes_out;
    }
    return bytes / truth_count(seen, FAKE_GRANTED);
}

double truth_rate(const struct seen *seen, double unused) {
    int64_t first_ns = 0, last_ns = 0;
    double grants = truth_count(seen, FAKE_GRANTED);
    size_t all = atomic_load(&seen->log->count);
    (void)unused;
    for (size_t i = 0; i < all; i++) {
        const struct fake_record *record = &seen->log->record[i];
        if (record->kind != FAKE_ACQUIRE || record->outcome != FAKE_GRANTED) continue;
        if (first_ns == 0 || record->sent_ns < first_ns) first_ns = record->sent_ns;
        if (record->sent_ns > last_ns) last_ns = record->sent_ns;
    }
    return (grants - 1) / (double)(last_ns - first_ns) * 1e9;
}
