/* Runs as child processes: several at once up to a capacity, with time limits, and none outlives
 * this program. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "bench/base/clock.h"
#include "bench/servers/folder.h"
#include "bench/servers/jobs.h"
#include "bench/tests/unit.h"

static char folder[200];

static const char *in_folder(const char *name) {
    static char paths[16][300];
    static int next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

FIXTURE(make_folder) {
    struct lb_err err = {0};
    return folder_make("/tmp", "jobs-test", folder, sizeof folder, &err);
}

FIXTURE(remove_folder) {
    return folder_remove(folder);
}

/* Starts a shell script as a job. */
static void start(struct jobs *jobs, const char *script, int weight, int64_t limit_ns, int tag) {
    char name[40];
    snprintf(name, sizeof name, "log-%d", tag);
    const char *const argv[] = {"-c", script, NULL};
    struct lb_err err = {0};
    struct job job = {
        .argv = argv, .log = in_folder(name), .weight = weight, .limit_ns = limit_ns, .tag = tag};
    assert_int_equal(jobs_start(jobs, &job, &err), 0);
}

static struct job_end end_of(struct jobs *jobs) {
    struct job_end end;
    if (!jobs_wait(jobs, 60 * LB_S_NS, &end)) fail_msg("no job ended within a minute");
    return end;
}

/* What a file says; waits until it says anything. */
static long number_in(const char *name) {
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; lb_now() < until_ns; lb_nap(5 * LB_MS_NS)) {
        char line[40] = "";
        FILE *file = fopen(in_folder(name), "re");
        bool any = file && fgets(line, sizeof line, file) && strchr(line, '\n');
        if (file) fclose(file);
        if (any) return atol(line);
    }
    fail_msg("%s stays empty", name);
    return 0;
}

/* True also for a zombie, for which nobody has waited yet. */
static bool is_gone(pid_t pid) {
    char path[40], line[400] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file) fclose(file);
    return !end || end[2] == 'Z' || end[2] == 'X';
}

static void assert_gone(pid_t pid) {
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; lb_now() < until_ns; lb_nap(5 * LB_MS_NS)) {
        if (is_gone(pid)) return;
    }
    fail_msg("process %d is still there", (int)pid);
}

TEST(its_end_and_its_words_are_known) {
    struct jobs jobs;
    jobs_init(&jobs, "/bin/sh", 4);
    start(&jobs, "echo 42; echo 43 >&2; exit 3", 1, LB_NEVER, 7);
    struct job_end end = end_of(&jobs);
    assert_int_equal(end.tag, 7);
    assert_int_equal(end.exit_code, 3);
    assert_false(end.timed_out);
    assert_int_equal(number_in("log-7"), 42);
    start(&jobs, "kill -9 $$", 1, LB_NEVER, 8);
    assert_int_equal(end_of(&jobs).exit_code, 128 + SIGKILL);
    jobs_init(&jobs, "/no/such/program", 4);
    start(&jobs, "", 1, LB_NEVER, 9);
    assert_int_equal(end_of(&jobs).exit_code, 127);
    assert_int_equal(jobs.busy, 0);
    assert_int_equal(jobs.count, 0);
}

TEST(no_more_run_than_the_capacity) {
    struct jobs jobs;
    jobs_init(&jobs, "/bin/sh", 4);
    assert_true(jobs_fit(&jobs, 9)); /* what never fits runs alone */
    start(&jobs, "exec sleep 100", 2, LB_NEVER, 0);
    assert_true(jobs_fit(&jobs, 2));
    assert_false(jobs_fit(&jobs, 3));
    start(&jobs, "exec sleep 100", 1, LB_NEVER, 1);
    start(&jobs, "exec sleep 100", 1, LB_NEVER, 2);
    assert_false(jobs_fit(&jobs, 1));
    struct job_end end;
    assert_false(jobs_wait(&jobs, 50 * LB_MS_NS, &end)); /* nobody is done */
    jobs_kill(&jobs);
    assert_int_equal(jobs.count, 0);
    assert_true(jobs_fit(&jobs, 4));
}

TEST(who_takes_too_long_is_asked_to_end) {
    struct jobs jobs;
    jobs_init(&jobs, "/bin/sh", 4);
    start(&jobs, "trap 'echo 5; exit 130' INT; echo 4; while :; do sleep 0.01; done", 1,
          300 * LB_MS_NS, 20);
    struct job_end end = end_of(&jobs);
    assert_true(end.timed_out);
    assert_int_equal(end.exit_code, 130);
    assert_true(end.took_ns >= 300 * LB_MS_NS);
}

TEST(who_does_not_end_is_killed_with_its_group) {
    struct jobs jobs;
    jobs_init(&jobs, "/bin/sh", 4);
    jobs.grace_ns = 300 * LB_MS_NS;
    char script[400];
    snprintf(script, sizeof script, "trap '' INT; sleep 100 & echo $! > %s; wait; wait; sleep 100",
             in_folder("below"));
    start(&jobs, script, 1, 300 * LB_MS_NS, 21);
    pid_t below = (pid_t)number_in("below");
    struct job_end end = end_of(&jobs);
    assert_true(end.timed_out);
    assert_int_equal(end.exit_code, 128 + SIGKILL);
    assert_gone(below);
}

/* A script that runs the program, without exec: the signal reaches what it runs. */
TEST(an_interruption_reaches_what_a_script_runs) {
    struct jobs jobs;
    char script[700];
    jobs_init(&jobs, "/bin/sh", 4);
    snprintf(
        script, sizeof script,
        "sh -c 'trap \"echo 6 >%s; exit 130\" INT; echo $$; while :; do sleep 0.01; done'; exit 7",
        in_folder("told"));
    start(&jobs, script, 1, LB_NEVER, 50);
    pid_t inner = (pid_t)number_in("log-50");
    jobs_interrupt(&jobs);
    end_of(&jobs);
    assert_int_equal(number_in("told"), 6);
    assert_gone(inner);
}

/* What a run says last is where it saved things. */
TEST(the_problem_is_told_and_not_the_line_after_it) {
    char path[] = "/tmp/lockbench-words-XXXXXX", words[200];
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fputs("sim, 2 clients\nlockbench: nothing was granted\nsaved in /x\n/x/report.html\n", file);
    assert_int_equal(fclose(file), 0);
    jobs_last_words(path, words, sizeof words);
    unlink(path);
    assert_string_equal(words, "nothing was granted");
}

TEST_MAIN(make_folder, remove_folder)
