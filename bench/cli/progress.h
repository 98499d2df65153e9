/* progress: prints the progress of a run: how long it will take, and a line for each stage. Everything goes to stderr:
 * stdout is for results. */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include "bench/run/run.h"

enum progress { PROGRESS_AUTO, PROGRESS_NONE, PROGRESS_LINE };

/* The option --progress of a verb: a row of its table of arguments, for the member `progress` of its struct typed. */
#define PROGRESS_ARG                                                                               \
    {                                                                                              \
        {"progress",                                                                               \
         LB_OPT_CHOICE32,                                                                          \
         offsetof(struct typed, progress),                                                         \
         NULL,                                                                                     \
         .choices = "auto,none,line", /* in the order of enum progress */                          \
         .help = "on standard error; default: lines"},                                             \
            "none|line"                                                                            \
    }

/* For run_ask.news and .say; arg is an enum progress. */
void progress_news(void *arg, const struct run_news *news);
void progress_say(void *arg, const char *line);
void progress_line(enum progress progress, const char *line);

#define SPAN_MAX 32
/* "50 s", "4 min", "1.5 h". Returns text. */
const char *progress_about(int64_t ns, char text[SPAN_MAX]);

#endif
