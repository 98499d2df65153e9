/* terminal: see terminal.h. */
#include "bench/cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_has_color(FILE *out) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return isatty(fileno(out)) && !(term && strcmp(term, "dumb") == 0);
}

bool terminal_has_blocks(FILE *out) {
    const char *locale = getenv("LC_ALL");
    if (!locale || !*locale) locale = getenv("LC_CTYPE");
    if (!locale || !*locale) locale = getenv("LANG");
    bool utf8 = locale && (strstr(locale, "UTF-8") || strstr(locale, "utf8"));
    return utf8 && isatty(fileno(out));
}
