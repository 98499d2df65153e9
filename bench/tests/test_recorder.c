/* test_recorder: nothing recorded is lost or counted twice while a reader takes sides. */
#include <pthread.h>
#include <time.h>

#include "bench/measure/recorder.h"
#include "bench/tests/unit.h"

#define SIDES 100 /* that the reader takes while the writer records */

static struct recorder *make(void **ret_memory) {
    void *memory = calloc(1, recorder_bytes() + 64);
    struct recorder *recorder = aligned_alloc(64, sizeof *recorder);
    assert_non_null(memory);
    assert_non_null(recorder);
    *recorder = (struct recorder){0};
    recorder_init(recorder, memory);
    *ret_memory = memory;
    return recorder;
}

static _Atomic bool enough; /* the reader has taken as many sides as it wants */

/* Records until the reader has enough; returns how often. */
static void *write_all(void *arg) {
    struct recorder *recorder = arg;
    intptr_t records = 0;
    for (; !atomic_load(&enough); records++) {
        recorder_add(recorder, METRIC_ACQUIRE, records & 1023);
        recorder_add(recorder, METRIC_RELEASE, 1);
        recorder_turn(recorder);
    }
    return (void *)records;
}

TEST(test_a_reader_beside_a_writer) {
    void *memory, *written;
    struct recorder *recorder = make(&memory);
    struct hist *total = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    pthread_t writer;
    int64_t releases = 0;
    atomic_store(&enough, false);
    pthread_create(&writer, NULL, write_all, recorder);
    recorder_ask(recorder);
    for (int taken = 0; taken < SIDES;) {
        struct hist *const *side = recorder_taken(recorder);
        if (side) {
            hist_settle(side[METRIC_ACQUIRE]);
            hist_settle(side[METRIC_RELEASE]);
            taken += side[METRIC_ACQUIRE]->count > 0;
            hist_add(total, side[METRIC_ACQUIRE]);
            releases += side[METRIC_RELEASE]->count;
            hist_reset(side[METRIC_ACQUIRE]);
            hist_reset(side[METRIC_RELEASE]);
            recorder_ask(recorder);
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    atomic_store(&enough, true);
    pthread_join(writer, &written);
    intptr_t records = (intptr_t)written;
    for (int side = 0; side < 2; side++) {
        struct hist *const *left = recorder_side(recorder, side);
        hist_settle(left[METRIC_ACQUIRE]);
        hist_settle(left[METRIC_RELEASE]);
        hist_add(total, left[METRIC_ACQUIRE]);
        releases += left[METRIC_RELEASE]->count;
    }
    assert_int_equal(total->count, records);
    assert_int_equal(releases, records);
    hist_free(total);
    free(recorder);
    free(memory);
}

TEST_MAIN(NULL, NULL)
