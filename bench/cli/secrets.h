/* secrets: the command line without its secrets. Everybody on the machine can read a program's arguments,
 * and messages quote them. */
#ifndef BENCH_CLI_SECRETS_H
#define BENCH_CLI_SECRETS_H

/* Copies of the words, ended by NULL: the values of --url, and what stands behind "--", as they are; of
 * all others only what may be shown. In argv itself the secrets of all words are overwritten. The copies
 * live until the program ends. NULL: out of memory. To be called once, before any other thread runs. */
char **secrets_take(int argc, char **argv);

#endif
