/* progress: what a person sees while a run goes on: on a terminal a line that is written over each
 * second, and a line a stage; piped, only trouble. Everything goes to stderr: stdout is for
 * results. */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include <stdbool.h>

#include "bench/run/stage.h"

struct progress {
    bool terminal;
    bool open;      /* a line is there that the next one writes over */
    char said[600]; /* the last trouble */
};

void progress_init(struct progress *progress);
/* For run_ask.news, .done and .say; arg is the struct progress. */
void progress_news(void *arg, const struct stage_news *news);
void progress_stage(void *arg, const char *line);
void progress_say(void *arg, const char *line);
void progress_nothing(void *arg, const char *line); /* for .done of who has lines of its own */
/* Clears the line that is written over. */
void progress_end(struct progress *progress);

#endif
