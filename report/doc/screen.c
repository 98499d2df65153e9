/* screen: see screen.h. */
#define _GNU_SOURCE
#include "report/doc/screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/text.h"

#define FIELD_MAX 40 /* a second field that begins farther right is no place to indent to */
#define INDENT_MAX 8 /* a line that is indented farther goes on under its own beginning */

/* True also where the environment names no locale, as in containers. */
static bool locale_has_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return true;
}

struct screen screen_of(FILE *out, bool color) {
    int columns = output_columns(out);
    bool known = columns > 0 && columns < SCREEN_WIDTH;
    return (struct screen){out, color, columns > 0 && !locale_has_utf8(),
                           !known                   ? SCREEN_WIDTH
                           : columns < SCREEN_LEAST ? SCREEN_LEAST
                                                    : columns};
}

static bool starts_point(char c) {
    return ((unsigned char)c & 0xC0) != 0x80;
}

int screen_width(const char *text) {
    int width = 0;
    for (; *text; text++) width += starts_point(*text);
    return width;
}

static const char *tone_code(enum tone tone) {
    switch (tone) {
    case TONE_GOOD:
        return "\033[32m";
    case TONE_WARN:
        return "\033[33m";
    case TONE_BAD:
        return "\033[1;31m";
    case TONE_BEST:
        return "\033[1m";
    case TONE_PLAIN:
        break;
    }
    return "";
}

#define ELLIPSIS "\xe2\x80\xa6"

/* The plain sign for a character beyond ASCII: a dash, an ellipsis, the signs of a matrix, a bar. */
static char plain_of(const char *point) {
    static const char signs[] = "\xe2\x80\x93-" ELLIPSIS ".\xe2\x97\x8bo\xe2\x9c\x93+\xe2\x9c\x97x";
    for (const char *at = signs; *at; at += 4) {
        if (strncmp(at, point, 3) == 0) return at[3];
    }
    return strncmp(point, "\xe2\x96", 2) == 0 ? (char)('0' + (point[2] & 0x0f)) : '?';
}

/* Writes the first `points` code points; returns the rest. */
static const char *put_points(const struct screen *screen, const char *text, int points) {
    while (*text && points-- > 0) {
        bool control = utf8_is_control(text), plain = screen->ascii && (*text & 0x80);
        if (control || plain) fputc(control ? '?' : plain_of(text), screen->out);
        do {
            if (!control && !plain) fputc(*text, screen->out);
            text++;
        } while (!starts_point(*text));
    }
    return text;
}

static void pad(FILE *out, int columns) {
    while (columns-- > 0) fputc(' ', out);
}

/* tail: the code points at the end that a text keeps which is too long. */
static void put_padded(const struct screen *screen, const char *text, int width, int tail,
                       enum tone tone) {
    int room = abs(width), length = screen_width(text), skip = length - tail;
    bool cut = width != 0 && length > room;
    const char *code = screen->color ? tone_code(tone) : "";
    if (width > 0) pad(screen->out, room - length);
    fputs(code, screen->out);
    put_points(screen, text, cut ? room - tail - 1 : length);
    if (cut) {
        put_points(screen, ELLIPSIS, 1);
        for (; skip > 0; skip -= starts_point(*text)) text++;
        put_points(screen, text, tail);
    }
    if (*code) fputs("\033[0m", screen->out);
    if (width < 0) pad(screen->out, room - length);
}

void screen_put(const struct screen *screen, const char *text, int width, enum tone tone) {
    put_padded(screen, text, width, 0, tone);
}

void screen_put_name(const struct screen *screen, const char *name, int width, enum tone tone) {
    put_padded(screen, name, width, abs(width) / 2, tone);
}

/* The number of code points in the text's next line, at most `room`: up to the last space that
 * fits; a longer word is cut. */
static int line_points(const char *text, int room) {
    int points = 0, last_space = 0;
    for (; *text; text++) {
        if (!starts_point(*text)) continue;
        if (*text == ' ') last_space = points;
        if (points == room) return last_space > 0 ? last_space : room;
        points++;
    }
    return points;
}

void screen_wrap(const struct screen *screen, const char *text, int used, int indent,
                 enum tone tone) {
    const char *code = screen->color ? tone_code(tone) : "";
    fputs(code, screen->out);
    do {
        text = put_points(screen, text, line_points(text, screen->columns - used));
        while (*text == ' ') text++;
        if (*text) {
            fputc('\n', screen->out);
            pad(screen->out, indent);
            used = indent;
        }
    } while (*text);
    if (*code) fputs("\033[0m", screen->out);
    fputc('\n', screen->out);
}

void screen_say(const struct screen *screen, int indent, enum tone tone, const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) return;
    screen_wrap(screen, text, 0, indent, tone);
    free(text);
}

/* Where the rest of a line begins when the line is wrapped. */
static int hanging_indent(const char *line) {
    int indent = (int)strspn(line, " ");
    const char *gap = strstr(line + indent, "  ");
    int field = gap ? (int)(gap - line) + (int)strspn(gap, " ") : FIELD_MAX + 1;
    if (field <= FIELD_MAX) return field;
    return indent > INDENT_MAX ? indent : indent + 2;
}

/* The length of the line that the text begins with, or of all lines of its paragraph if they are not
 * indented and one of them is too long. */
static size_t next_lines(const char *text, int columns) {
    size_t line = strcspn(text, "\n"), end = 0;
    bool fits = true;
    while (text[end] && text[end] != '\n' && text[end] != ' ') {
        size_t length = strcspn(text + end, "\n");
        fits &= (int)length <= columns;
        end += length + (text[end + length] == '\n');
    }
    if (end > 0 && text[end - 1] == '\n') end--;
    return fits || end == 0 ? line : end;
}

void screen_lines(const struct screen *screen, const char *text) {
    while (*text) {
        size_t length = next_lines(text, screen->columns);
        char *line = strndup(text, length);
        if (!line) return;
        bool command = strncmp(line, "  lockbench ", strlen("  lockbench ")) == 0;
        int indent = strchr(line, '\n') ? 0 : hanging_indent(line);
        for (char *at = line; (at = strchr(at, '\n'));) *at = ' ';
        if (command || screen_width(line) <= screen->columns) {
            put_points(screen, line, screen_width(line));
            fputc('\n', screen->out);
        } else {
            screen_wrap(screen, line, 0, indent, TONE_PLAIN);
        }
        free(line);
        text += length + (text[length] == '\n');
    }
}
