/* shell_quote: a word of a command that the user can type. */
#ifndef BENCH_BASE_SHELL_QUOTE_H
#define BENCH_BASE_SHELL_QUOTE_H

#include <stdio.h>

/* Writes a word quoted where it must be, so that a shell takes it as one word. */
void shell_quote(FILE *out, const char *text);

#endif
