/* doc: a document of text: sentences, tables, lists, folds. A builder fills it and knows no format;
 * doc_write walks it for a terminal, Markdown, HTML or CSV.
 *
 * The functions below add to the end of the document. Sections, boxes, folds, lists, terms and
 * tables are opened and stay open until doc_end; everything else needs no end. The doc_set_...
 * functions change what was added last. All texts are copied; a column's unit must outlive the
 * document. Texts may come from servers: each writer escapes them itself.
 *
 * When memory runs out, the document remembers it, all later calls do nothing, and doc_write
 * returns the error: a builder need not check each call. A document belongs to one thread. */
#ifndef REPORT_DOC_DOC_H
#define REPORT_DOC_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/number.h"
#include "report/doc/tone.h"

/* Bits: a block, a cell, a column or a span may be meant for some of the formats only. */
enum doc_format { DOC_TERMINAL = 1, DOC_MARKDOWN = 2, DOC_HTML = 4, DOC_CSV = 8 };

enum doc_figure {
    DOC_TEXT,
    DOC_NUMBER, /* three significant digits in the column's unit */
    DOC_COUNT,  /* in full */
    DOC_TIME,   /* ns; each cell with a unit of its own */
};

/* A column of a table. */
struct doc_column {
    const char *title;
    const char *brief; /* for the terminal; NULL: the title */
    const char *help;  /* one sentence; NULL: none */
    enum doc_figure figure;
    const struct number_unit *unit; /* of DOC_NUMBER; NULL: a plain number */
    unsigned only;                  /* formats; 0: all */
    /* Terminal: where the table is too wide, the column with the greatest rank goes first; 0: it
     * stays. */
    int drop;
    bool right; /* a text, but aligned as numbers are */
    bool words; /* long text: it wraps in the last column of a terminal, and in the page */
    /* One sign a cell: the title is written downwards. All columns but the first must be so, or
     * none. */
    bool upright;
    /* Terminal: not a column, but a line below the row, as "brief: text", or as the bare text where
     * brief is "". joined: on the line of the column before, after a semicolon. */
    bool below, joined;
};

enum doc_style {
    DOC_PLAIN,
    DOC_STRONG,
    DOC_SOFT,   /* a remark in a smaller or paler type */
    DOC_INLINE, /* code within a line */
    DOC_LINE,   /* a line of its own in HTML and Markdown cells; elsewhere after a semicolon */
    DOC_CHIP,   /* a word with a tone */
    DOC_MARK,   /* a mark on a name: the terminal shows the mark, the others its word */
    DOC_DETAIL, /* of an item or a sentence: the terminal gives it a line, the others "; " */
};

enum doc_row_kind {
    DOC_ROW,
    DOC_ASIDE, /* shown paler where the format can: not to be compared with the others */
};

struct doc_node;

/* All zero is an empty document. */
struct doc {
    struct doc_node *root, *open, *last;
    bool failed; /* out of memory */
};

#define DOC_FORMAT(at) __attribute__((format(printf, at, (at) + 1)))

/* ---- blocks that stay open until doc_end ---- */

/* id: the anchor, a literal. The terminal and CSV do not show the title. */
void doc_section(struct doc *doc, const char *id, const char *title);
/* A frame in the tone of the worst sentence in it; HTML only, elsewhere just what is in it. */
void doc_box(struct doc *doc);
/* Folded in HTML and Markdown; elsewhere what is in it stands below the title. As a headline its
 * title is a heading, and Markdown does not fold it. */
void doc_fold(struct doc *doc, bool is_open, const char *format, ...) DOC_FORMAT(3);
/* class: of the page, or NULL. */
void doc_list(struct doc *doc, const char *class);
/* Names with their values. */
void doc_terms(struct doc *doc);
/* class: of the page, or NULL: "figures". caption may be NULL; of a headline it is quiet: only for
 * those who hear the page. */
