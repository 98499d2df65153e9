/* test_refused: files from anywhere that are wrong in one place, as refused.txt has them: each is refused in one line, which
 * names the file and the place. */
#include "report/check/check_doc.h"
#include "report/tests/report_help.h"
#include "report/trend/trend.h"
#include "results/format/capacity_read.h"
#include "results/format/hdr.h"

#define NAME "dir/file.json"

/* Reads, and frees what was read. */
typedef void read_fn(const char *text, struct lb_err *err);

static void read_run(const char *text, struct lb_err *err) {
    run_free(run_parse(text, strlen(text), NAME, err));
}

static void read_check(const char *text, struct lb_err *err) {
    check_free(check_parse(text, strlen(text), NAME, err));
}

static void read_capacity(const char *text, struct lb_err *err) {
    capacity_free(capacity_parse(text, strlen(text), NAME, err));
}

static void read_history(const char *text, struct lb_err *err) {
    char *path = path_of("file");
    store(path, text);
    trend_free(trend_read(path, &(struct trend_ask){.gate = 4, .min_effect = 1}, err));
    free(path);
}

static void read_hdr(const char *text, struct lb_err *err) {
    hist_free(hdr_decode(text, err));
}

static const struct {
    const char *name;
    read_fn *read;
} readers[] = {{"run", read_run},
               {"check", read_check},
               {"capacity", read_capacity},
               {"history", read_history},
               {"hdr", read_hdr}};

static char sound[1000], wrong[1000];
static bool has_text; /* the case has one of its own */
static read_fn *reader;

static void add_line(char *to, bool first, const char *line) {
    size_t used = first ? 0 : strlen(to);
    snprintf(to + used, sizeof sound - used, "%s%s", first ? "" : "\n", line);
}

static void expect(const char *says, int number) {
    struct lb_err err = {0};
    reader(wrong, &err);
    bool is_named = reader == read_hdr || strstr(err.text, "file");
    if (err.code != LB_EXIT_USAGE || !is_named || !strstr(err.text, says) || strchr(err.text, '\n'))
        fail_msg("refused.txt:%d: '%s' does not say '%s'", number, err.text, says);
    has_text = false;
}

/* "A => B", or "A =>" */
static void replace(char *line, int number) {
    char *new = strstr(line, " =>"), *at;
    if (!new) fail_msg("refused.txt:%d: no ' =>' in it", number);
    *new = '\0';
    new += strlen(" =>");
    at = strstr(sound, line);
    if (!at) fail_msg("refused.txt:%d: the sound text has no '%s'", number, line);
    snprintf(wrong, sizeof wrong, "%.*s%s%s", (int)(at - sound), sound, new + (*new == ' '),
             at + strlen(line));
}

TEST(what_is_wrong_is_named_in_one_line) {
    char *lines = read_whole("report/tests/refused.txt"), *rest = lines;
    bool is_sound = false; /* the line before was of a sound text */
    int number = 1, checked = 0, changed = 0;
    assert_non_null(lines);
    for (char *line; (line = strsep(&rest, "\n")); number++) {
        bool of_sound = strncmp(line, "sound", 5) == 0;
        if (is_sound && !of_sound) {
            struct lb_err err = {0};
            reader(sound, &err);
            assert_string_equal(err.text, "");
        }
        if (of_sound) {
            add_line(sound, !is_sound, line + (line[5] ? 6 : 5));
        } else if (strncmp(line, "read ", 5) == 0) {
            reader = NULL;
            for (size_t i = 0; i < sizeof readers / sizeof *readers && !reader; i++)
                if (strcmp(line + 5, readers[i].name) == 0) reader = readers[i].read;
            if (!reader) fail_msg("refused.txt:%d: who reads '%s'?", number, line + 5);
        } else if (strncmp(line, "! ", 2) == 0) {
            expect(line + 2, number);
            checked++;
        } else if (*line == '=' && (!line[1] || line[1] == ' ')) {
            changed += !has_text;
            add_line(wrong, !has_text, line + (line[1] ? 2 : 1));
            has_text = true;
        } else if (*line && *line != '#') {
            changed++;
            replace(line, number);
        }
        is_sound = of_sound;
    }
    free(lines);
    if (checked != changed || checked < 100)
        fail_msg("%d texts are wrong, and %d are told to be", changed, checked);
}

TEST_MAIN(make_folder, remove_folder)
