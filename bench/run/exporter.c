/* exporter: see exporter.h. Texts go to the process as messages of a socket, whose buffer holds
 * several. */
#define _GNU_SOURCE
#include "bench/run/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/too_many.h"
#include "bench/run/scrape.h"
#include "bench/servers/helper.h"

#define TEXT_MAX 65536 /* about 20 KB are usual */
#define END_MAX 4096   /* of the part that says how the run ended */
#define END_BEGINS "# HELP " EXPOSITION_END " "
#define LOOK_MS 200 /* for the end of the program, and for connections over their time */

struct exporter {
    pid_t process;
    int feed;
    char where[PATH_MAX + 64]; /* the file, absolute; or the URL */
};

/* The data of the exporter's process. */
struct exporter_process {
    int feed;
    pid_t program;
    const char *path; /* NULL = no file */
    struct scrape scrape;
    char text[TEXT_MAX];
    size_t length;
    bool ended; /* the text says how the run ended */
};

/* Writes how the run ended; returns the length, 0 where it does not fit. */
static size_t make_end(int exit_code, const char *reason, char text[END_MAX]) {
    const struct exposition run = {.exit_code = exit_code, .reason = reason};
    FILE *out = fmemopen(text, END_MAX, "w");
    if (!out) return 0;
    exposition_write_end(out, &run);
    bool whole = fflush(out) == 0 && !ferror(out);
    long length = ftell(out);
    fclose(out);
    return whole && length > 0 && length < END_MAX - 1 ? (size_t)length : 0;
}

/* Replaces the file in one step. The file is not forced to the disk: after a crash of the machine
 * the live figures of a run have no use. -1 with errno. */
static int replace_exported_file(const char *path, const char *text, size_t length) {
    char temporary[PATH_MAX + 80];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return -1;
    ssize_t written = write(fd, text, length);
    if (written >= 0 && (size_t)written < length) errno = ENOSPC;
    bool whole = written == (ssize_t)length;
    int failed = errno;
    if (close(fd) == 0 && whole && rename(temporary, path) == 0) return 0;
    if (whole) failed = errno;
    unlink(temporary);
    errno = failed;
    return -1;
}

/* --- in the process --- */

static void serve_text(struct exporter_process *own) {
    if (own->path) (void)replace_exported_file(own->path, own->text, own->length);
}

/* Adds how the run ended to the figures. */
static void add_end(struct exporter_process *own, const char *end) {
    if (own->length + strlen(end) >= TEXT_MAX) return;
    strcpy(own->text + own->length, end);
    own->length += strlen(end);
    own->ended = true;
}

static void end_serving(struct exporter_process *own) {
    char end[END_MAX], *up = strstr(own->text, "\nlockbench_up 1\n");
    if (up) up[strlen("\nlockbench_up ")] = '0';
    if (!own->ended && make_end(-1, "the run was cut off", end) > 0) add_end(own, end);
    serve_text(own);
    _exit(0);
}

static void take_text(struct exporter_process *own) {
    static char next[TEXT_MAX];
    ssize_t got = recv(own->feed, next, sizeof next - 1, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) end_serving(own);
    next[got] = '\0';
    if (strncmp(next, END_BEGINS, strlen(END_BEGINS)) == 0) {
        add_end(own, next);
        return;
    }
    memcpy(own->text, next, (size_t)got + 1);
    own->length = (size_t)got;
    serve_text(own);
}

static _Noreturn void exporter_main(struct exporter_process *own) {
    struct pollfd fds[SCRAPE_FDS + 1];
    int keep[] = {own->feed, own->scrape.listener};
    helper_begin("lockbench-metrics", keep, own->scrape.listener >= 0 ? 2 : 1);
    for (;;) {
        fds[SCRAPE_FDS] = (struct pollfd){.fd = own->feed, .events = POLLIN};
        scrape_poll(&own->scrape, fds);
        if (poll(fds, SCRAPE_FDS + 1, LOOK_MS) < 0) continue;
        if (fds[SCRAPE_FDS].revents) take_text(own);
        scrape_turn(&own->scrape, fds, own->text, own->length, lb_now());
        /* A worker process may have kept the other end of the socket open. */
        if (getppid() != own->program) end_serving(own);
    }
}

