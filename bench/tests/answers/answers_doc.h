/* answers_doc: the table of known answers, for a terminal or as the page bench/ANSWERS.md. */
#ifndef BENCH_ANSWERS_ANSWERS_DOC_H
#define BENCH_ANSWERS_ANSWERS_DOC_H

#include <stdio.h>

#include "bench/tests/answers/answers.h"
#include "report/doc/doc.h"

/* 0, or -1 with err. */
int answers_print(const struct answers_how *how, const struct verdict_row *rows, int count,
                  enum doc_format format, FILE *out, struct lb_err *err);

#endif
