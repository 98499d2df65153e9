/* complete: the words that a shell may offer behind `lockbench`. The shells' scripts
 * (compose/completion) call `lockbench --complete WORD...` at each Tab, so what they offer comes
 * from the tables of this very program.
 *
 * This file starts nothing and connects to nothing. It has no errors: unknown words are not
 * completed. */
#ifndef BENCH_CLI_COMPLETE_H
#define BENCH_CLI_COMPLETE_H

#include <stdio.h>

struct completion {
    FILE *out;
    const char *typed; /* the word so far */
    /* bytes of it that are repeated before each offered word: "--lock=redis-setnx," */
    size_t kept;
};

/* words: the words after the program's name; the last one is being typed, and may be empty. Writes
 * a line "WORD<tab>description" for each word that may stand there, and the line ":files" if a file
 * may. */
void complete_words(int count, char *const *words, FILE *out);

/* For struct lb_option: these offer the values of an argument. */
/* one lock, or the last one of several, with commas between */
void complete_locks(struct completion *to);
void complete_selection(struct completion *to); /* the same, and backends, primitives, all */
void complete_check(struct completion *to);     /* the same, and files: folders of saved runs */
void complete_backends(struct completion *to);  /* "redis=" */
void complete_topologies(struct completion *to);
void complete_scenarios(struct completion *to);
void complete_keys(struct completion *to); /* "load.clients=", then its choices */
void complete_workloads(struct completion *to);
void complete_names(struct completion *to); /* locks, backends and workloads */

#endif
