/* secrets: the command line without its secrets. Everybody on the machine can read a program's arguments,
 * and messages quote them. */
#ifndef BENCH_CLI_SECRETS_H
#define BENCH_CLI_SECRETS_H

/* Returns copies of the words, ended by NULL: the values of --url and the words after "--" as they
 * are, all others without their secrets. In argv itself the secrets of all words are overwritten.
 * The copies live until the program ends. NULL when out of memory. To be called once, before any
 * other thread runs. */
char **secrets_take(int argc, char **argv);

#endif
