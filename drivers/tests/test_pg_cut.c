/* PostgreSQL answers that are cut off: a small server of our own speaks just enough of the protocol
 * to take a session to its first pg_advisory_lock, sends the first k bytes of the answer together
 * with the end of the connection, for every k. Nothing but the whole answer may count as granted,
 * and no wait may hang on an end that gives no new edge. */
#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"
#include "drivers/postgres/pg_impl.h"

#include <signal.h>
#include <sys/wait.h>

#include <netinet/tcp.h>

#include "bench/engine/loop.h"

extern const struct lb_lock lock_pg_advisory;

#define BYTES(text) text, sizeof(text) - 1

static const char hello[] = "R\0\0\0\x8\0\0\0\0" /* no password is asked */
                            "Z\0\0\0\x5I";       /* ready */
static const char prepared[] = "1\0\0\0\x4"
                               "Z\0\0\0\x5I";
static const char granted[] =
    "2\0\0\0\x4" /* bound; then a row of one column, void, in binary */
    "T\0\0\0\x1d\0\x1void\0\0\0\0\0\0\0\0\0\x8\xe6\0\x4\xff\xff\xff\xff\0\x1"
    "D\0\0\0\xa\0\x1\0\0\0\0"
    "C\0\0\0\xdSELECT 1\0"
    "Z\0\0\0\x5I";

/* Answers to the lock's statement that no PostgreSQL gives. */
#define ROW(columns, row) "2\0\0\0\x4" columns row "C\0\0\0\xdSELECT 1\0Z\0\0\0\x5I"
static const struct {
    const char *name, *bytes;
    size_t len;
} odd[] = {
    {"a row without columns", BYTES(ROW("T\0\0\0\x6\0\0", "D\0\0\0\x6\0\0"))},
    {"the answer to an empty query", BYTES("2\0\0\0\x4I\0\0\0\x4Z\0\0\0\x5I")},
    {"no rows", BYTES(ROW("T\0\0\0\x6\0\0", ""))},
    {"a wanted for data", BYTES("2\0\0\0\x4G\0\0\0\x7\0\0\0")},
    {"data", BYTES("2\0\0\0\x4H\0\0\0\x7\0\0\0")},
    {"data both ways", BYTES("2\0\0\0\x4W\0\0\0\x7\0\0\0")},
};
#define ODD (sizeof odd / sizeof *odd)

/* Reads one message of the client: its type, 0 for the first, which has none; -1 at the end. */
static int message(int fd, bool first) {
    char type = 0, body[4096];
    uint32_t len;
    if (!first && recv(fd, &type, 1, MSG_WAITALL) != 1) return -1;
    if (recv(fd, &len, 4, MSG_WAITALL) != 4) return -1;
    len = ntohl(len) - 4;
    if (len > sizeof body || (len > 0 && recv(fd, body, len, MSG_WAITALL) != (ssize_t)len))
        return -1;
    return type;
}

/* One session: answers until the lock is asked for, then only the first `keep` bytes; of the sessions after
 * those, each gets an odd answer. */
static void serve(int fd, size_t keep) {
    bool bound = false;
    if (message(fd, true) != 0) return;
    send(fd, BYTES(hello), 0);
    for (int type; (type = message(fd, false)) > 0;) {
        if (type == 'B') bound = true;
        if (type != 'S') continue;
        if (!bound) {
            send(fd, BYTES(prepared), 0);
        } else if (keep < sizeof granted - 1) {
            /* Corked, so that the last bytes and the end travel in one segment. */
            setsockopt(fd, IPPROTO_TCP, TCP_CORK, &(int){1}, sizeof(int));
            send(fd, granted, keep, 0);
            return;
        } else if (keep == sizeof granted - 1) {
            send(fd, BYTES(granted), 0);
        } else {
            size_t which = (keep - sizeof granted) % ODD;
            send(fd, odd[which].bytes, odd[which].len, 0);
        }
    }
}

