/* progress: see progress.h. */
#include "bench/cli/progress.h"

#include <math.h>
#include <stdio.h>

#include "report/doc/number.h"
#include "report/doc/screen.h"

const char *progress_about(int64_t ns, char text[SPAN_MAX]) {
    double s = (double)ns / 1e9;
    if (s < 100) {
        snprintf(text, SPAN_MAX, "%.0f s", ceil(s));
    } else if (s < 6000) {
        snprintf(text, SPAN_MAX, "%.0f min", s / 60);
    } else {
        snprintf(text, SPAN_MAX, "%.1f h", s / 3600);
    }
    return text;
}

void progress_line(bool quiet, const char *line) {
    if (quiet) return;
    const struct screen screen = screen_of(stderr, false);
    screen_put(&screen, line, 0, TONE_PLAIN);
    fputc('\n', stderr);
}

static void show_begin(bool quiet, int stages, int64_t expected_ns) {
    char line[120], span[SPAN_MAX];
    snprintf(line, sizeof line, "%d stage%s, about %s by the plan (an estimate)", stages,
             stages == 1 ? "" : "s", progress_about(expected_ns, span));
    progress_line(quiet, line);
}

static void show_stage(bool quiet, const struct run_news *at) {
    const struct stage *stage = at->stage;
    const struct plan_stage *of = &stage->ask->of;
    const struct run_latency *acquire = &stage->result.latency[METRIC_ACQUIRE];
    char line[300], rate[NUMBER_TEXT_MAX], p50[NUMBER_TEXT_MAX], p99[NUMBER_TEXT_MAX];
    double per_s = stage->window_ns ? stage->result.throughput_per_s : NAN;
    snprintf(line, sizeof line,
             "stage %d of %d  %-20s  %d client%s  %s/s  acquire p50 %s  p99 %s%s", at->number,
             at->count, of->lock->lock->name, of->clients, of->clients == 1 ? "" : "s",
             number_text(per_s, &number_plain, rate), number_time_text(acquire->p50, p50),
             number_time_text(acquire->p99, p99),
             stage->status == STAGE_COMPLETE  ? ""
             : stage->status == STAGE_PARTIAL ? "  partial"
                                              : "  failed");
    progress_line(quiet, line);
}

void progress_news(void *arg, const struct run_news *news) {
    bool quiet = *(const bool *)arg;
    if (news->line)
        fprintf(stderr, "%s\n", news->line);
    else if (news->stage)
        show_stage(quiet, news);
    else
        show_begin(quiet, news->count, news->expected_ns);
}

void progress_say(void *arg, const char *line) {
    (void)arg;
    fprintf(stderr, "lockbench: %s\n", line);
}
