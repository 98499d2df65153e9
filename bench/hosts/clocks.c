/* clocks: see clocks.h. */
#include "bench/hosts/clocks.h"

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

void clock_exchange(struct clock_offset *best, int64_t sent_ns, int64_t theirs_ns,
                    int64_t received_ns) {
    int64_t error_ns = (received_ns - sent_ns + 1) / 2;
    if (best->at_ns != 0 && error_ns >= best->error_ns) return;
    best->at_ns = sent_ns + (received_ns - sent_ns) / 2;
    best->offset_ns = theirs_ns - best->at_ns;
    best->error_ns = error_ns;
}

/* Whether the error interval of `wide` contains that of `narrow`, so that `wide` adds no information. */
static bool covers(const struct clock_offset *wide, const struct clock_offset *narrow) {
    return magnitude(wide->offset_ns - narrow->offset_ns) + narrow->error_ns <= wide->error_ns;
}

void clock_add(struct clock_series *series, const struct clock_offset *offset) {
    if (series->count >= 2) {
        const struct clock_offset *last = &series->item[series->count - 1];
        if (covers(last, last - 1) && covers(last, offset)) series->count--;
    }
    if (series->count == CLOCK_MEASUREMENTS) {
        for (int i = 0; 2 * i < CLOCK_MEASUREMENTS; i++) series->item[i] = series->item[2 * i];
        series->count = CLOCK_MEASUREMENTS / 2;
    }
    series->item[series->count++] = *offset;
}

/* Interpolates the offset between two measurements. The clock may have moved at any moment between them, at once or
 * slowly, so the error is the whole difference of the two offsets plus the error of the worse measurement. */
static struct clock_offset between(const struct clock_offset *a, const struct clock_offset *b,
                                   int64_t at_ns) {
    double part = (double)(at_ns - a->at_ns) / (double)(b->at_ns - a->at_ns);
    int64_t change_ns = b->offset_ns - a->offset_ns;
    int64_t error_ns = a->error_ns > b->error_ns ? a->error_ns : b->error_ns;
    return (struct clock_offset){.offset_ns = a->offset_ns + (int64_t)(part * (double)change_ns),
                                 .error_ns = error_ns + magnitude(change_ns),
                                 .at_ns = at_ns};
}

struct clock_offset clock_at(const struct clock_series *series, int64_t at_ns) {
    int next = 0;
    if (series->count == 0) return (struct clock_offset){0};
    while (next < series->count && series->item[next].at_ns <= at_ns) next++;
    if (next == 0) return series->item[0];
    if (next == series->count) return series->item[next - 1];
    return between(&series->item[next - 1], &series->item[next], at_ns);
}

int64_t clock_error_ns(const struct clock_series *series, int64_t from_ns, int64_t to_ns) {
    struct clock_offset first = clock_at(series, from_ns), last = clock_at(series, to_ns);
    int64_t most_ns = first.error_ns > last.error_ns ? first.error_ns : last.error_ns;
    for (int i = 0; i + 1 < series->count; i++) {
        const struct clock_offset *a = &series->item[i], *b = &series->item[i + 1];
        if (b->at_ns <= from_ns || a->at_ns >= to_ns) continue;
        int64_t error_ns = between(a, b, a->at_ns).error_ns;
        if (error_ns > most_ns) most_ns = error_ns;
    }
    return most_ns;
}