/* Listens on a free loopback port and serves in a child, each session a byte more. */
static pid_t start_server(int *ret_port) {
    int listener = loopback_listen(ret_port);
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t keep = 0;; keep++) {
            int fd = accept(listener, NULL, NULL);
            if (fd < 0) _exit(1);
            serve(fd, keep);
            close(fd);
        }
    }
    close(listener);
    return pid;
}

struct cuts {
    struct lb_server server;
    enum lb_outcome outcome[sizeof granted + ODD];
    char text[ODD][200]; /* of the errors of odd answers */
    enum lb_outcome tried[ODD];
    char problem[600];
};

static void ask_all(void *arg) {
    struct cuts *cuts = arg;
    for (size_t keep = 0; keep < sizeof granted + 2 * ODD; keep++) {
        bool try = keep >= sizeof granted + ODD; /* a statement that answers true or false */
        struct pg_session state = {0};
        struct lb_grant grant = {0};
        struct lb_err err = {0};
        struct lb_request request = {
            .key = "key", .key_len = 3, .key_number = 1, .deadline_ns = try ? 0 : LB_NEVER};
        struct lb_session session = {
            .server = &cuts->server, .lock = &lock_pg_advisory, .traffic_fd = -1, .state = &state};
        if (pg_connect(&session, lb_now() + 10 * LB_S_NS, &err) != 0) {
            snprintf(cuts->problem, sizeof cuts->problem, "%s", err.text);
        } else {
            enum lb_outcome got = lock_pg_advisory.algorithm->acquire(&session, &request, &grant);
            if (try) {
                cuts->tried[keep - sizeof granted - ODD] = got;
            } else {
                cuts->outcome[keep] = got;
            }
            if (!try && keep >= sizeof granted)
                snprintf(cuts->text[keep - sizeof granted], sizeof cuts->text[0], "%.190s",
                         session.err.text);
        }
        pg_disconnect(&session);
    }
}

TEST(only_a_whole_answer_is_a_grant) {
    struct pg_conninfo info;
    struct pg_options options = {.answer_timeout_ns = 5 * LB_S_NS};
    struct cuts cuts = {
        .server = {.backend = &backend_postgres, .state = &info, .options = &options}};
    struct lb_err err = {0};
    char url[100];
    int port;
    pid_t pid = start_server(&port);
    snprintf(url, sizeof url, "postgres://me@127.0.0.1:%d/base?sslmode=disable", port);
    assert_int_equal(pg_conninfo_parse(&info, url, &err), 0);
    assert_int_equal(pg_conninfo_dial(&info, &cuts.server, &err), 0);
    info.pooled = PG_POOLED_NO; /* the server below answers one statement */
    alarm(60);                  /* a hang is a failure */
    assert_int_equal(loop_once("test", ask_all, &cuts, &err), 0);
    alarm(0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    pg_conninfo_done(&info);
    if (cuts.problem[0]) fail_msg("%s", cuts.problem);
    for (size_t keep = 0; keep < sizeof granted - 1; keep++) {
        if (cuts.outcome[keep] != LB_UNKNOWN) {
            fail_msg("%zu of %zu bytes: %s", keep, sizeof granted - 1,
                     lb_outcome_name(cuts.outcome[keep]));
        }
    }
    assert_int_equal(cuts.outcome[sizeof granted - 1], LB_OK);
    for (size_t i = 0; i < ODD; i++) {
        if (cuts.outcome[sizeof granted + i] != LB_UNKNOWN || cuts.tried[i] != LB_UNKNOWN)
            fail_msg("%s: %s and %s", odd[i].name,
                     lb_outcome_name(cuts.outcome[sizeof granted + i]),
                     lb_outcome_name(cuts.tried[i]));
        if (strncmp(cuts.text[i], "postgres: ", 10) != 0) fail_msg("'%s'", cuts.text[i]);
    }
}

TEST_MAIN(NULL, NULL)
