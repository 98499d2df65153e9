/* test_reference: the page that is made from the tables of fields is up to date, and files that the
 * program really writes keep to it: no path is missing, and none is there that the tables do not know. Needs node;
 * without it the files are not held against the page. (What a capacity search writes is test_cli_capacity's, which
 * has one.) */
#define _GNU_SOURCE

#include "bench/base/verdict.h"
#include "bench/tests/unit.h"
#include "results/format/run_read.h"

static char folder[] = "/tmp/lockbench-reference-XXXXXX";

FIXTURE(make_folder) {
    return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

__attribute__((format(printf, 1, 2))) static int shell(const char *format, ...) {
    char command[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static char *read_file(const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s: make fields", path);
    if (getdelim(&text, &size, '\0', file) < 0) fail_msg("%s is empty: make fields", path);
    fclose(file);
    return text;
}

/* Whether the words, with blanks between, have this one. */
static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0) return true;
    }
    return false;
}

static const char *words_of(const struct result_field *fields, const char *path) {
    for (; fields->path; fields++) {
        if (strcmp(fields->path, path) == 0) return fields->words;
    }
    fail_msg("no %s", path);
    return NULL;
}

TEST(test_the_documents_list_the_verdicts_that_there_are) {
    const char *of_stage = words_of(run_stage_fields(), "exclusion.verdict");
    const char *of_run = words_of(run_document.fields, "verdict");
    for (int verdict = 0; verdict < VERDICTS; verdict++) {
        const char *name = verdict_name((enum verdict)verdict);
        bool run_alone = verdict >= VERDICT_NOTHING_GRANTED;
        bool stage_alone = verdict == VERDICT_UNCHECKED || verdict == VERDICT_BASELINE;
        if (has_word(of_stage, name) == run_alone) fail_msg("%s: in \"%s\"?", name, of_stage);
        if (has_word(of_run, name) == stage_alone) fail_msg("%s: in \"%s\"?", name, of_run);
        assert_true(verdict_is(name, (enum verdict)verdict));
    }
    assert_false(verdict_is(NULL, VERDICT_CLEAN));
}

/* The names of an enum, from each of which its value can be read, are the words of the list. */
#define ASSERT_WORDS(type, count, name_of, from, words)                                            \
    do {                                                                                           \
        char text[400] = "";                                                                       \
        for (int i = 0; i < (count); i++) {                                                        \
            const char *name = name_of((enum type)i);                                              \
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", name); \
            assert_int_equal(from(name), i);                                                       \
        }                                                                                          \
        assert_string_equal(text, words);                                                          \
        assert_int_equal(from(NULL), count);                                                       \
        assert_int_equal(from("no such word"), count);                                             \
    } while (0)

TEST(test_lists_of_words_are_the_names) {
    ASSERT_WORDS(lb_guarantee, LB_GUARANTEES, lb_guarantee_name, lb_guarantee_from,
                 GUARANTEE_WORDS);
    ASSERT_WORDS(promise_verdict, PROMISE_VERDICTS, promise_verdict_name, promise_verdict_from,
                 PROMISE_WORDS);
    ASSERT_WORDS(check_verdict, CHECK_VERDICTS, check_verdict_name, check_verdict_from,
                 CHECK_VERDICT_WORDS);
}

TEST(test_the_page_is_up_to_date_and_each_field_says_what_it_is) {
    char *stored = read_file("results/FIELDS.md"), *made = read_file(".build/FIELDS.md");
    if (strcmp(stored, made) != 0) fail_msg("results/FIELDS.md is out of date: make fields");
    const char *empty = strstr(stored, "|  |\n");
    if (empty) fail_msg("no help: %.80s", empty > stored + 60 ? empty - 60 : stored);
    free(stored);
    free(made);
}

/* files: as the shell takes them, in the test's folder. */
static void assert_valid(const char *name, const char *files) {
    if (shell("validate=$PWD/report/tests/validate.mjs; cd %s && node \"$validate\" %s.json %s",
              folder, name, files))
        fail_msg("not all of these keep to the tables of %s.json: %s", name, files);
}

static const char *program(void) {
    const char *path = getenv("LOCKBENCH_PROGRAM");
    return path ? path : "./lockbench";
}

TEST(test_real_files_keep_to_the_tables) {
    need_program("node", "nodejs");
    /* All at once: they mostly sleep. */
    shell(
        "{ %1$s run smoke --lock sim,null,mem-robust,mem-semaphore,mem-rwlock -c 1,2 --hold 1ms --set "
        "check.history=yes --set check.store=memory --set run.duration=300ms --out %2$s/run & "
        "%1$s run smoke --lock sim --set load.arrival=poisson:500/s --set run.duration=300ms "
        "--out %2$s/open & "
        "%1$s run smoke --lock sim --set sim.double_every=5 --set check.history=yes --set "
        "load.hold=5ms --set run.warmup=500ms --set acquire.lease=20ms --set run.duration=300ms --out %2$s/early & "
        "%1$s check mem-robust --fault none --out %2$s/check & "
        "%1$s run smoke --lock sim --set run.duration=20s --out %2$s/killed & "
        "until test -e %2$s/killed/run.json; do sleep 0.02; done; kill -9 $!; wait; } "
        ">/dev/null 2>&1",
        program(), folder);
    /* early: two hold before the window begins */
    assert_valid(
        "run", "run/run.json open/run.json early/run.json killed/run.json check/cells/*/run.json");
    assert_valid("check", "check/check.json");
}

TEST_MAIN(make_folder, remove_folder)
