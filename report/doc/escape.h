/* escape: texts and figures from elsewhere, made harmless for an output. For the page there is
 * html_text. */
#ifndef REPORT_DOC_ESCAPE_H
#define REPORT_DOC_ESCAPE_H

#include <jansson.h>
#include <stdio.h>

/* A text as Markdown that shows it and nothing else; also in a table's cell. */
void escape_md(FILE *out, const char *text);

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
