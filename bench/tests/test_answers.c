/* The short form of the known answers (bench/tests/answers): a few seconds of scripted servers, and what
 * lockbench says of them. `make answers` has all of them. */
#define _GNU_SOURCE
#include "bench/tests/answers/answers.h"
#include "bench/tests/cli_help.h"

/* The number of answers that are not true. Each one is printed. */
static int count_wrong(int try) {
    char *folder = cli_path("answers-%d", try);
    struct answers_how how = {.program = cli_program, .folder = folder, .brief = true};
    struct verdict_row *rows = NULL;
    struct lb_err err = {0};
    assert_int_equal(mkdir(folder, 0755), 0);
    int wrong = 0, count = answers_run(&how, &rows, &err);
    if (count < 0) fail_msg("%s", err.text);
    assert_true(count > 10);
    for (int i = 0; i < count; i++) {
        if (rows[i].is_ok) continue;
        wrong++;
        print_error("%s: %s: truth %g, said %g %s\n", rows[i].answer->experiment->scripted,
                    rows[i].answer->name, rows[i].truth, rows[i].said, rows[i].said_word);
    }
    free(rows);
    return wrong;
}

/* The short form's windows last a second and less: a machine that stands still in one leaves no answers. An answer that
 * is wrong at each try is a mistake of lockbench. */
TEST(lockbench_says_what_is_known_to_be_true) {
    int wrong = count_wrong(0);
    for (int try = 1; try < 4 && wrong > 0; try++) wrong = count_wrong(try);
    assert_int_equal(wrong, 0);
}

/* A figure that is not true is reported. */
TEST(a_wrong_answer_is_found) {
    struct answers_how how = {
        .program = "/bin/false", .folder = cli_home, .brief = true, .only = "fixed"};
    struct verdict_row *rows = NULL;
    struct lb_err err = {0};
    int count = answers_run(&how, &rows, &err);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) assert_false(rows[i].is_ok);
    free(rows);
}

TEST_MAIN(cli_setup, cli_teardown)
