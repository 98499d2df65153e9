/* complete: the words that a shell may offer behind `lockbench`. The shells' scripts
 * (compose/completion) call `lockbench --complete WORD...` at each Tab, so what they offer comes
 * from the tables of this very program.
 *
 * It starts nothing and connects to nothing. It has no errors: what is not known is not offered. */
#ifndef BENCH_CLI_COMPLETE_H
#define BENCH_CLI_COMPLETE_H

#include <stdio.h>

struct completion {
    FILE *out;
    const char *typed; /* the word so far */
    size_t kept;       /* bytes of it that stay in front of each word: "--lock=redis-setnx," */
};

/* words: what stands behind the program's name, the last one being typed and perhaps empty. Writes a
 * line for each word that may stand there, "WORD<tab>what it is"; the line ":files" if files may. */
void complete_words(int count, char *const *words, FILE *out);

/* For struct lb_option: what an argument's value may be. */
void complete_locks(struct completion *to);     /* one lock, or the last of several with commas */
void complete_selection(struct completion *to); /* the same, or backends, primitives, all */
void complete_backends(struct completion *to);  /* "redis=" */
void complete_topologies(struct completion *to);
void complete_scenarios(struct completion *to);
void complete_keys(struct completion *to); /* "load.clients=", then its choices */
void complete_workloads(struct completion *to);
void complete_names(struct completion *to); /* locks, backends and workloads */
void complete_files(struct completion *to);

#endif
