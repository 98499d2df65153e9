/* escape: texts and figures from elsewhere, made harmless for an output. */
#ifndef REPORT_DOC_ESCAPE_H
#define REPORT_DOC_ESCAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes a text as Markdown that shows exactly this text, also in a cell of a table. */
void escape_md(FILE *out, const char *text);

/* Writes a text as code in backticks; in_table: a pipe would end the cell. */
void escape_md_code(FILE *out, const char *text, bool in_table);

/* Writes a text on one line: each control character becomes a space. */
void escape_line(FILE *out, const char *text);

/* Writes a text for the content of an element, or for an attribute in double quotes. NULL becomes a
 * dash. */
void escape_html(FILE *out, const char *text);

/* Writes JSON for a script element: no text in it can end the element or start a comment. */
void escape_script(FILE *out, const char *json);

/* Writes a field by RFC 4180 that no spreadsheet takes for a formula. Each control character but the end of a line
 * becomes a space. */
void escape_csv(FILE *out, const char *text);

/* Return JSON values; NULL only when out of memory. A NULL text and a NAN become null; whole
 * figures stay whole; of a text that is not UTF-8 the other bytes become '?'. */
json_t *escape_json(const char *text);
json_t *escape_json_figure(double figure);

#endif
