/* fake_peer: a server on loopback that plays a script to one client: it waits for words, answers in
 * pieces, late, in part, or not at all. It is for behaviour that no real server shows on demand. It
 * speaks no protocol; it runs on a thread of its own. */
#ifndef DRIVERS_TESTS_FAKE_PEER_H
#define DRIVERS_TESTS_FAKE_PEER_H

#include <stdbool.h>
#include <stddef.h>

/* One step: first await, then wait, then say, then end. */
struct peer_step {
    const char *await; /* until this has come, after what earlier steps awaited; NULL = nothing */
    int delay_ms;
    const char *say; /* NULL = nothing */
    size_t say_len;  /* 0 = strlen(say) */
    size_t piece;    /* so many bytes at a time, each on its own way; 0 = all at once */
    enum { PEER_STAYS, PEER_CLOSES, PEER_RESETS } then;
};

struct fake_peer;

/* Plays count steps to the first client that comes, then waits silently for its end. Steps are
 * borrowed. Aborts the program if it can't be set up. */
struct fake_peer *fake_peer_start(const struct peer_step *steps, int count);
int fake_peer_port(const struct fake_peer *peer);

/* Ends the peer at any point of its script. Returns all that it has read, NUL-terminated; the
 * caller frees it. */
char *fake_peer_stop(struct fake_peer *peer);

#endif
