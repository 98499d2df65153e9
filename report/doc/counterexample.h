/* counterexample: the operations of a history that contradict each other, as a table. */
#ifndef REPORT_DOC_COUNTEREXAMPLE_H
#define REPORT_DOC_COUNTEREXAMPLE_H

#include "report/doc/doc.h"

/* operations: an array of objects as run.json and check.json have them; nothing for an empty one. */
void doc_counterexample(struct doc *doc, const json_t *operations);

#endif
