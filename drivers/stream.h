/* stream: a TCP connection, encrypted or not, with a read buffer, for drivers that speak their protocol themselves.
 *
 * Edge-triggered, with one write and one wait for a round trip. It knows lines and bytes, but no
 * protocol. */
#ifndef DRIVERS_STREAM_H
#define DRIVERS_STREAM_H

#include "drivers/driver.h"
#include "drivers/sock.h"

#define STREAM_BUFFER_BYTES 4096

struct stream {       /* zeroed = closed */
    struct sock sock; /* meaningful while open */
    bool open, dead;
    bool read; /* something was read since the last send */
    /* set this for a server that also sends without a request: then a send does not discard bytes that have arrived */
    bool unasked;
    const char *
        tls_scheme; /* set this to the scheme of URLs with TLS, which errors advise; NULL = there is none */
    const char *host; /* the caller's, and the port: where the connection leads */
    int port;
    size_t unwaited;   /* bytes that were read since the last wait */
    size_t start, end; /* unread bytes in buffer */
    char buffer[STREAM_BUFFER_BYTES];
};

/* Connects by deadline_ns to a host of the server's URL, on the server's route to it, at the first of its addresses that
 * takes the connection. Returns the socket, or -1 with err, "HOST:PORT: ...". A name look-up blocks the thread; a
 * numeric host does not. */
int stream_dial(const struct lb_server *server, const char *host, int port, int64_t deadline_ns,
                struct lb_err *err);

/* The same for a stream. The host's text is kept, and must live as long as the stream is used. Returns 0, or -1 with
 * err. */
int stream_connect(struct stream *stream, const struct lb_server *server, const char *host,
                   int port, int64_t deadline_ns, struct lb_err *err);

/* Encrypts an open connection (sock.h). Refuses a server that has sent more already, which would be taken for
 * encrypted. Returns 0, or -1 with err. */
int stream_secure(struct stream *stream, const struct sock_tls *tls, const char *host,
                  int64_t deadline_ns, struct lb_err *err);

/* Closes the connection; accepts a closed one. */
void stream_close(struct stream *stream);

/* Sends all of data. LB_OK; LB_BROKEN: nothing left this host; LB_UNKNOWN: a part of it did. Fills
 * session->err. */
enum lb_outcome stream_send(struct stream *stream, struct lb_session *session, const char *data,
                            size_t len, int64_t deadline_ns);

/* Waits for a whole line and points to it; a NUL replaces its "\r\n", or its "\n" alone, as
 * memcached ends the lines of its dumps. Valid until the next call. LB_OK, or LB_UNKNOWN (deadline,
 * closed, line too long). */
enum lb_outcome stream_line(struct stream *stream, struct lb_session *session, int64_t deadline_ns,
                            char **ret_line);

/* Waits for the next bytes. LB_OK: some arrived; LB_TIMEOUT: none by the deadline or the cut-off,
 * and the connection is still good; LB_UNKNOWN: it is closed. */
enum lb_outcome stream_await(struct stream *stream, struct lb_session *session,
                             int64_t deadline_ns);

/* Waits for exactly len bytes and copies them; out NULL = discards them. LB_OK or LB_UNKNOWN. */
enum lb_outcome stream_take(struct stream *stream, struct lb_session *session, int64_t deadline_ns,
                            char *out, size_t len);

#endif
