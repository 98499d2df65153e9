/* plain_word: the characters of a word that needs no quotes in a shell's command line. Whoever writes a command and
 * whoever reads one again take them from here. */
#ifndef BENCH_BASE_PLAIN_WORD_H
#define BENCH_BASE_PLAIN_WORD_H

#define PLAIN_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
#define PLAIN_WORD PLAIN_NAME "=,:/@%+"

#endif
