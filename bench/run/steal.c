/* steal: see steal.h. */
#include "bench/run/steal.h"

#include <stdio.h>
#include <unistd.h>

#include "bench/base/clock.h"

#define SHARE 0.02
#define LEAST_NS (50 * LB_MS_NS)

int64_t steal_read_ns(const char *line, long ticks_per_s) {
    unsigned long long ticks;
    /* user nice system idle iowait irq softirq steal */
    if (ticks_per_s <= 0 || sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
        return -1;
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

int64_t steal_between_ns(int64_t begin_ns, int64_t end_ns) {
    if (begin_ns < 0 || end_ns < 0) return -1;
    return end_ns > begin_ns ? end_ns - begin_ns : 0; /* kernels have been seen to count back */
}

bool steal_shows(int64_t stolen_ns, int64_t took_ns) {
    return stolen_ns >= LEAST_NS && (double)stolen_ns > SHARE * (double)took_ns;
}
