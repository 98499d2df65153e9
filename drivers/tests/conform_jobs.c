/* conform_jobs: see conform_jobs.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/base/clock.h"
#include "drivers/tests/conform_jobs.h"

/* They wait more than they work: twice as many as processors are busy with it. */
#define JOBS_A_PROCESSOR 2
#define FAILURES_MAX 512

struct conform_tests {
    struct CMUnitTest *test;
    size_t count, room;
};

struct job {
    pid_t pid; /* 0 = has not begun */
    int code;  /* of its exit; -1 = it runs */
    FILE *out;
};

static struct sum { int run, passed, skipped, failed; } sum;
static char *failures[FAILURES_MAX];
static int failure_count;

void *conform_shared_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

void conform_tests_add(struct conform_tests *tests, char *name, void (*run)(void **state),
                       void *state) {
    if (tests->count == tests->room) {
        tests->room = tests->room ? 2 * tests->room : 64;
        tests->test = realloc(tests->test, tests->room * sizeof *tests->test);
        if (!tests->test) abort();
    }
    tests->test[tests->count++] =
        (struct CMUnitTest){.name = name, .test_func = run, .initial_state = state};
}

static int run_one(int job, void (*fill)(int job, struct conform_tests *tests)) {
    struct conform_tests tests = {0};
    fill(job, &tests);
    int failed =
        tests.count ? _cmocka_run_group_tests("job", tests.test, tests.count, NULL, NULL) : 0;
    for (size_t i = 0; i < tests.count; i++) {
        free((char *)(uintptr_t)tests.test[i].name);
        free(tests.test[i].initial_state);
    }
    free(tests.test);
    return failed;
}

static void begin(struct job *job, int index, void (*fill)(int job, struct conform_tests *tests)) {
    job->out = tmpfile();
    if (!job->out) abort();
    fflush(NULL);
    job->pid = fork();
    if (job->pid < 0) abort();
    if (job->pid > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(fileno(job->out), STDOUT_FILENO);
    dup2(fileno(job->out), STDERR_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    int failed = run_one(index, fill);
    exit(failed ? 1 : 0);
}

/* A test's name and why, each a line, for the list at the end. */
static void note_failure(const char *name, const char *why) {
    if (failure_count == FAILURES_MAX) return;
    if (asprintf(&failures[failure_count], "%s%s", name, why) >= 0) failure_count++;
}

/* Each line is counted by what cmocka began it with; its own sums are left out. */
static void read_out(struct job *job, int index) {
    static char line[4096], last[4096], why[4096 + 16];
    struct sum before = sum;
    bool summing = false;
    rewind(job->out);
    while (fgets(line, sizeof line, job->out)) {
        if (strncmp(line, "[==========] ", 13) == 0) {
            summing = strstr(line, " run.") != NULL;
            continue;
        }
        if (summing && line[0] == '[') continue;
        if (strstr(line, "FAILED TEST(S)")) continue;
        fputs(line, stdout);
        if (strncmp(line, "[ RUN      ] ", 13) == 0) {
            sum.run++;
            snprintf(last, sizeof last, "%s", line + 13);
            why[0] = '\0';
        } else if (strncmp(line, "ERROR: ", 7) == 0) {
            snprintf(why, sizeof why, "             %s", line + 7);
        } else if (strncmp(line, "[       OK ] ", 13) == 0) {
            sum.passed++;
        } else if (strncmp(line, "[  SKIPPED ] ", 13) == 0) {
            sum.skipped++;
        } else if (strncmp(line, "[  FAILED  ] ", 13) == 0) {
            sum.failed++;
            note_failure(line + 13, why);
        }
    }
    fclose(job->out);
    /* It died in the middle of a test. */
    if (job->code != 0 && sum.failed == before.failed) {
        sum.failed++;
        printf("job %d ended with %s %d in: %s", index, job->code > 255 ? "signal" : "code",
               job->code > 255 ? job->code - 256 : job->code, last);
        note_failure(last, "             its process ended\n");
    }
    fflush(stdout);
}

static int jobs_at_once(void) {
    const char *wished = getenv("TEST_CONFORM_JOBS");
    if (wished) return atoi(wished);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (int)(processors > 0 ? processors : 1) * JOBS_A_PROCESSOR;
}

void conform_jobs_run(int count, void (*fill)(int job, struct conform_tests *tests)) {
    int most = jobs_at_once(), begun = 0, running = 0, shown = 0;
    if (most == 0) {
        for (int i = 0; i < count; i++) run_one(i, fill);
        return;
    }
    struct job *jobs = calloc((size_t)count + 1, sizeof *jobs);
    if (!jobs) abort();
    while (shown < count) {
        while (begun < count && running < most) {
            jobs[begun].code = -1;
            begin(&jobs[begun], begun, fill);
            begun++;
            running++;
        }
        int status;
        pid_t ended = wait(&status);
        for (int i = 0; i < begun; i++) {
            if (jobs[i].pid != ended) continue;
            jobs[i].code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
            running--;
        }
        for (; shown < begun && jobs[shown].code >= 0; shown++) read_out(&jobs[shown], shown);
    }
    free(jobs);
}

void conform_jobs_group(const struct CMUnitTest *tests, size_t count) {
    struct job job = {.code = 0, .out = tmpfile()};
    if (!job.out) abort();
    fflush(NULL);
    int stdout_fd = dup(STDOUT_FILENO), stderr_fd = dup(STDERR_FILENO);
    dup2(fileno(job.out), STDOUT_FILENO);
    dup2(fileno(job.out), STDERR_FILENO);
    job.code = _cmocka_run_group_tests("suite", tests, count, NULL, NULL);
    fflush(NULL);
    dup2(stdout_fd, STDOUT_FILENO);
    dup2(stderr_fd, STDERR_FILENO);
    close(stdout_fd);
    close(stderr_fd);
    read_out(&job, -1);
}

int conform_jobs_sum(void) {
    printf("[==========] %d test(s) run.\n[  PASSED  ] %d test(s).\n", sum.run, sum.passed);
    if (sum.skipped) printf("[  SKIPPED ] %d test(s), listed below:\n", sum.skipped);
    if (sum.failed) printf("[  FAILED  ] %d test(s), listed below:\n", sum.failed);
    for (int i = 0; i < failure_count; i++) {
        printf("[  FAILED  ] %s", failures[i]);
        free(failures[i]);
    }
    return sum.failed ? 1 : 0;
}
