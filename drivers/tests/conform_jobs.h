/* conform_jobs: groups of tests, each in a process of its own, some at a time; their output in
 * order, their counts summed as cmocka writes them, so that whoever reads a test program's output
 * reads this. */
#ifndef DRIVERS_TESTS_CONFORM_JOBS_H
#define DRIVERS_TESTS_CONFORM_JOBS_H

#include <stddef.h>

/* A list of tests; what is added is freed with it. */
struct conform_tests;

/* name and state: from malloc, owned by the list from now on. */
void conform_tests_add(struct conform_tests *tests, char *name, void (*run)(void **state),
                       void *state);

/* Runs jobs 0 .. count-1: each fills its list in its own process and runs it. */
void conform_jobs_run(int count, void (*fill)(int job, struct conform_tests *tests));

/* Runs a group in this process, counted with the others. */
struct CMUnitTest;
void conform_jobs_group(const struct CMUnitTest *tests, size_t count);

/* Prints the sum. The program's exit code. */
int conform_jobs_sum(void);

/* Zeroed memory that the jobs' processes share with this one. */
void *conform_shared_memory(size_t bytes);

#endif
