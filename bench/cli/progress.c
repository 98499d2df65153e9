/* progress: see progress.h. */
#include "bench/cli/progress.h"
#include "bench/cli/terminal.h"

#include <stdio.h>
#include <unistd.h>

void progress_init(struct progress *progress) {
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO)};
}

void progress_news(void *arg, const struct stage_news *news) {
    struct progress *progress = arg;
    if (!progress->terminal) return;
    char line[256], violations[48] = "";
    if (news->violations) {
        snprintf(violations, sizeof violations, "  %llu VIOLATIONS",
                 (unsigned long long)news->violations);
    }
    snprintf(line, sizeof line, "%s  %.0f/%.0f s%s  %.0f/s  p50 %.1f us  p99 %.1f us", news->id,
             (double)news->elapsed_ns / 1e9, (double)news->total_ns / 1e9, violations,
             news->rate_per_s, (double)news->acquire_p50_ns / 1e3,
             (double)news->acquire_p99_ns / 1e3);
    /* A line that wraps could not be written over. */
    int columns = terminal_columns(stderr);
    bool red = news->violations && terminal_has_color(stderr);
    fprintf(stderr, "\r\033[K%s%.*s%s", red ? "\033[31m" : "", columns > 1 ? columns - 1 : 255,
            line, red ? "\033[0m" : "");
    fflush(stderr);
    progress->open = true;
}

void progress_end(struct progress *progress) {
    if (progress->open) fprintf(stderr, "\r\033[K");
    progress->open = false;
}

void progress_stage(void *arg, const char *line) {
    struct progress *progress = arg;
    if (!progress->terminal) return;
    progress_end(progress);
    fprintf(stderr, "%s\n", line);
}

void progress_say(void *arg, const char *line) {
    struct progress *progress = arg;
    progress_end(progress);
    fprintf(stderr, "lockbench: %s\n", line);
    snprintf(progress->said, sizeof progress->said, "%s", line);
}

void progress_nothing(void *arg, const char *line) {
    (void)arg;
    (void)line;
}
