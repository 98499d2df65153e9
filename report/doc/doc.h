/* doc: a document of text: sentences, tables, lists, folds. A builder fills the document and knows no
 * format; doc_write writes the document for a terminal, as Markdown or as HTML.
 *
 * Each function below adds to the end of the document. Sections, boxes, folds, lists,
 * terms and tables stay open until doc_end; other blocks need no end. A doc_set_... function changes
 * the block that was added last. Texts are copied; the unit of a column must outlive the document.
 * A text may come from a server: each writer escapes texts as its format needs it.
 *
 * When memory runs out, the document remembers that, later calls do nothing, and doc_write returns
 * the error. A builder need not check each call. One thread at a time may use a document. */
#ifndef REPORT_DOC_DOC_H
#define REPORT_DOC_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/number.h"
#include "report/doc/screen.h"

/* Bits: a block or a column may be meant for some of the formats only, or for none of them. */
enum doc_format { DOC_TERMINAL = 1, DOC_MARKDOWN = 2, DOC_HTML = 4, DOC_NONE = 8 };

enum doc_figure {
    DOC_TEXT,
    DOC_NUMBER, /* three significant digits in the column's unit */
    DOC_COUNT,  /* the number in full */
    DOC_TIME,   /* a time in ns; each cell chooses its unit */
};

/* A column of a table. */
struct doc_column {
    const char *title;
    const char *brief; /* the title in a terminal; NULL: the same */
    const char *help;  /* one sentence of help; NULL: none */
    enum doc_figure figure;
    const struct number_unit *unit; /* the unit of a DOC_NUMBER; NULL: a plain number */
    unsigned only;                  /* the formats that have the column; 0: all */
    /* Terminal: if the table is too wide, the column with the greatest rank is left out first; 0:
     * the column stays. */
    int drop;
    bool right; /* a text that is aligned like a number */
    bool words; /* long texts, which wrap in the page, and in the last column of a terminal */
    /* In a terminal this is no column, but a line below the row: "brief: text", or the bare text if
     * brief is "". joined: the text stands on the line of the column before, after a semicolon. */
    bool below, joined;
};

enum doc_style {
    DOC_PLAIN,
    DOC_STRONG,
    DOC_SOFT,   /* a remark in a smaller or paler type */
    DOC_INLINE, /* code within a line */
    DOC_CHIP,   /* a word with a tone */
    DOC_MARK,   /* a mark on a name: a terminal shows the mark, the other formats show its word */
    /* a detail of an item, a cell or a group: in a terminal on a line of its own, elsewhere after
     * "; " */
    DOC_DETAIL,
};

enum doc_row_kind {
    DOC_ROW,
    DOC_ASIDE, /* not to be compared with the other rows; the page shows the row paler */
};

struct doc_node;

/* A zeroed document is empty. */
struct doc {
    struct doc_node *root, *open, *last;
    bool failed; /* memory ran out */
};

#define DOC_FORMAT(at) __attribute__((format(printf, at, (at) + 1)))

/* ---- blocks that stay open until doc_end ---- */

/* id: the anchor. A terminal does not show the title. */
void doc_section(struct doc *doc, const char *id, const char *title);
/* In the page a frame, in the tone of the worst sentence inside. If the box is set as a headline, then
 * the page shows its headline sentence and those that are set as shown, and the others after a click. */
void doc_box(struct doc *doc);
/* Folded in HTML and Markdown; in a terminal the contents stand below the title. If the fold is set
 * as a headline, then its title is a heading, and Markdown does not fold it. */
void doc_fold(struct doc *doc, bool is_open, const char *format, ...) DOC_FORMAT(3);
void doc_list(struct doc *doc);
/* Names with their values. */
void doc_terms(struct doc *doc);
/* class: classes of page.css; NULL: "figures". caption may be NULL. If the table is set as a
 * headline, then only screen readers get the caption. */
void doc_table(struct doc *doc, const char *class, const char *caption);
void doc_end(struct doc *doc);

/* ---- blocks ---- */

void doc_heading(struct doc *doc, const char *format, ...) DOC_FORMAT(2);
void doc_say(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);
/* A command, on a line that is never broken. */
void doc_code(struct doc *doc, const char *text);
/* Markup for the page alone, which is not escaped: never a text from a file or a server. */
void doc_html(struct doc *doc, const char *markup);
/* An item of a list. */
void doc_item(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);
/* A term and its text, in terms. */
void doc_term(struct doc *doc, const char *name, const char *format, ...) DOC_FORMAT(3);

/* ---- for a table: first the columns, then the rows, each with a cell for each column ---- */

void doc_column(struct doc *doc, const struct doc_column *column);
/* The array ends with a column without a title. */
void doc_columns(struct doc *doc, const struct doc_column *columns);
/* A heading for the rows that follow. */
void doc_group(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);
void doc_row(struct doc *doc, enum doc_row_kind kind);
void doc_cell(struct doc *doc, const char *format, ...) DOC_FORMAT(2);
/* A figure, which is shown as its column says; NAN, which was not measured, is a dash. */
void doc_figure(struct doc *doc, double value);
/* A text; the page sorts the cell by the value, which may be NAN. */
void doc_value(struct doc *doc, double value, const char *format, ...) DOC_FORMAT(3);
/* A sentence below the rows. */
void doc_note(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);

/* ---- spans: appended to the last sentence, item, term, cell, group, heading or fold ---- */

void doc_span(struct doc *doc, enum doc_style style, const char *format, ...) DOC_FORMAT(3);
/* style: DOC_CHIP or DOC_MARK; title: one sentence that explains the text, or NULL. */
void doc_chip(struct doc *doc, enum doc_style style, enum tone tone, const char *mark,
              const char *text, const char *title);
/* A detail that people copy, "again: lockbench run"; a terminal never breaks the line. Not for a page. */
void doc_command(struct doc *doc, const char *label, const char *command);

/* ---- for the block that was added last, with the spans in it ---- */

void doc_set_only(struct doc *doc, unsigned formats);
void doc_set_tone(struct doc *doc, enum tone tone);
void doc_set_headline(struct doc *doc); /* Marks the sentence that sums the document up. */
void doc_set_shown(struct doc *doc);    /* The sentence stays visible where its box is folded. */
void doc_set_title(struct doc *doc, const char *title);

/* Returns the text, or `otherwise` if the text is NULL. */
static inline const char *doc_or(const char *text, const char *otherwise) {
    return text ? text : otherwise;
}

/* Writes the document. color: for DOC_TERMINAL. 0, or -1 with err: out of memory, or out has an
 * error. */
int doc_write(const struct doc *doc, enum doc_format format, bool color, FILE *out,
              struct lb_err *err);
/* Returns an array of the texts of all sentences; a new reference, NULL when out of memory. */
json_t *doc_sentences(const struct doc *doc);
void doc_free(struct doc *doc);
/* Calls doc_write, then doc_free, also if writing fails. */
int doc_write_and_free(struct doc *doc, enum doc_format format, bool color, FILE *out,
                       struct lb_err *err);

#endif
