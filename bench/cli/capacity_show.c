/* capacity_show: see capacity_show.h. */
#include "bench/cli/capacity_show.h"

#include <math.h>

#include "bench/cli/progress.h"
#include "report/doc/number.h"
#include "results/format/capacity_read.h"

static void show_begin(struct progress *progress, const struct capacity_run_news *news) {
    char line[200], budget[NUMBER_TEXT_MAX], each[NUMBER_TEXT_MAX];
    snprintf(line, sizeof line, "%-20s probes for at most %s (--time), about %s each", news->lock,
             number_time_text(1e9 * news->budget_s, budget),
             number_time_text(1e9 * news->probe_s, each));
    progress_line(progress, line);
}

void capacity_show_probe(void *arg, const struct capacity_run_news *news) {
    struct progress *progress = arg;
    const struct probe *probe = news->probe;
    if (!probe) {
        show_begin(progress, news);
        return;
    }
    char line[300], value[NUMBER_TEXT_MAX], low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX],
        between[120] = "";
    const char *limit = probe_limit_text(probe->limit); /* also of a promise that was kept */
    const char *why = limit ? limit : probe_unsure_text(probe);
    if (!isnan(probe->low_ns)) {
        snprintf(between, sizeof between, " (%s .. %s)", number_time_text(probe->low_ns, low),
                 isnan(probe->high_ns) ? "never" : number_time_text(probe->high_ns, high));
    }
    snprintf(line, sizeof line,
             "%-20s probe %2d  %8.6g%s: %s%s, %llu of %llu over the limit%s: %s%s%s", news->lock,
             news->number, probe->load, news->by_clients ? " clients" : "/s",
             isnan(probe->quantile_ns) ? "never" : number_time_text(probe->quantile_ns, value),
             between, (unsigned long long)probe->over, (unsigned long long)probe->samples,
             probe->grew ? ", the backlog grew" : "", promise_verdict_name(probe->verdict),
             why ? ": " : "", why ? why : "");
    progress_line(progress, line);
}