void doc_table(struct doc *doc, const char *class, const char *caption);
/* One entry of many, with a heading, in HTML. */
void doc_article(struct doc *doc, const char *id, const char *title);
void doc_end(struct doc *doc);

/* ---- blocks ---- */

void doc_heading(struct doc *doc, const char *format, ...) DOC_FORMAT(2);
void doc_say(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);
/* A command or the like, in one piece. */
void doc_code(struct doc *doc, const char *text);
/* Markup that HTML takes as it is, and the others leave out: never a text from elsewhere. */
void doc_html(struct doc *doc, const char *markup);
/* In a list. */
void doc_item(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);
/* In terms. */
void doc_term(struct doc *doc, const char *name, const char *format, ...) DOC_FORMAT(3);
/* A JSON object as nested terms, folded under a title, HTML only; nothing for NULL. */
void doc_tree(struct doc *doc, const char *title, const json_t *tree);

/* ---- in a table: columns first, then rows, each with a cell for each column ---- */

void doc_column(struct doc *doc, const struct doc_column *column);
/* The array ends with a column without a title. */
void doc_columns(struct doc *doc, const struct doc_column *columns);
/* A heading for the rows that follow. */
void doc_group(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);
void doc_row(struct doc *doc, enum doc_row_kind kind);
void doc_cell(struct doc *doc, const char *format, ...) DOC_FORMAT(2);
/* By the column's figure; NAN was not measured and is a dash. */
void doc_figure(struct doc *doc, double value);
/* A text that is sorted by a value, which may be NAN. */
void doc_value(struct doc *doc, double value, const char *format, ...) DOC_FORMAT(3);
/* A sentence below the table and part of it. */
void doc_note(struct doc *doc, enum tone tone, const char *format, ...) DOC_FORMAT(3);

/* ---- spans: appended to the last sentence, item, term, cell, group, heading or fold ---- */

void doc_span(struct doc *doc, enum doc_style style, const char *format, ...) DOC_FORMAT(3);
/* A JSON scalar, or an array of them; nothing for an object. */
void doc_span_json(struct doc *doc, const json_t *value);
/* DOC_CHIP or DOC_MARK; title: what it means, one sentence, or NULL. */
void doc_chip(struct doc *doc, enum doc_style style, enum tone tone, const char *mark,
              const char *text, const char *title);
/* A detail that is to be copied, "again: lockbench run"; the terminal never breaks it. */
void doc_command(struct doc *doc, const char *label, const char *command);
/* href: "#..."; name: what it leads to, for a pointer and a screen reader, or NULL where the text
 * says it. */
void doc_link(struct doc *doc, const char *href, const char *text, const char *name);

/* ---- of what was added last, a span apart: then it is the block around it ---- */

void doc_set_only(struct doc *doc, unsigned formats);
void doc_set_tone(struct doc *doc, enum tone tone);
void doc_set_best(struct doc *doc);     /* of its column, with others to compare */
void doc_set_headline(struct doc *doc); /* the sentence that says what all of it comes to */
void doc_set_title(struct doc *doc, const char *title);
/* HTML: an attribute data-NAME, for the page's scripts. name: a literal. */
void doc_set_data(struct doc *doc, const char *name, const char *value);

/* The text, or what stands for it where there is none. */
static inline const char *doc_or(const char *text, const char *otherwise) {
    return text ? text : otherwise;
}

/* Writes it. color: for DOC_TERMINAL. 0, or -1 with err: out of memory, or out has an error. */
int doc_write(const struct doc *doc, enum doc_format format, bool color, FILE *out,
              struct lb_err *err);
/* The texts of all its sentences, as JSON; NULL when out of memory. */
json_t *doc_sentences(const struct doc *doc);
void doc_free(struct doc *doc);
/* Both, also where it fails. */
int doc_write_and_free(struct doc *doc, enum doc_format format, bool color, FILE *out,
                       struct lb_err *err);

#endif
