/* stream: a TCP connection with a read buffer, for drivers that speak their protocol themselves.
 *
 * Edge-triggered, one write and one wait a round trip. It knows lines and bytes, no protocol. */
#ifndef DRIVERS_STREAM_H
#define DRIVERS_STREAM_H

#include "drivers/driver.h"

#define STREAM_BUFFER_BYTES 4096

struct stream { /* zeroed = closed */
    int fd;     /* meaningful while open */
    bool open, dead;
    bool read; /* something was, since the last send */
    /* set it where the server also speaks unasked: then a send forgets nothing that came */
    bool unasked;
    size_t start, end; /* unread bytes in buffer */
    char buffer[STREAM_BUFFER_BYTES];
};

/* Connects by deadline_ns. 0, or -1 with err. Name look-up blocks the thread: numeric hosts do
 * not. */
int stream_connect(struct stream *stream, const char *host, int port, int64_t deadline_ns,
                   struct lb_err *err);

/* Forgets and closes; a closed one is fine. */
void stream_close(struct stream *stream);

/* Sends all of it. LB_OK; LB_BROKEN: nothing left this host; LB_UNKNOWN: some of it did. Fills
 * session->err. */
enum lb_outcome stream_send(struct stream *stream, struct lb_session *session, const char *data,
                            size_t len, int64_t deadline_ns);

/* Waits for a whole line and points at it, ended by NUL in place of "\r\n", or of "\n" alone, as
 * memcached ends those of its dumps; valid until the next call. LB_OK, or LB_UNKNOWN (deadline,
 * closed, line too long). */
enum lb_outcome stream_line(struct stream *stream, struct lb_session *session, int64_t deadline_ns,
                            char **ret_line);

/* Waits for the next bytes. LB_OK: there are some; LB_TIMEOUT: none by the deadline or the cut-off,
 * and the connection goes on; LB_UNKNOWN: it is closed. */
enum lb_outcome stream_await(struct stream *stream, struct lb_session *session,
                             int64_t deadline_ns);

/* Waits for just so many bytes and copies them; out NULL = throws them away. LB_OK or
 * LB_UNKNOWN. */
enum lb_outcome stream_take(struct stream *stream, struct lb_session *session, int64_t deadline_ns,
                            char *out, size_t len);

#endif
