/* last_words: the end of a server's log, and the meaning of a wait status, each as one line. */
#ifndef BENCH_SERVERS_LAST_WORDS_H
#define BENCH_SERVERS_LAST_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the last lines of dir/log that are not empty, oldest first, joined with " / ", at most
 * size bytes; "" if there are none. Returns text. */
char *last_words(const char *dir, char *text, size_t size);

/* Whether the last lines say that an address was in use. */
bool last_words_blame_port(const char *dir);

/* "exit status 1", "signal 9 (Killed)". */
char *status_text(int status, char *text, size_t size);

#endif
