/* stream: see stream.h. */
#define _GNU_SOURCE
#include "drivers/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/resolve.h"
#include "drivers/wait.h"

/* After so many bytes without a wait the deadline is checked: otherwise a server that never stops sending would keep
 * the fiber, and with it the thread, for ever. */
#define UNWAITED_BYTES_MAX (64 * 1024)

static int wait_connected(int fd, int64_t deadline_ns) {
    int ready = lb_wait_edge(fd, LB_WRITABLE, deadline_ns);
    if (ready < 0) return -ready;
    if (ready == 0) return ETIMEDOUT;
    int failed = 0;
    socklen_t len = sizeof failed;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len);
    return failed;
}

/* Connects to one address, which is a number. Returns the socket, or -1 with *ret_why, an errno. */
static int dial_address(const char *address, int port, int64_t deadline_ns, int *ret_why) {
    struct sockaddr_storage at = {0};
    socklen_t len = resolve_number(address, port, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int why = fd >= 0 && connect(fd, (struct sockaddr *)&at, len) == 0 ? 0 : errno;
    if (fd >= 0 && why == EINPROGRESS) why = wait_connected(fd, deadline_ns);
    if (fd >= 0) lb_fd_forget(fd); /* from now on for reading only */
    if (fd >= 0 && why) close(fd);
    *ret_why = why;
    return why ? -1 : fd;
}

int stream_dial(const struct lb_server *server, const char *host, int port, int64_t deadline_ns,
                struct lb_err *err) {
    const char *dial_host = host;
    int dial_port = port, why = 0, fd = -1;
    lb_route(server, &dial_host, &dial_port);
    const struct resolved *resolved = resolve_host(dial_host, err);
    if (!resolved) return -1;
    /* Each address has its share of the time: the first one may be of a network that drops all packets. */
    for (int i = 0; i < resolved->count && fd < 0; i++) {
        int64_t now_ns = lb_now(), share_ns = (deadline_ns - now_ns) / (resolved->count - i);
        fd = dial_address(resolved->address[i], dial_port, now_ns + share_ns, &why);
    }
    if (fd < 0)
        return err_set(err, LB_EXIT_MACHINE, "%s:%d: %s", host, port,
                       why == ETIMEDOUT ? "no connection in time" : strerror(why));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

int stream_connect(struct stream *stream, const struct lb_server *server, const char *host,
                   int port, int64_t deadline_ns, struct lb_err *err) {
    int fd = stream_dial(server, host, port, deadline_ns, err);
    if (fd < 0) return -1;
    stream->sock = (struct sock){.fd = fd};
    stream->open = true;
    stream->dead = stream->read = false;
    stream->start = stream->end = stream->unwaited = 0;
    stream->host = host;
    stream->port = port;
    return 0;
}

int stream_secure(struct stream *stream, const struct sock_tls *tls, const char *host,
                  int64_t deadline_ns, struct lb_err *err) {
    if (stream->start < stream->end)
        return err_set(err, LB_EXIT_MACHINE, "the server sent more before the encryption began");
    return sock_secure(&stream->sock, tls, host, deadline_ns, err);
}

void stream_close(struct stream *stream) {
    if (!stream->open) return;
    lb_fd_forget(stream->sock.fd);
    sock_end(&stream->sock);
    close(stream->sock.fd);
    stream->open = false;
}

static enum lb_outcome fail_dead(struct stream *stream, struct lb_session *session,
                                 enum lb_outcome outcome, const char *why) {
    const char *name = session->server->backend->name;
    stream->dead = true;
    if (!stream->host) return lb_fail(session, outcome, "%s: %s", name, why);
    return lb_fail(
        session, outcome, "%s at %s:%d: %s%s", name, stream->host, stream->port, why,
        stream->open && stream->tls_scheme ? sock_advice(&stream->sock, stream->tls_scheme) : "");
}

enum lb_outcome stream_send(struct stream *stream, struct lb_session *session, const char *data,
                            size_t len, int64_t deadline_ns) {
    if (!stream->open || stream->dead)
        return fail_dead(stream, session, LB_BROKEN, "not connected");
    size_t sent = 0;
    if (!stream->unasked) stream->read = false;
    while (sent < len) {
        ssize_t wrote = sock_send(&stream->sock, data + sent, len - sent);
        if (wrote >= 0) {
            sent += (size_t)wrote;
            continue;
        }
        enum lb_outcome outcome = sent > 0 ? LB_UNKNOWN : LB_BROKEN;
        if (errno == EINTR) continue;
        if (errno != EAGAIN)
            return fail_dead(stream, session, outcome, sock_error(&stream->sock, errno));
        if (sock_wait(&stream->sock, LB_WRITABLE, deadline_ns) <= 0) {
            return fail_dead(stream, session, outcome, "timed out while sending");
        }
    }
    return LB_OK;
}

/* Reads available bytes into the free end of the buffer. LB_BUSY: there are none. */
static enum lb_outcome read_available(struct stream *stream, struct lb_session *session) {
    ssize_t got =
        sock_recv(&stream->sock, stream->buffer + stream->end, sizeof stream->buffer - stream->end);
    stream->read = got > 0 || (got < 0 && errno == EINTR);
    if (got > 0) {
        stream->end += (size_t)got;
        stream->unwaited += (size_t)got;
        return LB_OK;
    }
    if (got == 0) return fail_dead(stream, session, LB_UNKNOWN, "the server closed the connection");
    if (errno != EAGAIN && errno != EINTR)
        return fail_dead(stream, session, LB_UNKNOWN, sock_error(&stream->sock, errno));
    return LB_BUSY;
}

/* Reads available bytes, after waiting for them. The first read of an answer comes after a wait. A
 * later one comes before a wait, because bytes that arrived together with the ones already read
 * (more than the buffer could take, or the end of the connection) cause no new edge. */
static enum lb_outcome wait_and_read(struct stream *stream, struct lb_session *session,
                                     int64_t deadline_ns) {
    if (stream->start > 0) {
        memmove(stream->buffer, stream->buffer + stream->start, stream->end - stream->start);
        stream->end -= stream->start;
        stream->start = 0;
    }
    if (stream->end == sizeof stream->buffer)
        return fail_dead(stream, session, LB_UNKNOWN, "answer too long");
    for (;;) {
        if (!stream->read) {
            int ready = sock_wait(&stream->sock, LB_READABLE, deadline_ns);
            if (ready < 0) return fail_dead(stream, session, LB_UNKNOWN, strerror(-ready));
            if (ready == 0 || lb_stopping())
                return fail_dead(stream, session, LB_UNKNOWN,
                                 lb_stopping() ? "cut off while waiting" : "no answer in time");
            stream->unwaited = 0;
        } else if (stream->unwaited >= UNWAITED_BYTES_MAX) {
            if (lb_now() >= deadline_ns || lb_stopping())
                return fail_dead(stream, session, LB_UNKNOWN, "no whole answer in time");
            stream->unwaited = 0;
            lb_yield();
        }
        enum lb_outcome outcome = read_available(stream, session);
        if (outcome != LB_BUSY) return outcome;
    }
}

enum lb_outcome stream_line(struct stream *stream, struct lb_session *session, int64_t deadline_ns,
                            char **ret_line) {
    if (!stream->open || stream->dead)
        return fail_dead(stream, session, LB_UNKNOWN, "not connected");
    for (;;) {
        char *from = stream->buffer + stream->start;
        char *end = memchr(from, '\n', stream->end - stream->start);
        if (end) {
            *end = '\0';
            stream->start = (size_t)(end + 1 - stream->buffer);
            if (end > from && end[-1] == '\r') end[-1] = '\0';
            *ret_line = from;
            return LB_OK;
        }
        enum lb_outcome outcome = wait_and_read(stream, session, deadline_ns);
        if (outcome != LB_OK) return outcome;
    }
}

enum lb_outcome stream_await(struct stream *stream, struct lb_session *session,
                             int64_t deadline_ns) {
    if (!stream->open || stream->dead)
        return fail_dead(stream, session, LB_UNKNOWN, "not connected");
    if (stream->start == stream->end) stream->start = stream->end = 0;
    while (stream->start == stream->end) {
        if (!stream->read) {
            if (lb_now() >= deadline_ns || lb_stopping()) return LB_TIMEOUT;
            int ready = sock_wait(&stream->sock, LB_READABLE, deadline_ns);
            if (ready < 0) return fail_dead(stream, session, LB_UNKNOWN, strerror(-ready));
            if (ready == 0 || ready == LB_WOKEN) continue;
        }
        if (read_available(stream, session) == LB_UNKNOWN) return LB_UNKNOWN;
    }
    return LB_OK;
}

enum lb_outcome stream_take(struct stream *stream, struct lb_session *session, int64_t deadline_ns,
                            char *out, size_t len) {
    if (!stream->open || stream->dead)
        return fail_dead(stream, session, LB_UNKNOWN, "not connected");
    while (len > 0) {
        size_t there = stream->end - stream->start, take = there < len ? there : len;
        if (out) {
            memcpy(out, stream->buffer + stream->start, take);
            out += take;
        }
        stream->start += take;
        len -= take;
        if (len == 0) break;
        enum lb_outcome outcome = wait_and_read(stream, session, deadline_ns);
        if (outcome != LB_OK) return outcome;
    }
    return LB_OK;
}
