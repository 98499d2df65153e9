/* output: see output.h. No function closes the stream that it gets. */
#include "bench/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int output_columns(FILE *out) {
    struct winsize window;
    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &window) != 0) return 0;
    return window.ws_col;
}

/* The pipe itself is asked, because the error of the write that failed may be overwritten by
 * now. */
static bool reader_is_gone(FILE *out) {
    struct pollfd look = {.fd = fileno(out)};
    return look.fd >= 0 && poll(&look, 1, 0) > 0 && (look.revents & (POLLERR | POLLHUP)) != 0;
}

int output_check(FILE *out, const char *what, struct lb_err *err) {
    errno = 0;
    bool lost = fflush(out) != 0 || ferror(out);
    int why = errno;
    if (!lost || why == EPIPE || reader_is_gone(out)) return 0;
    return err_set(err, LB_EXIT_MACHINE, "cannot write %s: %s", what,
                   why ? strerror(why) : "is the disk full?");
}

int output_json(json_t *json, size_t flags, FILE *out, const char *what, struct lb_err *err) {
    int failed = json ? json_dumpf(json, out, flags) : -1;
    json_decref(json);
    fputc('\n', out);
    if (failed && !ferror(out)) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    return output_check(out, what, err);
}

FILE *output_begin(struct output_file *file, const char *path) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t wait;
    sigemptyset(&wait);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) sigaddset(&wait, ending[i]);
    snprintf(file->fresh, sizeof file->fresh, "%.*s.%d.new", PATH_MAX, path, (int)getpid());
    pthread_sigmask(SIG_BLOCK, &wait, &file->before);
    unlink(file->fresh);
    int fd = open(file->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!stream) pthread_sigmask(SIG_SETMASK, &file->before, NULL);
    return stream;
}

int output_replace(struct output_file *file, FILE *stream, const char *path, bool whole) {
    int failed = whole ? 0 : -1;
    if (!failed) failed = ferror(stream) || fflush(stream);
    int why = errno;
    if (fclose(stream) != 0 && !failed) failed = -1, why = errno;
    if (!failed && rename(file->fresh, path) != 0) failed = -1, why = errno;
    if (failed) unlink(file->fresh);
    pthread_sigmask(SIG_SETMASK, &file->before, NULL);
    errno = why;
    return failed ? -1 : 0;
}
