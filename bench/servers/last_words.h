/* last_words: the path of a server's log, the last lines of the log, and the meaning of a wait status, each as one
 * line. */
#ifndef BENCH_SERVERS_LAST_WORDS_H
#define BENCH_SERVERS_LAST_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_PATH_MAX 640

/* DIR.log, where the output of the script with this working folder goes. Returns path. */
char *server_log_path(const char *dir, char path[LOG_PATH_MAX]);

/* Writes the last lines of the log that are not empty, oldest first, joined with " / ", at most
 * size bytes; "" if there are none. Returns text. */
char *last_words(const char *dir, char *text, size_t size);

/* Whether the last lines say that an address was in use. */
bool last_words_blame_port(const char *dir);

/* "exit status 1", "signal 9 (Killed)". */
char *status_text(int status, char *text, size_t size);

#endif
