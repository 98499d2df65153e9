/* terminal: what a stream can show: colours and block characters. Its width: output_columns. */
#ifndef BENCH_CLI_TERMINAL_H
#define BENCH_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* True for a terminal with colours, if the user wants them: https://no-color.org. */
bool terminal_has_color(FILE *out);

/* True for a terminal whose locale is UTF-8. */
bool terminal_has_blocks(FILE *out);

#endif
