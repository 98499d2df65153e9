/* progress: prints the progress of a run: how long it will take, and a line for each stage; on a
 * terminal also a bar that is overwritten each second. Everything goes to stderr: stdout is for
 * results. */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include <stdbool.h>

#include "bench/run/run.h"

enum progress_kind { PROGRESS_AUTO, PROGRESS_NONE, PROGRESS_LINE, PROGRESS_BAR };

/* The option --progress of a verb: a row of its table of arguments, for the member `progress` of its struct typed. */
#define PROGRESS_ARG                                                                               \
    {                                                                                              \
        {"progress",                                                                               \
         LB_OPT_CHOICE32,                                                                          \
         offsetof(struct typed, progress),                                                         \
         NULL,                                                                                     \
         .choices = "auto,none,line,bar", /* in the order of enum progress_kind */                 \
         .help = "on standard error; default: a bar on a terminal, else lines"},                   \
            "none|line|bar"                                                                        \
    }

struct progress {
    enum progress_kind kind; /* never PROGRESS_AUTO */
    bool open;               /* a bar is on the terminal, and the next one overwrites it */
};

/* PROGRESS_AUTO: a bar on a terminal, otherwise lines. */
void progress_init(struct progress *progress, enum progress_kind kind);
/* For run_ask.news and .say; arg is the struct progress. */
void progress_news(void *arg, const struct run_news *news);
void progress_say(void *arg, const char *line);
/* What is made on a server at --url, or left there. */
void progress_tell(struct progress *progress, const char *line);
/* Prints a line of the caller's, above the bar. */
void progress_line(struct progress *progress, const char *line);
/* Shows a line until the next one, on a terminal alone. */
void progress_now(struct progress *progress, const char *line, bool red);
/* Clears the bar. */
void progress_end(struct progress *progress);

#define SPAN_MAX 32
/* "50 s", "4 min", "1.5 h". Returns text. */
const char *progress_about(int64_t ns, char text[SPAN_MAX]);

#endif
