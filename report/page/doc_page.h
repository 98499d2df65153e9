/* doc_page: any document as a page that opens without a network. The page of runs, which has charts,
 * is made by html.c. */
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
    const char *command; /* "lockbench capacity" */
    const char *title;   /* the title of the page, in one line */
    const char *about;   /* the line below the title: when, on which machine */
};

/* Writes the page around the document. 0, or -1 with err. */
int doc_page_write(const struct doc_page *page, const struct doc *doc, FILE *out,
                   struct lb_err *err);

#endif
