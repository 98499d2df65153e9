/* tiny: a backend with one lock, for the lock server of twenty lines in the script beside it. The
 * server frees what a connection holds when the connection ends.
 *
 * test_example adds it to a copy of the project: this file as drivers/tiny/tiny.c, the script as
 * compose/local/tiny, and the line LB_LOCK(tiny, tiny_lock). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/backoff.h"
#include "drivers/driver.h"
#include "drivers/stream.h"
#include "drivers/url.h"

#define TINY_PORT 7000
#define ANSWER_NS (5 * LB_S_NS) /* longest wait for one answer; then the outcome is unknown */

struct tiny_options {
    struct backoff_options poll;
};

static int tiny_open(struct lb_server *server, struct lb_err *err) {
    return url_parse(server->state, server->urls[0], TINY_PORT, err);
}

static int tiny_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct url *url = session->server->state;
    struct stream *stream = session->state;
    if (stream_connect(stream, session->server, url->host[0], url->port[0], deadline_ns, err) != 0)
        return -1;
    session->traffic_fd = stream->sock.fd;
    return 0;
}

static void tiny_disconnect(struct lb_session *session) {
    stream_close(session->state);
}

/* Sends "WORD KEY" and waits for the line that answers it. */
static enum lb_outcome send_word(struct lb_session *session, const char *word, const char *key,
                                 char **ret_line) {
    char command[LB_KEY_MAX + 16];
    int len = snprintf(command, sizeof command, "%s %s\n", word, key);
    int64_t deadline_ns = lb_now() + ANSWER_NS;
    session->commands++;
    enum lb_outcome outcome =
        stream_send(session->state, session, command, (size_t)len, deadline_ns);
    return outcome == LB_OK ? stream_line(session->state, session, deadline_ns, ret_line) : outcome;
}

static enum lb_outcome tiny_ping(struct lb_session *session, int64_t deadline_ns) {
    char *line;
    (void)deadline_ns; /* ANSWER_NS bounds every round trip */
    return send_word(session, "ping", "-", &line);
}

static int tiny_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    char *line;
    if (send_word(session, "version", "-", &line) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    lb_fact(facts, "version", "%s", line);
    return 0;
}

static enum lb_outcome tiny_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct tiny_options *options = session->options;
    bool once = request->deadline_ns <= lb_now();
    if (strchr(request->key, '\n'))
        return lb_fail(session, LB_REFUSED, "tiny: a line's end can't be in a key");
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    for (;;) {
        char *line = NULL;
        enum lb_outcome outcome = send_word(session, "lock", request->key, &line);
        if (outcome != LB_OK) return outcome;
        if (strcmp(line, "yes") == 0) {
            grant->lease_end_ns = LB_NEVER;
            return LB_OK;
        }
        if (once) return LB_BUSY;
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
    }
}

static enum lb_outcome tiny_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    char *line = NULL;
    (void)grant;
    enum lb_outcome outcome = send_word(session, "free", request->key, &line);
    if (outcome != LB_OK) return outcome;
    return strcmp(line, "yes") == 0 ? LB_OK : LB_LOST;
}

static int tiny_residue(struct lb_session *session, const char *prefix,
                        struct lb_residue *ret_residue, struct lb_err *err) {
    char *line = NULL;
    if (send_word(session, "left", prefix, &line) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    *ret_residue = (struct lb_residue){.count = strtoull(line, NULL, 10), .example = "a lock"};
    return 0;
}

static const struct lb_connector connector = {
    .server_bytes = sizeof(struct url),
    .session_bytes = sizeof(struct stream),
    .open = tiny_open,
    .connect = tiny_connect,
    .disconnect = tiny_disconnect,
    .describe = tiny_describe,
    .ping = tiny_ping,
};

const struct lb_backend backend_tiny = {
    .name = "tiny",
    .summary = "a lock server of twenty lines",
    .schemes = (const char *const[]){"tiny", NULL},
    .topologies = (const char *const[]){"tiny", NULL},
    .connector = &connector,
};

static const struct lb_option tiny_options[] = {
    BACKOFF_OPTIONS(struct tiny_options, poll, "1ms", "64ms"),
    {0},
};

static const struct lb_algorithm algorithm = {
    .options = tiny_options,
    .options_bytes = sizeof(struct tiny_options),
    .acquire = tiny_acquire,
    .release = tiny_release,
    .residue = tiny_residue,
};

const struct lb_lock lock_tiny_lock = {
    .name = "tiny-lock",
    .summary = "one word to lock, one to free",
    .backend = &backend_tiny,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about = {.compatible = "whoever sends the same words",
              .order = "none",
              .hazards = "a restart of the server forgets every holder",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_AT_ONCE,
              .crash_slack_ns = 500 * LB_MS_NS},
    .algorithm = &algorithm,
};
