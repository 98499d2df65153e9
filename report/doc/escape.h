/* escape: texts and figures from elsewhere, made harmless for an output. */
#ifndef REPORT_DOC_ESCAPE_H
#define REPORT_DOC_ESCAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A text as Markdown that shows it and nothing else; also in a table's cell. */
void escape_md(FILE *out, const char *text);

/* The same as code in backticks; in_table: a pipe in it would end the cell. */
void escape_md_code(FILE *out, const char *text, bool in_table);

/* A text on one line: each control character is a space. */
void escape_line(FILE *out, const char *text);

/* A text for an element's content, and for an attribute in double quotes. NULL is a dash. */
void escape_html(FILE *out, const char *text);

/* JSON for a script element: nothing in it can end the element or start a comment. */
void escape_script(FILE *out, const char *json);

/* A field by RFC 4180 that no spreadsheet takes for a formula. */
void escape_csv(FILE *out, const char *text);
/* An empty field for NAN. */
void escape_csv_figure(FILE *out, double figure);

/* JSON values; NULL only for want of memory. A NULL text and a NAN are null; whole figures stay
 * whole. */
json_t *escape_json(const char *text);
json_t *escape_json_figure(double figure);
/* Sets a value, which may be NULL for want of memory, at a dotted path, with the objects on the
 * way. 0 or -1. */
int escape_json_put(json_t *object, const char *path, json_t *value);

#endif
