/* test_gate: one fiber at a time passes, first come first served; a fiber that gives up leaves the
 * queue. */
#include "bench/engine/loop.h"
#include "bench/tests/unit.h"
#include "drivers/gate.h"

struct scene {
    struct gate gate;
    char text[128];
    int inside, most;
    _Atomic int64_t cutoff_ns;
    struct lb_fiber *waiting;
};

static void note(struct scene *scene, const char *word) {
    strcat(scene->text, word);
}

/* Runs these fibers, in this order, until all have ended. */
static void play(struct scene *scene, void (*const *parts)(void *), void *const *args, int count) {
    struct lb_err err = {0};
    struct loop_config config = {.cutoff_ns = scene->cutoff_ns ? &scene->cutoff_ns : NULL};
    struct loop *loop = loop_new(&config, &err);
    assert_non_null(loop);
    for (int i = 0; i < count; i++)
        assert_non_null(loop_start_fiber(loop, "part", parts[i], args ? args[i] : scene));
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

static void gives_up(struct scene *scene, int64_t deadline_ns) {
    note(scene, gate_enter(&scene->gate, deadline_ns) ? "got" : "x");
}

struct letter {
    struct scene *scene;
    char word[2];
};

/* a stays, L for long; r leaves and comes again at once; x gives up, in the queue. */
static void run_letter(void *arg) {
    const struct letter *letter = arg;
    const char c = letter->word[0];
    if (c == 'x') {
        gives_up(letter->scene, lb_now() + LB_MS_NS);
    } else {
        pass(letter->scene, letter->word, c == 'L' ? 20 * LB_MS_NS : c == 'c' ? 0 : LB_MS_NS);
        if (c == 'r') pass(letter->scene, letter->word, 0);
    }
}

/* Nobody overtakes, and whoever gives up is out of the queue: its first, middle or last. */
TEST(test_first_come_first_served) {
    static const char *const cases[][2] = {
        {"abcba", "abcba"}, {"rbc", "rbcr"}, {"Lxc", "Lxc"}, {"Lbxc", "Lxbc"}, {"Lbx", "Lxb"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene = {0};
        struct letter letters[5];
        void (*parts[5])(void *);
        void *args[5];
        int count = (int)strlen(cases[i][0]);
        for (int k = 0; k < count; k++) {
            letters[k] = (struct letter){&scene, {cases[i][0][k], '\0'}};
            parts[k] = run_letter;
            args[k] = &letters[k];
        }
        play(&scene, parts, args, count);
        assert_string_equal(scene.text, cases[i][1]);
        assert_int_equal(scene.most, 1);
    }
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
    play(&scene, parts, NULL, 3);
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
    gives_up(arg, LB_NEVER);
}
TEST(test_the_cut_off_ends_a_wait) {
    struct scene scene = {0};
    atomic_store(&scene.cutoff_ns, lb_now() + 10 * LB_MS_NS);
    void (*const parts[])(void *) = {holds_on, is_cut_off};
    play(&scene, parts, NULL, 2);
    assert_string_equal(scene.text, "x");
}

TEST_MAIN(NULL, NULL)
