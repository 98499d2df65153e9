/* sound_help: what no output may do, whatever a result holds: be no UTF-8, outgrow the width of a terminal or its first screen,
 * pass on control characters or markup, run as a formula, show an unknown figure as a number. Header only. */
#ifndef REPORT_TESTS_SOUND_HELP_H
#define REPORT_TESTS_SOUND_HELP_H

#include "report/tests/report_help.h"

static inline void assert_harmless(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool control = (*c < 0x20 && *c != '\n' && *c != '\r') || *c == 0x7F;
        bool c1 = c[0] == 0xC2 && c[1] < 0xA0;
        bool turn = c[0] == 0xE2 && c[1] == 0x80 && c[2] == 0xAE; /* of the writing's direction */
        if (control || c1 || turn) fail_msg("control character %d in: %.80s", *c, (const char *)c);
    }
}

/* Only the page's own scripts, of which one has this code, open or end a script; without code there are none. */
static inline void assert_harmless_page(const char *page, const char *code, int scripts) {
    if (!*code) scripts = 0;
    if (strstr(page, "<img") || strstr(page, "<script>alert") || strchr(page, '\033') ||
        count_of(page, "<script") != scripts + count_of(code, "<script") ||
        count_of(page, "</script") != scripts)
        fail_msg("%d scripts, or markup: %.20000s", count_of(page, "<script"), page);
}

/* Takes code out of Markdown, in place: nothing in it is read as markup. */
static inline void remove_code(char *md) {
    char *to = md;
    for (char *at = md; *at;) {
        size_t run = strspn(at, "`");
        char *end = run ? at + run : NULL;
        while (end && *end && strspn(end, "`") != run) end += strspn(end, "`") + strcspn(end, "`");
        bool escaped = at > md && at[-1] == '\\';
        bool is_line = (at == md || at[-1] == '\n') && strncmp(at, "    ", 4) == 0;
        if (is_line) {
            at += strcspn(at, "\n");
        } else if (end && *end && !escaped) {
            at = end + run;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

/* The only tags are those of our folds and ends of lines. */
static inline void assert_harmless_markdown(char *md) {
    static const char *const ours[] = {"<details>", "<summary>", "</summary>", "</details>",
                                       "<br>"};
    remove_code(md);
    for (char *at = md; (at = strchr(at, '<')); at++) {
        bool is_tag = at[1] > '9' || at[1] == '/' || at[1] == '!'; /* not "<0.0001" */
        bool is_ours = at > md && at[-1] == '\\';
        for (int i = 0; i < 5; i++) is_ours |= strncmp(at, ours[i], strlen(ours[i])) == 0;
        if (is_tag && !is_ours) fail_msg("a tag: %.80s", at);
    }
}

/* A report in a format; in place. code, scripts: of its page. */
static inline void assert_sound_text(char *text, enum report_format format, const char *code,
                                     int scripts) {
    char *script = strstr(text, "<script");
    json_t *utf8 = json_string(text);
    if (!utf8) fail_msg("no UTF-8: %s", text);
    json_decref(utf8);
    if (format == REPORT_HTML) assert_harmless_page(text, code, scripts);
    if (format == REPORT_HTML && script) *script = '\0';
    if (format == REPORT_TABLE || format == REPORT_FULL) assert_lines_fit(text);
    if (format == REPORT_TABLE && count_of(text, "\n") > 40)
        fail_msg("more than a screen: %s", text);
    if (strstr(text, "nan") || strstr(text, "(null)"))
        fail_msg("not a figure, or nothing: %s", text);
    if (format != REPORT_HTML && format != REPORT_JSON) assert_harmless(text);
    if (format == REPORT_MD) assert_harmless_markdown(text);
}

#endif
