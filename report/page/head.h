/* head: a page's head, the same for all documents: the style, the header, and the navigation, which
 * stays in sight. Each document fills the header itself. */
#ifndef REPORT_PAGE_HEAD_H
#define REPORT_PAGE_HEAD_H

#include <stdbool.h>
#include <stdio.h>

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

#endif
