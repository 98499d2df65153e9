/* steal: see steal.h. */
#include "bench/run/steal.h"

#include <stdio.h>
#include <unistd.h>

int64_t steal_read_ns(const char *line, long ticks_per_s) {
    unsigned long long ticks;
    /* user nice system idle iowait irq softirq steal */
    if (ticks_per_s <= 0 || sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1) return -1;
    return (int64_t)((double)ticks / (double)ticks_per_s * 1e9);
}

int64_t steal_now_ns(void) {
    char line[256];
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return -1;
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    return got ? steal_read_ns(line, sysconf(_SC_CLK_TCK)) : -1;
}

double steal_share(int64_t begin_ns, int64_t end_ns, int64_t took_ns, long processors) {
    if (begin_ns < 0 || end_ns < begin_ns || took_ns <= 0 || processors <= 0) return -1;
    return (double)(end_ns - begin_ns) / ((double)took_ns * (double)processors);
}
