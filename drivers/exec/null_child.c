/* null_child: answers each request with "ok" at once, so that the row measures the socket and the
 * two context switches. It excludes nobody. It runs after a fork without an exec, where memory must
 * not be allocated; so it does not parse the requests. */
#include <unistd.h>

#include "drivers/exec/child.h"

_Noreturn void null_child(void) {
    static const char answer[] = "{\"outcome\":\"ok\",\"version\":\"built in\"}\n";
    char text[4096];
    for (ssize_t got; (got = read(0, text, sizeof text)) > 0;) {
        /* one line is one request, and the next one comes after the answer */
        if (text[got - 1] == '\n' && write(1, answer, sizeof answer - 1) < 0) break;
    }
    _exit(0);
}
