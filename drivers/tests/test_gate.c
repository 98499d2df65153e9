/* test_gate: one fiber at a time passes, first come first served; a fiber that gives up leaves the
 * queue. */
#include "bench/engine/loop.h"
#include "bench/tests/unit.h"
#include "drivers/gate.h"

struct scene {
    struct gate gate;
    char text[128];
    int inside, most;
    int64_t deadline_ns;
    _Atomic int64_t cutoff_ns;
    struct lb_fiber *waiting;
};

static void note(struct scene *scene, const char *word) {
    strcat(scene->text, word);
}

/* Runs these fibers, in this order, until all have ended. */
static void play(struct scene *scene, void (*const *parts)(void *), int count) {
    struct lb_err err = {0};
    struct loop_config config = {.cutoff_ns = scene->cutoff_ns ? &scene->cutoff_ns : NULL};
    struct loop *loop = loop_new(&config, &err);
    assert_non_null(loop);
    for (int i = 0; i < count; i++)
        assert_non_null(loop_start_fiber(loop, "part", parts[i], scene));
    loop_run(loop);
    loop_free(loop);
    assert_false(scene->gate.taken);
    assert_null(scene->gate.first);
    assert_null(scene->gate.last);
}

/* Passes and stays for so long; the word is noted inside. */
static void pass(struct scene *scene, const char *word, int64_t stay_ns) {
    assert_true(gate_enter(&scene->gate, LB_NEVER));
    if (++scene->inside > scene->most) scene->most = scene->inside;
    note(scene, word);
    lb_sleep_until(lb_now() + stay_ns);
    scene->inside--;
    gate_leave(&scene->gate);
}

static void a(void *arg) {
    pass(arg, "a", 3 * LB_MS_NS);
}
static void b(void *arg) {
    pass(arg, "b", LB_MS_NS);
}
static void c(void *arg) {
    pass(arg, "c", 0);
}

TEST(test_first_come_first_served) {
    struct scene scene = {0};
    void (*const parts[])(void *) = {a, b, c, b, a};
    play(&scene, parts, 5);
    assert_string_equal(scene.text, "abcba");
    assert_int_equal(scene.most, 1);
}

/* A fiber that leaves and comes again at once does not overtake those that wait. */
static void comes_again(void *arg) {
    pass(arg, "1", LB_MS_NS);
    pass(arg, "2", 0);
}
TEST(test_nobody_overtakes) {
    struct scene scene = {0};
    void (*const parts[])(void *) = {comes_again, b, c};
    play(&scene, parts, 3);
    assert_string_equal(scene.text, "1bc2");
    assert_int_equal(scene.most, 1);
}

static void gives_up(void *arg) {
    struct scene *scene = arg;
    note(scene,
         gate_enter(&scene->gate, scene->deadline_ns ? scene->deadline_ns : lb_now() + LB_MS_NS)
             ? "got"
             : "no,");
}
static void holds_long(void *arg) {
    pass(arg, "long,", 20 * LB_MS_NS);
}
/* First, middle and last of the queue. */
TEST(test_who_gives_up_is_out_of_the_queue) {
    void (*const first[])(void *) = {holds_long, gives_up, c};
    void (*const middle[])(void *) = {holds_long, b, gives_up, c};
    void (*const last[])(void *) = {holds_long, b, gives_up};
    struct scene scene = {0};
    play(&scene, first, 3);
    assert_string_equal(scene.text, "long,no,c");
    scene = (struct scene){0};
    play(&scene, middle, 4);
    assert_string_equal(scene.text, "long,no,bc");
    scene = (struct scene){0};
    play(&scene, last, 3);
    assert_string_equal(scene.text, "long,no,b");
}

/* Woken for another reason, it goes on waiting. */
static void holds_until_woken(void *arg) {
    struct scene *scene = arg;
    assert_true(gate_enter(&scene->gate, LB_NEVER));
    note(scene, "long,");
    while (!strstr(scene->text, "woken,")) lb_sleep_until(lb_now() + LB_MS_NS);
    gate_leave(&scene->gate);
}
static void waits(void *arg) {
    struct scene *scene = arg;
    scene->waiting = lb_self();
    pass(scene, "passed", 0);
}
static void wakes(void *arg) {
    struct scene *scene = arg;
    for (int i = 0; i < 5; i++) {
        lb_wake(scene->waiting);
        lb_sleep_until(lb_now() + LB_MS_NS);
    }
    note(scene, "woken,");
}
TEST(test_other_wakeups_do_not_open_it) {
    struct scene scene = {0};
    void (*const parts[])(void *) = {holds_until_woken, waits, wakes};
    play(&scene, parts, 3);
    assert_string_equal(scene.text, "long,woken,passed");
    assert_int_equal(scene.most, 1);
}

static void holds_on(void *arg) {
    struct scene *scene = arg;
    assert_true(gate_enter(&scene->gate, LB_NEVER));
    loop_shield(true);
    lb_sleep_until(lb_now() + 500 * LB_MS_NS); /* a cut-off is looked for every 100 ms */
    gate_leave(&scene->gate);
}
static void is_cut_off(void *arg) {
    struct scene *scene = arg;
    scene->deadline_ns = LB_NEVER;
    gives_up(scene);
}
TEST(test_the_cut_off_ends_a_wait) {
    struct scene scene = {0};
    atomic_store(&scene.cutoff_ns, lb_now() + 10 * LB_MS_NS);
    void (*const parts[])(void *) = {holds_on, is_cut_off};
    play(&scene, parts, 2);
    assert_string_equal(scene.text, "no,");
}

TEST_MAIN(NULL, NULL)
