/* escape: see escape.h. */
#include "report/doc/escape.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/doc/screen.h"

void escape_md(FILE *out, const char *text) {
    for (; *text; text++) {
        bool first = ((unsigned char)*text & 0xC0) != 0x80;
        if (first && screen_is_control(text)) {
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

/* Names and errors come from servers; a spreadsheet would run a text that looks like a formula. */
void escape_csv(FILE *out, const char *text) {
    bool formula = *text && strchr("=+-@\t\r", *text);
    if (!formula && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    if (formula) fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void escape_csv_figure(FILE *out, double figure) {
    if (isfinite(figure)) fprintf(out, "%.15g", figure);
}

json_t *escape_json(const char *text) {
    return text ? json_string(text) : json_null();
}

/* A time in ns with a decimal point reads badly. */
json_t *escape_json_figure(double figure) {
    if (!isfinite(figure)) return json_null();
    if (figure == floor(figure) && fabs(figure) < 9e15) return json_integer((json_int_t)figure);
    return json_real(figure);
}

/* jansson's setters all fail for want of memory only, and a set of NULL fails too. */
int escape_json_put(json_t *object, const char *path, json_t *value) {
    char part[64];
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        size_t length = (size_t)(dot - path);
        if (length >= sizeof part) length = sizeof part - 1;
        memcpy(part, path, length);
        part[length] = '\0';
        json_t *inner = json_object_get(object, part);
        if (!inner) {
            inner = json_object();
            if (json_object_set_new(object, part, inner)) break;
        }
        object = inner;
    }
    return json_object_set_new(object, path, value);
}
