/* doc_page: any document as a page that opens without a network, with charts at the places that the
 * document has for them. The page of runs is made by html.c.
 *
 * The figures of a chart go into the page as JSON. The view of the same name in report/src/views
 * draws the chart. Without JavaScript, or in a program that was built without charts, the document
 * is whole, since all figures stand in its tables. */
#ifndef REPORT_PAGE_DOC_PAGE_H
#define REPORT_PAGE_DOC_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/doc/doc.h"

/* head: a page's head, the same for all documents: the style, the header, and the navigation, which
 * stays in sight. Each document fills the header itself. */

struct head_link {
    const char *id, *text; /* the link to a section; literals */
    bool alone;            /* only scripts fill the section, so that it is hidden without them */
};

/* Writes everything up to the begin of the body; name and when make the page's title. */
void head_open(FILE *out, const char *name, const char *when);

/* Begins the header, up to the inside of its <h1>. command: "lockbench report". */
void head_title(FILE *out, const char *command);

/* Ends the header and begins <main>; between them the navigation. links end with {NULL}; NULL = a page
 * without sections. */
void head_close(FILE *out, const struct head_link *links);

struct doc_page {
    const char *command; /* "lockbench compare" */
    const char *title;   /* the title of the page, in one line */
    const char *about;   /* the line below the title: when, on which machine */
    const char *name;    /* the name of the data in the page's JSON object */
    const json_t *data;  /* borrowed; NULL: the page has no charts and no scripts */
};

/* Adds a place for the chart of a view, in HTML alone. view: a literal, the view's id. */
void doc_page_chart(struct doc *doc, const char *view);

/* Writes the page around the document. 0, or -1 with err. */
int doc_page_write(const struct doc_page *page, const struct doc *doc, FILE *out,
                   struct lb_err *err);

#endif