/* --- in the program --- */

/* The text; its length in *ret_length, 0 where it does not fit. */
static void make_text(const struct exposition *now, char *text, size_t *ret_length) {
    *ret_length = 0;
    FILE *out = fmemopen(text, TEXT_MAX, "w");
    if (!out) return;
    exposition_write(out, now);
    bool whole = fflush(out) == 0 && !ferror(out);
    long length = ftell(out);
    fclose(out);
    if (whole && length > 0 && length < TEXT_MAX - 1) *ret_length = (size_t)length;
}

/* Writes the absolute path, which stays right when the process leaves the folder. Refuses a device
 * or a folder, which must not be replaced. */
static int check_file(const char *where, char *ret_path, size_t size, struct lb_err *err) {
    struct stat status;
    char folder[PATH_MAX] = "";
    if (stat(where, &status) == 0 && !S_ISREG(status.st_mode))
        return err_set(err, LB_EXIT_USAGE,
                       "--metrics %s: is no regular file: name a file, or :PORT", where);
    if (where[0] != '/' && !getcwd(folder, sizeof folder))
        return err_set(err, LB_EXIT_MACHINE, "--metrics %s: %s", where, strerror(errno));
    int length = snprintf(ret_path, size, "%s%s%s", folder, *folder ? "/" : "", where);
    if (length < 0 || length >= PATH_MAX)
        return err_set(err, LB_EXIT_USAGE, "--metrics: the path is too long");
    return 0;
}

static int start_process(struct exporter *exporter, struct exporter_process *own,
                         struct lb_err *err) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set(err, LB_EXIT_MACHINE, "--metrics: %s", strerror(errno));
    own->program = getpid();
    pid_t process = fork();
    if (process == 0) {
        own->feed = pair[1];
        exporter_main(own);
    }
    close(pair[1]);
    if (process < 0) {
        close(pair[0]);
        return err_set(err, LB_EXIT_MACHINE, "--metrics: %s%s", strerror(errno),
                       too_many_remedy(errno));
    }
    exporter->process = process;
    exporter->feed = pair[0];
    return 0;
}

struct exporter *exporter_open(const char *where, const struct exposition *first,
                               struct lb_err *err) {
    struct exporter *exporter = calloc(1, sizeof *exporter), *result = NULL;
    struct exporter_process *own = calloc(1, sizeof *own);
    int listener = -1;
    if (!exporter || !own) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    make_text(first, own->text, &own->length);
    if (scrape_is_address(where)) {
        listener = scrape_listen(where, exporter->where, sizeof exporter->where, err);
        if (listener < 0) goto out;
    } else {
        if (check_file(where, exporter->where, sizeof exporter->where, err) != 0) goto out;
        own->path = exporter->where;
        if (replace_exported_file(own->path, own->text, own->length) != 0) {
            err_set(err, LB_EXIT_MACHINE, "--metrics %s: cannot be written: %s", where,
                    strerror(errno));
            goto out;
        }
    }
    scrape_init(&own->scrape, listener);
    if (start_process(exporter, own, err) == 0) result = exporter;
out:
    if (listener >= 0) close(listener);
    free(own);
    if (!result) free(exporter);
    return result;
}

const char *exporter_where(const struct exporter *exporter) {
    return exporter->where;
}

void exporter_publish(struct exporter *exporter, const struct exposition *now) {
    char text[TEXT_MAX];
    size_t length;
    if (!exporter) return;
    make_text(now, text, &length);
    /* If the process is too slow, it misses these figures. */
    if (length > 0) (void)send(exporter->feed, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void exporter_close(struct exporter *exporter, int exit_code, const char *reason) {
    char end[END_MAX];
    if (!exporter) return;
    size_t length = make_end(exit_code, reason, end);
    /* This one waits for a process that is slow: it comes once, and the process ends after it anyway. */
    if (length > 0) (void)send(exporter->feed, end, length, MSG_NOSIGNAL);
    shutdown(exporter->feed, SHUT_WR);
    close(exporter->feed);
    while (waitpid(exporter->process, NULL, 0) < 0 && errno == EINTR) {
    }
    free(exporter);
}
