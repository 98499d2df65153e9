/* child: see child.h. Its standard input and output are one socketpair; its standard error is a
 * file without a name that can't grow beyond LOG_BYTES, and whose last line is part of the message
 * when the child ends. */
#define _GNU_SOURCE

#include "drivers/exec/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/process.h"
#include "drivers/resolve.h"

/* null_child: answers each request with "ok" at once, so that the row measures the socket and the
 * two context switches. It excludes nobody. It runs after a fork without an exec, where memory must
 * not be allocated; so it does not parse the requests. */

static _Noreturn void null_child(void) {
    static const char answer[] = "{\"outcome\":\"ok\",\"version\":\"built in\"}\n";
    char text[4096];
    for (ssize_t got; (got = read(0, text, sizeof text)) > 0;) {
        /* one line is one request, and the next one comes after the answer */
        if (text[got - 1] == '\n' && write(1, answer, sizeof answer - 1) < 0) break;
    }
    _exit(0);
}

#define LOG_BYTES 16384 /* the log keeps the first bytes; writes beyond this limit fail */
#define LOOK_NS (2 * LB_MS_NS)
#define EXIT_NS (200 * LB_MS_NS) /* the child may take so long to end after the end of its output */

extern char **environ;

/* --- start --- */

/* The environment of the child: our own, and the URL. The caller frees the list and *ret_text. NULL when out of
 * memory. */
static char **make_environment(const struct lb_server *server, char **ret_text) {
    const char *url = server->url_count > 0 ? server->urls[0] : "";
    size_t count = 0, bytes = 256 + lb_route_url(server, url, NULL, 0);
    while (environ[count]) count++;
    if (server->ca) bytes += strlen(server->ca);
    char **list = calloc(count + 4, sizeof *list), *text = calloc(1, bytes);
    if (!list || !text) {
        free(list);
        free(text);
        return NULL;
    }
    memcpy(list, environ, count * sizeof *list);
    size_t used = (size_t)snprintf(text, bytes, "LOCKBENCH_URL=");
    list[count++] = text;
    used += lb_route_url(server, url, text + used, bytes - used);
    if (server->ca) {
        list[count++] = text + used + 1;
        snprintf(text + used + 1, bytes - used - 1, "LOCKBENCH_CA=%s", server->ca);
    }
    if (*janitor_mark) list[count++] = janitor_mark;
    *ret_text = text;
    return list;
}

/* In the child: async-signal-safe calls only. */
static _Noreturn void become(pid_t parent, int fd, int log, const char *command, char **env) {
    setpgid(0, 0); /* Ctrl-C must not reach the child: lockbench ends the sessions properly first */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child dies with the process that started it */
    if (getppid() != parent) _exit(1);
    child_streams(fd, fd, log);
    close_range(3, ~0U, 0);
    if (!command) null_child();
    execle("/bin/sh", "sh", "-c", command, (char *)NULL, env);
    _exit(127);
}

static int open_log(void) {
    int log = memfd_create("standard error", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (log >= 0 && ftruncate(log, LOG_BYTES) == 0) fcntl(log, F_ADD_SEALS, F_SEAL_GROW);
    return log;
}

static void run_pump(void *arg);

int exec_child_start(struct exec_child *child, struct lb_session *owner, const char *command,
                     struct lb_err *err) {
    int ends[2] = {-1, -1}, result = -1;
    char *text = NULL, *line = NULL, **env = make_environment(owner->server, &text);
    child->owner = owner;
    child->fd = -1;
    child->log = open_log();
    if (!env || (command && asprintf(&line, "exec %s", command) < 0)) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto done;
    }
    if (child->log < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
        err_set(err, LB_EXIT_MACHINE, "the client program can't be started: %s", strerror(errno));
        goto done;
    }
    fcntl(ends[1], F_SETFL,
          0); /* the child's end must block, as a program expects of standard input */
    child->fd = ends[0];
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) become(parent, ends[1], child->log, line, env);
    close(ends[1]);
    if (pid < 0) {
        err_set(err, LB_EXIT_MACHINE, "the client program can't be started: %s%s", strerror(errno),
                too_many_remedy(errno));
        goto done;
    }
    setpgid(pid, pid);
    child->pid = pid;
    child->pump = lb_start_fiber("exec pump", run_pump, child);
    result = child->pump ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory for a fiber");
