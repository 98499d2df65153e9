/* perf: what the tool itself costs, as ratios taken in alternating runs, since machines drift:
 * `make bench`. It judges nothing: the goals are printed beside what was measured. */
#include "bench/perf/perf.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/base/sort.h"

#define FILES_SPARE 300 /* descriptors of a process, ours or a server, beside its connections */

void perf_print(const char *what, const char *goal, double *ratios, int count) {
    sort_doubles(ratios, (size_t)count);
    printf("%-58s %6.2f  (%.2f to %.2f, n=%d)   goal: %s\n", what, ratios[count / 2], ratios[0],
           ratios[count - 1], count, goal);
    fflush(stdout);
}

void perf_print_ratios(const char *pair, const char *each, int clients, const char *rate_goal,
                       const char *cpu_goal, double *rates, double *cpus) {
    char what[80];
    snprintf(what, sizeof what, "%s, %ss/s, %d conn.", pair, each, clients);
    perf_print(what, rate_goal, rates, PERF_ROUNDS);
    snprintf(what, sizeof what, "%s, CPU a %s, %d conn.", pair, each, clients);
    perf_print(what, cpu_goal, cpus, PERF_ROUNDS);
}

int perf_clients(int wanted) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
    rlim_t most = files.rlim_max > 2 * FILES_SPARE ? files.rlim_max - FILES_SPARE : FILES_SPARE;
    return most < (rlim_t)wanted ? (int)most : wanted;
}

const char *perf_only;

static const struct {
    const char *name;
    int (*run)(struct lb_err *err);
} subjects[] = {{"null", perf_null},   {"threads", perf_threads}, {"redis", perf_redis},
                {"floor", perf_floor}, {"pg", perf_pg},           {"ping", perf_ping},
                {"crowd", perf_crowd}, {"wire", perf_wire},       {"history", perf_history}};

int main(int argc, char **argv) {
    int code = 0;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (argc > 2) perf_only = argv[2];
    printf("%-58s %6s\n", "what (A / B)", "median");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (argc > 1 && strcmp(argv[1], subjects[i].name) != 0) continue;
        struct lb_err err = {0};
        if (subjects[i].run(&err) == 0) continue;
        printf("%s: not measured: %s\n", subjects[i].name, err.text);
        code = LB_EXIT_MACHINE;
    }
    return code;
}
