/* progress: prints the progress of a run: how long it will take, and a line for each stage. Everything goes to stderr:
 * stdout is for results. */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include "bench/run/run.h"

/* For run_ask.news and .say; arg is a bool: true = errors and what a user must know only. */
void progress_news(void *arg, const struct run_news *news);
void progress_say(void *arg, const char *line);
void progress_line(bool quiet, const char *line);

#define SPAN_MAX 32
/* "50 s", "4 min", "1.5 h". Returns text. */
const char *progress_about(int64_t ns, char text[SPAN_MAX]);

#endif
