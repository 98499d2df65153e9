/* tone: how good or bad a sentence or a cell is. Each writer shows it in its own way: a colour, a
 * mark, a class of the page. */
#ifndef REPORT_DOC_TONE_H
#define REPORT_DOC_TONE_H

enum tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_BEST };

/* "plain", "good", "warn" or "bad": a class of page.css. */
const char *tone_name(enum tone tone);

/* The mark that Markdown shows before a sentence, with a space after it; "" for plain. */
const char *tone_mark(enum tone tone);

#endif
