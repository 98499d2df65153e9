/* shell: see shell.h. */
#include "bench/cli/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/text.h"
#include "bench/place/place.h"
#include "drivers/url.h"

#define HIDDEN_MAX 8 /* how much longer a hidden password may be than the real one */

static int put_word(FILE *out, const char *text) {
    size_t size = strlen(text) + HIDDEN_MAX;
    char *shown = malloc(size);
    if (!shown) return -1;
    url_public(text, shown, size);
    fputc(' ', out);
    shell_quote(out, shown);
    free(shown);
    return 0;
}

/* Closes a memory stream. Returns its text, or NULL. */
static char *end_text(FILE *out, char **text, int failed) {
    failed |= ferror(out);
    failed |= fclose(out);
    if (!failed) return *text;
    free(*text);
    return NULL;
}

/* The number of arguments to leave out from here on: options that only say where to save and what to show, and URLs,
 * which put_urls writes; 0 if this argument is kept. */
static int count_left_out(const char *arg) {
    static const char *const with_value[] = {"--out", "--url"};
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        size_t len = strlen(with_value[i]);
        if (strncmp(arg, with_value[i], len) != 0) continue;
        if (arg[len] == '=') return 1;
        if (!arg[len]) return 2;
    }
    return strcmp(arg, "--no-page") == 0;
}

static int put_urls(FILE *out, const struct place_url *urls, int url_count) {
    int failed = 0;
    for (int i = 0; i < url_count && !failed; i++) {
        fputs(" --url", out);
        failed = put_word(out, urls[i].word);
    }
    return failed;
}

/* first: what is written before the words; each word gets `before` in front. */
static char *line_of(const char *first, const char *before, int count, const char *const *words,
                     const struct place_url *urls, int url_count) {
    char *text = NULL;
    size_t size;
    int failed = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs(first, out);
    for (int i = 0; i < count && !failed; i++) {
        int skipped = *before ? 0 : count_left_out(words[i]);
        fputs(skipped ? "" : before, out);
        if (skipped == 0) failed = put_word(out, words[i]);
        i += skipped > 1;
    }
    if (!failed) failed = put_urls(out, urls, url_count);
    return end_text(out, &text, failed);
}

char *shell_command(const char *program, int argc, char **argv, const struct place_url *urls,
                    int url_count) {
    return line_of(program, "", argc, (const char *const *)argv, urls, url_count);
}

char *shell_options(const char *const *sets, int set_count, const struct place_url *urls,
                    int url_count) {
    return line_of("", " --set", set_count, sets, urls, url_count);
}
