/* words: ZooKeeper's four-letter words: a question of four letters over a connection of its own,
 * and the facts in the answers. A server may forbid a word (only srvr is allowed by default). Then
 * its answer contains no facts, which is no error. */
#ifndef DRIVERS_ZOOKEEPER_WORDS_H
#define DRIVERS_ZOOKEEPER_WORDS_H

#include <sys/socket.h>
#include <sys/types.h>

#include "drivers/driver.h"

/* Asks one word of the server at an address by deadline_ns. Returns the length of the answer, which
 * is cut to the room and ended with a NUL; -1 if there is none. To be called on a fiber. */
ssize_t zk_ask(const struct sockaddr_storage *host, socklen_t host_len, const char *word, char *out,
               size_t size, int64_t deadline_ns);

/* The facts in the answers to srvr and conf. */
void zk_read_srvr(const char *answer, struct lb_facts *facts);
void zk_read_conf(const char *answer, struct lb_facts *facts);

/* Counts the watches on paths that begin so in the answer to wchp. */
void zk_count_watches(const char *answer, const char *begin, struct lb_residue *residue);
/* Adds one to the residue; the first one is the example. */
void zk_note_left(struct lb_residue *residue, const char *what, const char *path, int len);

#endif
