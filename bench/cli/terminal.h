/* terminal: what a stream can show: colours, lines drawn with blocks, so many columns. */
#ifndef BENCH_CLI_TERMINAL_H
#define BENCH_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* A terminal with colours, whose user wants them: https://no-color.org. */
bool terminal_has_color(FILE *out);

/* A terminal whose locale is UTF-8. */
bool terminal_has_blocks(FILE *out);

/* 0 = it is no terminal. */
int terminal_columns(FILE *out);

#endif
