/* output: see output.h. No function closes the stream that it gets. */
#include "bench/base/output.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
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
