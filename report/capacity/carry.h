/* carry: which locks carry a load, by capacities that were measured. Nothing is computed but the
 * margin: a measurement under other conditions than those of the question is listed as such, and
 * answers nothing. */
#ifndef REPORT_CAPACITY_CARRY_H
#define REPORT_CAPACITY_CARRY_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/doc.h"
#include "results/format/capacity_read.h"

/* In the order of the table. */
enum carry_verdict {
    CARRY_YES,
    CARRY_CLOSE,   /* the load is within the interval of the answer */
    CARRY_UNKNOWN, /* the search found no answer, or nothing tells where the promise breaks */
    CARRY_NO,
    CARRY_VIOLATED, /* two clients held the lock at once in the search */
    CARRY_OTHER,    /* measured under other conditions */
};

/* The question. */
struct carry_ask {
    bool by_rate;
    double load;     /* requests a second of all clients together; or clients of a closed loop */
    double clients;  /* by rate: the pool of clients; NAN: any */
    const char *slo; /* "acquire_due.p99<=20ms", as capacity.json has it */
};

struct carry_row {
    const struct capacity *from; /* borrowed, like the lock */
    const struct capacity_lock *lock;
    enum carry_verdict verdict;
    double margin;       /* CARRY_YES: low / load; CARRY_NO: high / load; else NAN */
    const char *differs; /* CARRY_OTHER: the first condition that differs: "promise"; else "" */
};

struct carry {
    struct carry_ask ask;
    struct carry_row *rows; /* by verdict, then by lock */
    int count;
};

/* Of the searches for one lock, on the same servers and under the same conditions, the newest one has a row. So
 * has each in which two clients held at once. Locks that guarantee nothing have none. Sorts the files. NULL with err when out of memory. The files must outlive the result;
 * carry_free frees it. */
struct carry *carry_new(struct capacity **files, int file_count, const struct carry_ask *ask,
                        struct lb_err *err);
void carry_free(struct carry *carry);

/* 0: some lock carries the load; 4: each lock was measured, and none does; 5: not known. */
int carry_exit(const struct carry *carry);

void carry_doc(const struct carry *carry, struct doc *doc);
/* Writes the same rows as lockbench.plan/2. 0, or -1 with err. */
int carry_json(const struct carry *carry, FILE *out, struct lb_err *err);

#endif
