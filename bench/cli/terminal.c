/* terminal: see terminal.h. */
#include "bench/cli/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/err.h"
#include "bench/base/process.h"
#include "bench/servers/topo.h"

/* True for a terminal that obeys escape sequences: TERM is not "dumb". */
static bool terminal_obeys(FILE *out) {
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && !(term && strcmp(term, "dumb") == 0);
}

bool terminal_has_color(FILE *out) {
    const char *no_color = getenv("NO_COLOR");
    return !(no_color && *no_color) && terminal_obeys(out);
}

#define WAITS                                                                                      \
    "interrupted: what is in progress ends first; a second Ctrl-C ends at once and loses it\n"

static volatile sig_atomic_t count;
static const char *first_words = ""; /* the line that the first signal prints */

static void on_signal(int number) {
    int kept = errno;
    (void)number;
    count = count + 1;
    if (count == 1) {
        ssize_t ignored = write(STDERR_FILENO, first_words, strlen(first_words));
        (void)ignored; /* the terminal may be closed */
    }
    if (count >= 2) {
        topo_stop_all();
        _exit(LB_EXIT_INTERRUPTED);
    }
    errno = kept;
}

const volatile sig_atomic_t *interrupt_watch(bool waits) {
    /* On a terminal the line overwrites the ^C. */
    if (waits) first_words = terminal_obeys(stderr) ? "\r\033[K" WAITS : WAITS;
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    hangup_handle(&action);
    return &count;
}
