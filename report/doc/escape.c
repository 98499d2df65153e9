/* escape: see escape.h. */
#include "report/doc/escape.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/text.h"
#include "report/doc/number.h"

void escape_md(FILE *out, const char *text) {
    for (; *text; text++) {
        bool first = ((unsigned char)*text & 0xC0) != 0x80;
        if (first && utf8_is_control(text)) {
            fputc(' ', out);
            while (((unsigned char)text[1] & 0xC0) == 0x80) text++;
        } else if (*text == '<') {
            fputs("&lt;", out);
        } else if (*text == '&') {
            fputs("&amp;", out);
        } else {
            if (strchr("\\`*_[]|~#@", *text)) fputc('\\', out);
            fputc(*text, out);
        }
    }
}

/* Writes one character: a control character as a space, but the end of a line as it is where lines may end, and a byte
 * that is no UTF-8 as '?'. Returns the last byte that was written. */
static const char *put_character(FILE *out, const char *text, bool lines_may_end) {
    int bytes = utf8_bytes(text);
    if (bytes == 0) {
        fputc('?', out);
    } else if (utf8_is_control(text) && !(lines_may_end && *text == '\n')) {
        fputc(' ', out);
    } else {
        fwrite(text, 1, (size_t)bytes, out);
    }
    return bytes > 1 ? text + bytes - 1 : text;
}

void escape_line(FILE *out, const char *text) {
    for (; *text; text++) text = put_character(out, text, false);
}

/* As many backticks as the text's longest run of them, and one more. */
void escape_md_code(FILE *out, const char *text, bool in_table) {
    size_t run = 0, most = 0;
    for (const char *at = text; *at; at++) {
        run = *at == '`' ? run + 1 : 0;
        if (run > most) most = run;
    }
    for (size_t i = 0; i <= most; i++) fputc('`', out);
    if (most > 0) fputc(' ', out);
    for (; *text; text++) {
        if (in_table && *text == '|') fputc('\\', out);
        text = put_character(out, text, false);
    }
    if (most > 0) fputc(' ', out);
    for (size_t i = 0; i <= most; i++) fputc('`', out);
}

void escape_html(FILE *out, const char *text) {
    static const char *const names[] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;"};
    if (!text) text = NUMBER_NONE;
    for (; *text; text++) {
        const char *name =
            (unsigned char)*text < sizeof names / sizeof *names ? names[(int)*text] : NULL;
        if (name)
            fputs(name, out);
        else
            text = put_character(out, text, true);
    }
}

/* These characters occur in JSON only inside texts, where an escape means the same. */
void escape_script(FILE *out, const char *json) {
    for (; *json; json++) {
        if (strchr("<>&", *json))
            fprintf(out, "\\u%04x", (unsigned)*json);
        else
            fputc(*json, out);
    }
}

/* Names and errors come from servers; a spreadsheet would run a text that looks like a formula. */
void escape_csv(FILE *out, const char *text) {
    bool formula = *text && strchr("=+-@\t\r", *text);
    bool quoted = formula || strpbrk(text, ",\"\r\n");
    if (quoted) fputc('"', out);
    if (formula) fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        text = put_character(out, text, true);
    }
    if (quoted) fputc('"', out);
}

json_t *escape_json(const char *text) {
    if (!text) return json_null();
    json_t *value = json_string(text);
    if (value) return value;
    char *clean = strdup(text); /* it was not UTF-8: the name of a folder, or what was cut */
    if (clean) value = json_string(utf8_clean(clean));
    free(clean);
    return value;
}

/* A time in ns with a decimal point reads badly. */
json_t *escape_json_figure(double figure) {
    if (!isfinite(figure)) return json_null();
    if (figure == floor(figure) && fabs(figure) < 9e15) return json_integer((json_int_t)figure);
    return json_real(figure);
}