done:
    free(env);
    free(text);
    free(line);
    return result;
}

/* --- why it failed --- */

/* The last line that the child wrote to standard error, without control characters; "" = none. */
static void last_words(const struct exec_child *child, char *out, size_t size) {
    char text[LOG_BYTES + 1];
    ssize_t got = pread(child->log, text, LOG_BYTES, 0);
    text[got > 0 ? got : 0] = '\0';
    size_t len = strlen(text);
    while (len > 0 && (unsigned char)text[len - 1] <= ' ') len--;
    text[len] = '\0';
    const char *line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
    snprintf(out, size, "%s%s", *line ? ": " : "", line);
    for (char *at = out; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
    }
}

enum lb_outcome exec_child_give_up(struct exec_child *child, const char *why) {
    if (!child->why[0]) snprintf(child->why, sizeof child->why, "the client program %s", why);
    if (child->pid > 0) kill(-child->pid, SIGKILL);
    child->ended = true;
    child->owner->err = (struct lb_err){0};
    return lb_fail(child->owner, LB_UNKNOWN, "exec: %s", child->why);
}

/* Called when the child's output has ended: the child has ended too, or is about to. Notes how it ended. */
static void note_end(struct exec_child *child) {
    char words[200], why[300];
    int status = 0;
    int64_t until_ns = lb_now() + EXIT_NS;
    pid_t got = 0;
    while ((got = waitpid(child->pid, &status, WNOHANG)) == 0 && lb_now() < until_ns &&
           !lb_stopping())
        lb_sleep_until(lb_now() + LOOK_NS);
    child->ended = child->broke = true;
    if (got == child->pid) {
        kill(-child->pid, SIGKILL); /* the processes that the child has started */
        child->pid = 0;
    }
    if (child->stop || child->why[0]) return;
    last_words(child, words, sizeof words);
    if (got == 0)
        snprintf(why, sizeof why, "closed its output%s", words);
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "was ended by signal %d%s", WTERMSIG(status), words);
    else
        snprintf(why, sizeof why, "ended with exit status %d%s", WEXITSTATUS(status), words);
    snprintf(child->why, sizeof child->why, "the client program %s", why);
}

/* --- lines --- */

/* Gives the child up because it wrote a wrong line. `what` describes the mistake. The message quotes
 * the line, without control characters, as far as there is room. */
static void babbles(struct exec_child *child, const char *what, const char *line) {
    char why[200], shown[61];
    snprintf(shown, sizeof shown, "%.60s", line);
    for (char *at = shown; *at; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f) *at = '?';
    }
    snprintf(why, sizeof why, "%s: '%s'", what, shown);
    if (!child->why[0]) snprintf(child->why, sizeof child->why, "the client program %s", why);
    child->ended = child->broke = true;
}

/* Handles one line; the line feed is already removed. */
static void take_line(struct exec_child *child, const char *line, size_t len) {
    json_t *object = json_loadb(line, len, 0, NULL);
    if (!json_is_object(object)) {
        babbles(child, "wrote a line that is no JSON object", line);
    } else if (json_object_get(object, "event")) {
        const char *event = json_string_value(json_object_get(object, "event"));
        if (event && strcmp(event, "lost") == 0)
            lb_session_lost(child->owner);
        else
            babbles(child, "sent an event other than 'lost'", line);
    } else if (!child->waiter || child->answer) {
        babbles(child, "sent an answer without a request", line);
    } else {
        child->answer = json_incref(object);
    }
    json_decref(object);
}

/* Handles all complete lines in the buffer. */
static void take_lines(struct exec_child *child) {
    char *from = child->line, *end;
    while (!child->ended &&
           (end = memchr(from, '\n', child->used - (size_t)(from - child->line)))) {
        *end = '\0';
        take_line(child, from, (size_t)(end - from));
        from = end + 1;
    }
    child->used -= (size_t)(from - child->line);
    memmove(child->line, from, child->used);
    if (child->used == sizeof child->line && !child->ended) {
        child->line[60] = '\0';
        babbles(child, "wrote a line without end", child->line);
    }
}

