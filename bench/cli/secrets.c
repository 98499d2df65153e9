/* secrets: see secrets.h. Only the option --url may contain a secret. */
#include "bench/cli/secrets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/url.h"

static char **words; /* kept reachable until the end, for leak checkers */

static char *public_copy(const char *word) {
    size_t size =
        strlen(word) + sizeof "******"; /* two stretches, which may be shorter than "***" */
    char *copy = malloc(size);
    return copy ? url_public(word, copy, size) : NULL;
}

char **secrets_take(int argc, char **argv) {
    bool whole = false; /* behind "--" */
    words = calloc((size_t)argc + 1, sizeof *words);
    if (!words) return NULL;
    for (int i = 0; i < argc; i++) {
        bool is_url = (i > 0 && strcmp(words[i - 1], "--url") == 0) ||
                      strncmp(argv[i], "--url=", strlen("--url=")) == 0;
        bool shown = whole || is_url || !strstr(argv[i], "://");
        words[i] = shown ? strdup(argv[i]) : public_copy(argv[i]);
        if (!words[i]) return NULL;
        whole |= strcmp(argv[i], "--") == 0;
        if (strstr(argv[i], "://")) url_hide(argv[i]);
    }
    return words;
}
