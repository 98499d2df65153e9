/* list: prints what the program knows of its locks, backends and workloads, as a document and as
 * JSON. */
#ifndef BENCH_CLI_LIST_H
#define BENCH_CLI_LIST_H

#include <jansson.h>

#include "bench/cli/available.h"
#include "bench/option/option.h"
#include "bench/workload/workloads.h"
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

/* Write the capability bits in words, "try, wait, lease", and the claims in the same way; at most
 * size bytes. Return text. */
char *list_caps(unsigned caps, char *text, size_t size);
char *list_claims(unsigned claims, char *text, size_t size);

/* Adds the tables of all locks, backends and workloads. */
void list_tables(struct list *list, struct doc *doc);

/* Adds all facts of list->only. */
void list_details(struct list *list, struct doc *doc);

/* Adds every key of a workload file. */
void list_keys(struct doc *doc);

/* {"locks", "backends", "workloads"}: new reference, NULL when out of memory. */
json_t *list_json(struct list *list);

/* {"keys": [{section, key, default, allowed, help}]}: new reference, NULL when out of memory. */
json_t *list_keys_json(void);

#endif
