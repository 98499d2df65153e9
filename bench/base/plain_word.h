/* plain_word: the characters of a word that needs no quotes in a shell's command line. The code that writes commands
 * and the code that reads them use the same characters. */
#ifndef BENCH_BASE_PLAIN_WORD_H
#define BENCH_BASE_PLAIN_WORD_H

#define PLAIN_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
#define PLAIN_WORD PLAIN_NAME "=,:/@%+"

#endif
