/* progress: see progress.h. */
#include "bench/cli/progress.h"
#include "bench/cli/terminal.h"

#include <math.h>
#include <stdio.h>

#include "bench/base/output.h"
#include "report/doc/number.h"
#include "report/doc/screen.h"

#define BAR_WIDTH 16

void progress_init(struct progress *progress, enum progress_kind kind) {
    if (kind == PROGRESS_AUTO) kind = terminal_obeys(stderr) ? PROGRESS_BAR : PROGRESS_LINE;
    *progress = (struct progress){.kind = kind};
}

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

/* "stage 17 of 39  redis-setnx  16 clients". */
static int put_place(char *line, size_t size, const struct run_news *at, int lock_width) {
    return snprintf(line, size, "stage %d of %d  %-*s  %d client%s", at->number, at->count,
                    lock_width, at->lock, at->clients, at->clients == 1 ? "" : "s");
}

static void put_bar(char *bar, double part) {
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < part * BAR_WIDTH ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
}

static void show_begin(struct progress *progress, int stages, int64_t expected_ns) {
    char line[120], span[SPAN_MAX];
    snprintf(line, sizeof line, "%d stage%s, about %s by the plan (an estimate)", stages,
             stages == 1 ? "" : "s", progress_about(expected_ns, span));
    progress_line(progress, line);
}

/* The fraction of the run that is over: the earlier stages, and a part of the present one. */
static double part_of(const struct run_news *at) {
    const struct stage_news *news = at->second;
    double stage = news->total_ns > 0 ? (double)news->elapsed_ns / (double)news->total_ns : 0;
    return (at->number - 1 + fmin(stage, 1)) / at->count;
}

void progress_now(struct progress *progress, const char *line, bool red) {
    if (progress->kind != PROGRESS_BAR) return;
    /* A line that wraps could not be overwritten. */
    int columns = output_columns(stderr);
    red &= terminal_has_color(stderr);
    fprintf(stderr, "\r\033[K%s%.*s%s", red ? "\033[31m" : "", columns > 1 ? columns - 1 : 255,
            line, red ? "\033[0m" : "");
    fflush(stderr);
    progress->open = true;
}

static void show_second(struct progress *progress, const struct run_news *at) {
    const struct stage_news *news = at->second;
    char line[300], bar[BAR_WIDTH + 1], overlaps[48] = "", rate[NUMBER_TEXT_MAX],
                                        p50[NUMBER_TEXT_MAX], p99[NUMBER_TEXT_MAX];
    if (progress->kind != PROGRESS_BAR) return;
    if (news->overlaps)
        snprintf(overlaps, sizeof overlaps, "  %llu overlaps", (unsigned long long)news->overlaps);
    put_bar(bar, part_of(at));
    int used = snprintf(line, sizeof line, "%s ", bar);
    used += put_place(line + used, sizeof line - (size_t)used, at, 0);
    snprintf(line + used, sizeof line - (size_t)used, "%s  %s/s  p50 %s  p99 %s", overlaps,
             number_text(news->rate_per_s, &number_plain, rate),
             number_time_text((double)news->acquire_p50_ns, p50),
             number_time_text((double)news->acquire_p99_ns, p99));
    progress_now(progress, line, news->overlaps > 0);
}

void progress_end(struct progress *progress) {
    if (progress->open) fprintf(stderr, "\r\033[K");
    progress->open = false;
}

void progress_line(struct progress *progress, const char *line) {
    if (progress->kind == PROGRESS_NONE) return;
    progress_end(progress);
    const struct screen screen = screen_of(stderr, false);
    screen_put(&screen, line, 0, TONE_PLAIN);
    fputc('\n', stderr);
}

static void show_stage(struct progress *progress, const struct run_news *at) {
    const struct stage *stage = at->stage;
    const struct run_latency *acquire = &stage->result.latency[METRIC_ACQUIRE];
    char line[300], rate[NUMBER_TEXT_MAX], p50[NUMBER_TEXT_MAX], p99[NUMBER_TEXT_MAX];
    int used = put_place(line, sizeof line, at, 20);
    double per_s = stage->window_ns ? stage->result.throughput_per_s : NAN;
    snprintf(line + used, sizeof line - (size_t)used, "  %s/s  acquire p50 %s  p99 %s%s",
             number_text(per_s, &number_plain, rate), number_time_text(acquire->p50, p50),
             number_time_text(acquire->p99, p99),
             stage->status == STAGE_COMPLETE  ? ""
             : stage->status == STAGE_PARTIAL ? "  partial"
                                              : "  failed");
    progress_line(progress, line);
}

void progress_tell(struct progress *progress, const char *line) {
    progress_end(progress);
    fprintf(stderr, "%s\n", line);
}

void progress_news(void *arg, const struct run_news *news) {
    if (news->line)
        progress_tell(arg, news->line);
    else if (news->second)
        show_second(arg, news);
    else if (news->stage)
        show_stage(arg, news);
    else
        show_begin(arg, news->count, news->expected_ns);
}

void progress_say(void *arg, const char *line) {
    progress_end(arg);
    fprintf(stderr, "lockbench: %s\n", line);
}