/* Reads until the child has ended or is stopped; wakes the fiber that waits for an answer. */
static void run_pump(void *arg) {
    struct exec_child *child = arg;
    while (!child->stop && !child->ended) {
        int ready = lb_wait_fd(child->fd, LB_READABLE, LB_NEVER);
        if (lb_stopping()) break;
        if (ready <= 0 || ready == LB_WOKEN) continue;
        ssize_t got = recv(child->fd, child->line + child->used, sizeof child->line - child->used,
                           MSG_DONTWAIT);
        if (got > 0) {
            child->used += (size_t)got;
            take_lines(child);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            note_end(child);
        }
        if (child->waiter && (child->answer || child->ended)) lb_wake(child->waiter);
    }
    if (child->ended && !child->stop && !child->waiter) lb_session_lost(child->owner);
}

/* Sends a line. The socket's buffer takes many lines, so if it does not take this one at once, the
 * child has stopped reading: it is given up. */
static enum lb_outcome send_line(struct exec_child *child, json_t *request) {
    char *line = json_dumps(request, JSON_COMPACT);
    if (!line) return lb_fail(child->owner, LB_REFUSED, "exec: the key's name is no UTF-8");
    size_t len = strlen(line);
    line[len++] = '\n';
    ssize_t sent = send(child->fd, line, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    free(line);
    if (sent == (ssize_t)len) return LB_OK;
    if (sent < 0 && errno == EPIPE) return LB_OK; /* the pump finds out why the child has ended */
    return exec_child_give_up(child, "does not read its requests");
}

enum lb_outcome exec_child_ask(struct exec_child *child, json_t *request, int64_t deadline_ns,
                               json_t **ret_answer) {
    struct lb_session *session = child->owner;
    if (!request) return lb_fail(session, LB_REFUSED, "exec: the key's name is no UTF-8");
    if (child->ended || child->fd < 0) {
        json_decref(request);
        return lb_fail(session, LB_BROKEN, "exec: %s",
                       child->why[0] ? child->why : "the client program has ended");
    }
    session->commands++;
    child->waiter = lb_self();
    enum lb_outcome outcome = send_line(child, request);
    json_decref(request);
    while (outcome == LB_OK && !child->answer && !child->ended && !lb_stopping() &&
           lb_now() < deadline_ns)
        lb_sleep_until(deadline_ns);
    child->waiter = NULL;
    if (outcome != LB_OK) return outcome;
    if (!child->answer) {
        if (child->ended) return exec_child_give_up(child, "has ended");
        return exec_child_give_up(child, lb_stopping() ? "was asked when the run was cut off"
                                                       : "did not answer within the deadline");
    }
    *ret_answer = child->answer;
    child->answer = NULL;
    return LB_OK;
}

/* --- end --- */

void exec_child_stop(struct exec_child *child, int64_t deadline_ns) {
    if (!child->owner) return;
    if (child->pump && !child->ended && child->fd >= 0) {
        static const char bye[] = "{\"do\":\"close\"}\n";
        child->waiter = lb_self();
        if (send(child->fd, bye, sizeof bye - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
            shutdown(child->fd, SHUT_WR);
        while (!child->ended && !lb_stopping() && lb_now() < deadline_ns)
            lb_sleep_until(deadline_ns);
        child->waiter = NULL;
    }
    child->stop = true;
    if (child->pump) {
        lb_wake(child->pump);
        lb_join(child->pump);
        child->pump = NULL;
    }
    if (child->pid > 0) {
        kill(-child->pid, SIGKILL);
        kill(child->pid, SIGKILL); /* the child may not have made its process group yet */
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (child->fd >= 0) {
        lb_fd_forget(child->fd);
        close(child->fd);
    }
    if (child->log >= 0) close(child->log);
    json_decref(child->answer);
    *child = (struct exec_child){0};
}
