/* terminal: what a stream can show: colours, block characters, and the number of its columns. */
#ifndef BENCH_CLI_TERMINAL_H
#define BENCH_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* True for a terminal with colours, if the user wants them: https://no-color.org. */
bool terminal_has_color(FILE *out);

/* True for a terminal whose locale is UTF-8. */
bool terminal_has_blocks(FILE *out);

/* The number of columns; 0 = the stream is no terminal. */
int terminal_columns(FILE *out);

#endif
