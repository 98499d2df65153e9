/* test_reacquire: short-term fairness of sequences whose answer is known, and of random ones,
 * against a count straight from the definition. */
#include <math.h>

#include "bench/base/rng.h"
#include "bench/measure/reacquire.h"
#include "bench/tests/unit.h"

#define CLIENTS 8
#define KEYS 2

struct scene {
    char *turns;
    struct hist *between;
};

static struct scene begin(void) {
    struct scene scene = {aligned_alloc(64, CLIENTS * reacquire_bytes(KEYS)),
                          hist_new(HIST_DIGITS, REACQUIRE_HIGHEST)};
    assert_non_null(scene.turns);
    assert_non_null(scene.between);
    memset(scene.turns, 0, CLIENTS * reacquire_bytes(KEYS));
    return scene;
}

static void grant(const struct scene *scene, int client, uint32_t key, uint64_t turn) {
    struct reacquire *turns =
        (struct reacquire *)(void *)(scene->turns + (size_t)client * reacquire_bytes(KEYS));
    reacquire_note(turns, scene->between, key, turn);
}

static struct reacquire_sum end(struct scene *scene) {
    struct reacquire_sum sum = reacquire_sum(scene->turns, CLIENTS, KEYS, scene->between);
    free(scene->turns);
    hist_free(scene->between);
    return sum;
}

/* In order of arrival, n clients: each window has all of them, and n - 1 others come between. */
TEST(test_first_come_first_served) {
    for (int n = 1; n <= CLIENTS; n++) {
        struct scene scene = begin();
        for (uint64_t turn = 0; turn < 10000; turn++)
            grant(&scene, (int)(turn % (uint64_t)n), 0, turn);
        struct reacquire_sum sum = end(&scene);
        assert_int_equal(sum.window, 1000);
        assert_true(sum.lwss == n);
        assert_true(sum.mttr == n - 1);
    }
}

/* One client gets all but every hundredth grant. */
TEST(test_one_hogs) {
    struct scene scene = begin();
    for (uint64_t turn = 0; turn < 5000; turn++) grant(&scene, turn % 100 == 99 ? 1 : 0, 0, turn);
    struct reacquire_sum sum = end(&scene);
    assert_true(sum.lwss == 2);
    assert_true(sum.mttr == 0);
}

/* Fair in the long run only: two halves of the clients take turns of a window each. */
TEST(test_halves_take_turns) {
    struct scene scene = begin();
    for (uint64_t turn = 0; turn < 8000; turn++) {
        uint64_t half = turn / 1000 % 2 * (CLIENTS / 2);
        grant(&scene, (int)(half + turn % (CLIENTS / 2)), 0, turn);
    }
    struct reacquire_sum sum = end(&scene);
    assert_true(sum.lwss == CLIENTS / 2.0);
    assert_true(sum.mttr == CLIENTS / 2 - 1);
}

/* Windows that the measurement cut, at its begin and its end, are left out: there only client 7
 * was. */
TEST(test_cut_windows_do_not_count) {
    struct scene scene = begin();
    for (uint64_t turn = 700; turn < 4300; turn++) {
        bool cut = turn < 1000 || turn >= 4000;
        grant(&scene, cut ? 7 : (int)(turn % 3), 0, turn);
    }
    struct reacquire_sum sum = end(&scene);
    assert_int_equal(sum.window, 1000);
    assert_true(sum.lwss == 3);
}

/* Fewer grants than a window: they are the window, of the key that has most. */
TEST(test_few_grants) {
    struct scene scene = begin();
    for (uint64_t turn = 0; turn < 40; turn++) grant(&scene, (int)(turn % 4), 0, turn);
    for (uint64_t turn = 0; turn < 90; turn++) grant(&scene, (int)(turn % 6), 1, turn);
    struct reacquire_sum sum = end(&scene);
    assert_int_equal(sum.window, 90);
    assert_true(sum.lwss == 6);
}

TEST(test_nothing_and_hardly_anything) {
    struct scene scene = begin();
    struct reacquire_sum none = end(&scene);
    assert_int_equal(none.window, 0);
    assert_true(isnan(none.lwss) && isnan(none.mttr));
    scene = begin();
    grant(&scene, 2, 0, 17);
    struct reacquire_sum once = end(&scene);
    assert_int_equal(once.window, 1);
    assert_true(once.lwss == 1 && isnan(once.mttr));
}

static int by_value(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Straight from the definition: each whole window looked through, each distance listed. */
static void count_plainly(const int *holder, int from, int to, double *ret_lwss, double *ret_mttr) {
    static int distances[20000];
    int windows = 0, holders = 0, count = 0;
    for (int low = (from + REACQUIRE_WINDOW - 1) / REACQUIRE_WINDOW * REACQUIRE_WINDOW;
         low + REACQUIRE_WINDOW <= to; low += REACQUIRE_WINDOW, windows++) {
        for (int client = 0; client < CLIENTS; client++) {
            int there = 0;
            for (int turn = low; turn < low + REACQUIRE_WINDOW; turn++)
                there |= holder[turn] == client;
            holders += there;
        }
    }
    for (int turn = from; turn < to; turn++) {
        int last = turn - 1;
        while (last >= from && holder[last] != holder[turn]) last--;
        if (last >= from) distances[count++] = turn - last - 1;
    }
    qsort(distances, (size_t)count, sizeof *distances, by_value);
    *ret_lwss = (double)holders / windows;
    *ret_mttr = distances[(count + 1) / 2 - 1];
}

TEST(test_against_a_plain_count) {
    static int holder[20000];
    struct lb_rng rng;
    rng_seed(&rng, 7, 1);
    for (int round = 0; round < 20; round++) {
        struct scene scene = begin();
        int from = (int)(rng_u64(&rng) % 3000), to = 12000 + (int)(rng_u64(&rng) % 8000);
        /* Some clients come seldom, so that windows differ. */
        for (int turn = from; turn < to; turn++) {
            uint64_t drawn = rng_u64(&rng) % 4000;
            holder[turn] =
                drawn < CLIENTS / 2 ? (int)drawn : CLIENTS / 2 + (int)(drawn % (CLIENTS / 2));
            grant(&scene, holder[turn], 0, (uint64_t)turn);
        }
        double lwss, mttr;
        count_plainly(holder, from, to, &lwss, &mttr);
        struct reacquire_sum sum = end(&scene);
        assert_true(fabs(sum.lwss - lwss) < 1e-9);
        assert_true(sum.mttr == mttr);
    }
}

TEST_MAIN(NULL, NULL)
