/* test_options: tables of options: one made here with each type, and all that drivers have. */
#include "bench/base/clock.h"
#include "bench/option/option.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

struct sample {
    int64_t tries, pause_ns, loud, transport;
    double factor, share;
    const char *note, *level;
    int threads;
    bool on;
};

static const struct lb_option table[] = {
    {"tries", LB_OPT_INT, offsetof(struct sample, tries), "3", 1, 10, NULL, "how often"},
    {"pause", LB_OPT_DURATION, offsetof(struct sample, pause_ns), "2ms", 1e6, 1e9, NULL,
     "between tries"},
    {"loud", LB_OPT_BOOL, offsetof(struct sample, loud), "no", 0, 0, NULL, "say so"},
    {"transport", LB_OPT_CHOICE, offsetof(struct sample, transport), "grpc", 0, 0, "json,grpc",
     "how"},
    {"factor", LB_OPT_REAL, offsetof(struct sample, factor), "1.5", 0, 2, NULL, "growth"},
    {"note", LB_OPT_TEXT, offsetof(struct sample, note), NULL, 0, 8, NULL, "anything"},
    {"threads", LB_OPT_INT32, offsetof(struct sample, threads), "auto", 1, 64, "auto", "how many"},
    {"share", LB_OPT_PERCENT, offsetof(struct sample, share), "no", 0.5, 50, "no", "of all"},
    {"level", LB_OPT_CHOICE_WORD, offsetof(struct sample, level), "low", 0, 0, "low,high", "x"},
    {"on", LB_OPT_BOOL8, offsetof(struct sample, on), "yes", 0, 0, NULL, "x"},
    {0},
};

TEST(defaults_fill_the_struct) {
    struct arena arena = {0};
    struct lb_err err = {0};
    struct sample *sample = options_new(table, sizeof *sample, &arena, &err);
    assert_non_null(sample);
    assert_int_equal(sample->tries, 3);
    assert_int_equal(sample->pause_ns, 2 * LB_MS_NS);
    assert_int_equal(sample->loud, 0);
    assert_int_equal(sample->transport, 1);
    assert_true(sample->factor == 1.5);
    assert_null(sample->note);
    assert_int_equal(sample->threads, 0);
    assert_true(sample->share == 0 && sample->on);
    assert_string_equal(sample->level, "low");
    arena_done(&arena);
}

TEST(values_are_checked_and_kept) {
    static const struct {
        const char *name, *text, *wrong; /* wrong NULL: taken, and printed back as text */
    } cases[] = {
        {"tries", "10", NULL},
        {"tries", "11", "not between 1 and 10"},
        {"tries", "x", "whole"},
        {"pause", "1s", NULL},
        {"pause", "2s", "between"},
        {"pause", "5", "unit"},
        {"loud", "yes", NULL},
        {"loud", "loud", "yes nor no"},
        {"transport", "json", NULL},
        {"transport", "jsn", "did you mean 'json'?"},
        {"factor", "0.25", NULL},
        {"factor", "3", "not between 0 and 2"},
        {"note", "a, b = c", NULL},
        {"note", "", NULL},
        {"note", "a, b = cd", "longer than 8"},
        {"threads", "64", NULL},
        {"threads", "auto", NULL},
        {"threads", "0", "not between 1 and 64"},
        {"share", "0.5%", NULL},
        {"share", "no", NULL},
        {"share", "60%", "not between"},
        {"level", "high", NULL},
        {"level", "hig", "did you mean 'high'?"},
        {"on", "no", NULL},
        {"on", "perhaps", "yes nor no"},
    };
    struct arena arena = {0};
    struct lb_err none = {0};
    void *options = options_new(table, sizeof(struct sample), &arena, &none);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lb_option *option = options_find(table, cases[i].name);
        char before[64], after[64];
        struct lb_err err = {0};
        option_text(option, options, before, sizeof before);
        int result = option_read(option, options, cases[i].text, &arena, &err);
        option_text(option, options, after, sizeof after);
        if (cases[i].wrong) {
            assert_int_equal(result, -1);
            if (!strstr(err.text, cases[i].wrong))
                fail_msg("%s = %s: %s", cases[i].name, cases[i].text, err.text);
            assert_string_equal(after, before);
        } else {
            assert_int_equal(result, 0);
            assert_string_equal(after, cases[i].text);
        }
    }
    arena_done(&arena);
}

TEST(json_has_numbers_and_units) {
    struct arena arena = {0};
    struct lb_err err = {0};
    void *options = options_new(table, sizeof(struct sample), &arena, &err);
    json_t *object = json_object();
    assert_int_equal(options_json(table, options, object), 0);
    char *text = json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT);
    assert_string_equal(
        text,
        "{\"factor\":1.5,\"level\":\"low\",\"loud\":false,\"note\":\"\",\"on\":true,\"pause_ns\":2000000,"
        "\"share\":\"no\",\"threads\":0,\"transport\":\"grpc\",\"tries\":3}");
    free(text);
    json_decref(object);
    arena_done(&arena);
}

static void check_table(const char *owner, const struct lb_option *options, size_t bytes) {
    struct arena arena = {0};
    struct lb_err err = {0};
    if (!options_new(options, bytes, &arena, &err)) fail_msg("%s: %s", owner, err.text);
    for (const struct lb_option *option = options; option && option->name; option++) {
        char allowed[256];
        if (option->offset + option->type->bytes > bytes)
            fail_msg("%s.%s lies outside its struct", owner, option->name);
        if (options_find(options, option->name) != option)
            fail_msg("%s.%s is there twice", owner, option->name);
        if (!option->help || !*option->help || strchr(option->help, '\n'))
            fail_msg("%s.%s has no line of help", owner, option->name);
        if (!option->def && option->type != LB_OPT_TEXT)
            fail_msg("%s.%s has no default", owner, option->name);
        if (strpbrk(option->name, ".= \t[];#"))
            fail_msg("%s.%s can't be written", owner, option->name);
        assert_string_not_equal(option_allowed(option, allowed, sizeof allowed), "");
    }
    arena_done(&arena);
}

TEST(every_drivers_table_is_sound) {
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        if (lb_unavailable(backend)) continue;
        check_table(backend->name, backend->connector->options, backend->connector->options_bytes);
    }
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        check_table(lock->name, lock->algorithm->options, lock->algorithm->options_bytes);
        /* They share a section of the workload file when they share a name. */
        if (strcmp(lock->name, lock->backend->name) != 0) continue;
        for (const struct lb_option *option = lock->algorithm->options; option && option->name;
             option++) {
            if (options_find(lb_backend_options(lock->backend), option->name)) {
                fail_msg("%s.%s is an option of the lock and of the backend", lock->name,
                         option->name);
            }
        }
    }
}

TEST_MAIN(NULL, NULL)
