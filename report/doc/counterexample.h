/* counterexample: the operations of a history that contradict each other, as a table. */
#ifndef REPORT_DOC_COUNTEREXAMPLE_H
#define REPORT_DOC_COUNTEREXAMPLE_H

#include "report/doc/doc.h"

/* Adds the table. operations: an array of objects as in run.json and check.json; an empty array
 * adds nothing. */
void doc_counterexample(struct doc *doc, const json_t *operations);

#endif
