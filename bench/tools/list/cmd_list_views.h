/* cmd_list_views: prints what the program knows of its locks, backends and workloads, as a document. */
#ifndef BENCH_TOOLS_LIST_CMD_LIST_VIEWS_H
#define BENCH_TOOLS_LIST_CMD_LIST_VIEWS_H

#include "bench/cli/available.h"
#include "bench/workload/workfile.h"
#include "report/doc/doc.h"

struct list {
    struct available available;
    struct workload_list workloads;
    const char *only; /* one name of a lock, backend or workload; NULL = all */
    bool keys;        /* of that lock or backend the options only */
};

/* Adds the names of all locks, workloads and faults, on one screen. */
void list_names(struct list *list, struct doc *doc);
/* Adds all facts of list->only, which may also be "controls", "workloads" or "faults". 0, or -1 with err: an unknown name, with the nearest. */
int list_details(struct list *list, struct doc *doc, struct lb_err *err);

/* Adds every key of a workload file. */
void list_keys(struct doc *doc);

/* Adds the names of a key on the server, with the default options of the lock. 0, or -1
 * with err if the lock refuses the key, or if other programs can't reach it. */
int list_key(const struct lb_lock *lock, const char *key, struct doc *doc, struct lb_err *err);

/* Adds the contents of drivers/LOCKS.md: one block for each lock, with its facts and the verdicts that are
 * expected under faults. */
void list_page(struct doc *doc);

#endif
