/* screen: aligned text, as wide as the terminal that it goes to, but at least SCREEN_LEAST and at most
 * SCREEN_WIDTH columns; SCREEN_WIDTH columns in a file or a pipe.
 *
 * Widths are counted in code points. Control characters are replaced, because names and errors come
 * from servers, and a terminal would obey such characters. */
#ifndef REPORT_DOC_SCREEN_H
#define REPORT_DOC_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

/* tone: how good or bad a sentence or a cell is. Each writer shows it in its own way: a colour, a
 * mark, a class of the page. */

enum tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_BEST };

/* "plain", "good", "warn" or "bad": a class of page.css. */
const char *tone_name(enum tone tone);

/* The mark that Markdown shows before a sentence, with a space after it; "" for plain. */
const char *tone_mark(enum tone tone);

#define SCREEN_WIDTH 100
#define SCREEN_LEAST 60

struct screen {
    FILE *out;
    bool color;
    bool ascii; /* a terminal in a locale without UTF-8: it gets plain signs */
    int columns;
};

struct screen screen_of(FILE *out, bool color);

/* The number of columns that a text takes. */
int screen_width(const char *text);

/* Writes text with the tone's colour, padded to width (left-aligned when width is negative, as in
 * printf), cut with an ellipsis when it is longer. width 0: the text as it is. */
void screen_put(const struct screen *screen, const char *text, int width, enum tone tone);

/* The same for the name of a row: a name that is too long loses its middle, since a topology or a mark at its end
 * tells it from others. */
void screen_put_name(const struct screen *screen, const char *name, int width, enum tone tone);

/* Writes a paragraph, wrapped; the first line starts after `used` columns that are already there,
 * the others are indented by indent. Ends with a newline. */
void screen_wrap(const struct screen *screen, const char *text, int used, int indent,
                 enum tone tone);

/* Writes the lines of a text. Lines that are too long are wrapped; the rest of a line is indented to
 * its second field, which two blanks part from the first one, or else by two columns more than the
 * line. A paragraph that is not indented is wrapped as a whole. An indented command of lockbench stays on one line. */
void screen_lines(const struct screen *screen, const char *text);

/* screen_wrap for a printf, from the start of a line. A text is left out if memory runs out. */
void screen_say(const struct screen *screen, int indent, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
