/* fake_inside: what the fake server and its protocols share. See fake.h. */
#ifndef BENCH_ANSWERS_FAKE_INSIDE_H
#define BENCH_ANSWERS_FAKE_INSIDE_H

#include "bench/tests/answers/fake.h"

#define FAKE_KEY_MAX 160
#define FAKE_ANSWER_MAX 512

struct fake_command {
    enum fake_kind kind;
    char key[FAKE_KEY_MAX];
    char verb[64];     /* of FAKE_OTHER: what it asks for */
    char reply_to[64]; /* NATS: the subject of the answer */
};

struct fake_speech {
    const char *greeting; /* sent to a new connection; NULL = nothing */
    /* Reads one command from the begin of a text. Returns its bytes; 0 = it is not all there. */
    size_t (*parse)(const char *text, size_t len, struct fake_command *ret_command);
    /* Writes the answer, at most FAKE_ANSWER_MAX bytes. number: of the grant, above 0. Returns
     * its bytes. */
    size_t (*answer)(const struct fake_command *command, enum fake_outcome outcome, uint64_t number,
                     char *out);
};

extern const struct fake_speech fake_speeches[FAKE_PROTOCOLS];

#endif
