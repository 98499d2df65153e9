/* list: prints what the program knows of its locks, backends and workloads, as a document and as
 * JSON. */
#ifndef BENCH_CLI_LIST_H
#define BENCH_CLI_LIST_H

#include <jansson.h>

#include "bench/cli/available.h"
#include "bench/option/option.h"
#include "bench/workload/workfile.h"
#include "report/doc/doc.h"

struct list {
    struct available available;
    struct workload_list workloads;
    const char *only; /* one name of a lock, backend or workload; NULL = all */
};

/* True if the entry is asked for: either no name was given, or it has that name. */
bool list_wants_lock(const struct list *list, const struct lb_lock *lock);
bool list_wants_backend(const struct list *list, const struct lb_backend *backend);
bool list_wants_workload(const struct list *list, const struct workload_file *file);

/* Adds the tables of all locks, backends and workloads. */
void list_tables(struct list *list, struct doc *doc);

/* Adds all facts of list->only. */
void list_details(struct list *list, struct doc *doc);

/* Adds every key of a workload file. */
void list_keys(struct doc *doc);

/* {"locks", "backends", "workloads"}: new reference, NULL when out of memory. */
json_t *list_json(struct list *list);

/* ---- the facts in a lock's table (driver.h: struct lb_about), in words ---- */

/* Adds each fact as a term. */
void about_terms(const struct lb_lock *lock, struct doc *doc);

/* The same for machines: new reference, NULL when out of memory. */
json_t *about_json(const struct lb_lock *lock);

/* Adds the figures of the lock that have a known cause; nothing if there are none. */
void about_causes(const struct lb_lock *lock, struct doc *doc);
/* Adds a table of the verdicts that are expected of the lock under each fault that it states. */
void about_expected(const struct lb_lock *lock, struct doc *doc);

/* The same for machines: {"pause": {"worst", "why"}}; new reference, NULL when out of memory. */
json_t *about_expected_json(const struct lb_lock *lock);

/* Adds a table of the names of a key on the server, with the default options of the lock. 0, or -1
 * with err if the lock refuses the key, or if other programs can't reach it. */
int about_key(const struct lb_lock *lock, const char *key, int64_t lease_ns, struct doc *doc,
              struct lb_err *err);

/* Writes drivers/LOCKS.md: one block for each lock, with its facts and the verdicts that are
 * expected under faults. */
void about_page(FILE *out);

#endif
