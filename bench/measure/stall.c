/* stall: see stall.h. */
#include "bench/measure/stall.h"

void stalls_begin(struct stalls *stalls, int64_t interval_ns, int64_t now_ns) {
    stalls->interval_ns = interval_ns;
    stalls->due_ns = now_ns + interval_ns;
}

void stalls_plan(struct stalls *stalls, int64_t from_ns, int64_t to_ns) {
    atomic_store(&stalls->planned_to_ns, to_ns);
    atomic_store(&stalls->planned_from_ns, from_ns);
}

static int64_t later_of(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* The end of a planned pause that lies in from_ns .. now_ns, since a stall before it is excused;
 * else from_ns. */
static int64_t skip_planned(const struct stalls *stalls, int64_t from_ns, int64_t now_ns) {
    int64_t planned_from_ns = atomic_load(&stalls->planned_from_ns);
    int64_t planned_to_ns = atomic_load(&stalls->planned_to_ns);
    if (planned_from_ns == 0 || planned_from_ns >= now_ns) return from_ns;
    return later_of(from_ns, planned_to_ns);
}

/* The number of the first beat that is due at when_ns or later. */
static int64_t beat_number(const struct stalls *stalls, int64_t when_ns) {
    int64_t after_ns = when_ns - stalls->due_ns;
    return after_ns <= 0 ? 0 : (after_ns + stalls->interval_ns - 1) / stalls->interval_ns;
}

/* Records the beats number first .. end-1 with their lateness; if there are very many, neighbours
 * are recorded as one. */
static void record_beats(const struct stalls *stalls, int64_t first, int64_t end, int64_t now_ns,
                         struct hist *late) {
    int64_t step = end > first ? (end - first - 1) / STALL_RECORDS_MAX + 1 : 1;
    for (int64_t i = first; i < end; i += step) {
        int64_t times = end - i < step ? end - i : step;
        hist_record_times(late, now_ns - stalls->due_ns - i * stalls->interval_ns, times);
    }
}

void stalls_beat(struct stalls *stalls, int64_t now_ns, int64_t begin_ns, int64_t end_ns,
                 struct hist *late) {
    int64_t due_ns = stalls->due_ns, late_ns = now_ns - due_ns;
    int64_t beats = late_ns > 0 ? late_ns / stalls->interval_ns + 1 : 1;
    int64_t from_ns = skip_planned(stalls, later_of(due_ns, begin_ns), now_ns);
    int64_t end = end_ns == LB_NEVER ? beats : beat_number(stalls, end_ns);
    record_beats(stalls, beat_number(stalls, from_ns), end < beats ? end : beats, now_ns, late);
    if (late_ns > STALL_LATE_NS) {
        stalls->all_ns += late_ns;
        int64_t to_ns = now_ns < end_ns ? now_ns : end_ns;
        if (to_ns > from_ns) stalls->lost_ns += to_ns - from_ns;
        stalls->from_ns = skip_planned(stalls, due_ns - stalls->interval_ns, now_ns);
        stalls->to_ns = now_ns;
    }
    stalls->due_ns = due_ns + beats * stalls->interval_ns;
}

int64_t stalls_around(const struct stalls *stalls, int64_t when_ns, int64_t now_ns) {
    if (when_ns >= stalls->from_ns && when_ns < stalls->to_ns)
        return stalls->to_ns - stalls->from_ns;
    if (now_ns - stalls->due_ns <= STALL_LATE_NS) return 0;
    int64_t from_ns = skip_planned(stalls, stalls->due_ns - stalls->interval_ns, now_ns);
    return when_ns >= from_ns && now_ns > from_ns ? now_ns - from_ns : 0;
}
