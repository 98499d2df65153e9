/* test_workfile: workload files, line by line. */
#include "bench/tests/unit.h"
#include "bench/workload/workfile.h"

static char path[] = "/tmp/lockbench-test-XXXXXX";

struct file {
    struct arena arena;
    struct settings settings;
    struct lb_err err;
    int result;
};

static struct file read_bytes(const char *bytes, size_t len) {
    struct file file = {0};
    FILE *out = fopen(path, "w");
    fwrite(bytes, 1, len, out);
    fclose(out);
    file.result = workfile_read(path, &file.arena, &file.settings, &file.err);
    return file;
}

static struct file read_text(const char *text) {
    return read_bytes(text, strlen(text));
}

static const char *value_of(const struct file *file, const char *section, const char *key,
                            int *ret_line) {
    for (const struct setting *s = file->settings.first; s; s = s->next) {
        if (strcmp(s->section, section) != 0 || strcmp(s->key, key) != 0) continue;
        *ret_line = s->line;
        return s->value;
    }
    return "(none)";
}

TEST(keys_have_values_and_lines) {
    int line = 0;
    struct file file = read_text("\xef\xbb\xbf; a comment\n"
                                 "[load]\r\n"
                                 "clients = 1, 2 ; how many\n"
                                 "\n"
                                 "   hold: exponential:5ms # under the lock\n"
                                 "\t[run]  \n"
                                 "duration=2s;3s\n"
                                 "note = a#b = c\n"
                                 "empty =\n"
                                 "[load]\n"
                                 "keys = 1");
    assert_int_equal(file.result, 0);
    assert_int_equal(file.settings.count, 6);
    assert_string_equal(value_of(&file, "load", "clients", &line), "1, 2");
    assert_int_equal(line, 3);
    assert_string_equal(value_of(&file, "load", "hold", &line), "exponential:5ms");
    assert_int_equal(line, 5);
    assert_string_equal(value_of(&file, "run", "duration", &line), "2s;3s");
    assert_string_equal(value_of(&file, "run", "note", &line), "a#b = c");
    assert_string_equal(value_of(&file, "run", "empty", &line), "");
    assert_string_equal(value_of(&file, "load", "keys", &line), "1");
    assert_int_equal(line, 11);
    arena_done(&file.arena);
}

TEST(long_lines_are_read_whole) {
    for (int len = 1; len < 450; len++) {
        char text[600], value[500];
        int line = 0;
        for (int i = 0; i < len; i++) value[i] = (char)('a' + i % 26);
        value[len] = '\0';
        snprintf(text, sizeof text, "[workload]\nlocks = %s\nname = x\n", value);
        struct file file = read_text(text);
        assert_int_equal(file.result, 0);
        assert_string_equal(value_of(&file, "workload", "locks", &line), value);
        assert_int_equal(line, 2);
        assert_string_equal(value_of(&file, "workload", "name", &line), "x");
        assert_int_equal(line, 3);
        arena_done(&file.arena);
    }
}

TEST(long_comments_do_no_harm) {
    char text[1200];
    int line = 0;
    snprintf(text, sizeof text, "; %0400d\n[load]\nkeys = 1 ; %0400d\n", 1, 2);
    struct file file = read_text(text);
    assert_int_equal(file.result, 0);
    assert_int_equal(file.settings.count, 1);
    assert_string_equal(value_of(&file, "load", "keys", &line), "1");
    assert_int_equal(line, 3);
    arena_done(&file.arena);
}

TEST(wrong_lines_are_named) {
    char long_line[5000], long_key[400], long_section[200];
    snprintf(long_line, sizeof long_line, "[load]\nkeys = %04200d\n", 1);
    snprintf(long_key, sizeof long_key, "[load]\n%0300d = 1\n", 1);
    snprintf(long_section, sizeof long_section, "\n[%0100d]\n", 1);
    const struct {
        const char *text, *why;
    } cases[] = {
        {"[load]\nclients\n", ":2: expected"},
        {"[load]\nclients = 1\n  2, 3\nkeys = 1\n", ":3: expected"}, /* not a continuation */
        /* the first error, not the last */
        {"[load]\nwhat\nclients = 1\nclients = 2\n", ":2: expected"},
        {"[load\nclients = 1\n", ":1: a section"},
        {"[load] clients = 1\n", ":1: a section"},
        {"\n[]\n", ":2: a section"},
        {long_section, ":2: a section"},
        {"clients = 1\n", ":1: a key before"},
        {"[load]\nclients = 1\n[run]\n[load]\nclients = 2\n",
         ":5: load.clients stands already in line 2"},
        {long_line, ":2: the line is longer"},
        {long_key, ":2: expected"},
        {"[load]\nclients = \x1b[1m\n", ":2: a control character"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file file = read_text(cases[i].text);
        assert_int_equal(file.result, -1);
        assert_int_equal(file.err.code, LB_EXIT_USAGE);
        if (strncmp(file.err.text, path, strlen(path)) != 0 ||
            !strstr(file.err.text, cases[i].why)) {
            fail_msg("'%.40s': %s", cases[i].text, file.err.text);
        }
        arena_done(&file.arena);
    }
    struct file file = read_bytes("[load]\nclients = 1\0 2\n", 22);
    assert_non_null(strstr(file.err.text, ":2: a control character"));
    arena_done(&file.arena);
}

TEST(what_is_no_file_is_named) {
    static const char *const none[] = {"/nowhere/at/all.ini", "/tmp", "/dev/zero"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct arena arena = {0};
        struct settings settings = {0};
        struct lb_err err = {0};
        assert_int_equal(workfile_read(none[i], &arena, &settings, &err), -1);
        assert_int_equal(strncmp(err.text, none[i], strlen(none[i])), 0);
        arena_done(&arena);
    }
}

FIXTURE(make_path) {
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

FIXTURE(remove_path) {
    return unlink(path);
}

TEST_MAIN(make_path, remove_path)
