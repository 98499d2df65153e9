/* list_key: the names of a lock's key on the server; see list_about.h. */
#include "bench/cli/list_about.h"
#include "drivers/key_names.h"

#define LEASE_NS (10 * LB_S_NS) /* for the page */

/* Returns 1 if there are names, 0 if there are none, -1 with err. */
static int ask_names(const struct lb_lock *lock, const char *key, int64_t lease_ns,
                     struct lb_names *ret_names, struct lb_err *err) {
    struct arena arena = {0};
    const struct lb_algorithm *algorithm = lock->algorithm;
    void *options = options_new(algorithm->options, algorithm->options_bytes, &arena, err);
    int found = options ? lb_names_of(lock, options, lease_ns, key, ret_names) : -1;
    arena_done(&arena);
    return found;
}

int about_key(const struct lb_lock *lock, const char *key, int64_t lease_ns, struct doc *doc,
              struct lb_err *err) {
    static const struct doc_column columns[] = {
        {.title = "key on the server"}, {.title = "name", .words = true}, {0}};
    struct lb_names names;
    if (lb_unavailable(lock->backend))
        return err_set(err, LB_EXIT_MACHINE, "list: %s: %s (install: %s)", lock->name,
                       lb_unavailable(lock->backend), lock->backend->install);
    int found = ask_names(lock, key, lease_ns, &names, err);
    if (found < 0) return -1;
    if (!found && lock->algorithm->names && lock->backend->schemes)
        return err_set(err, LB_EXIT_USAGE, "list: %s can't have a key '%.60s'", lock->name, key);
    if (!found)
        return err_set(err, LB_EXIT_USAGE,
                       "list: no other program can reach a key of %s: it is in the memory or in a "
                       "private folder of one run",
                       lock->name);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < names.count; i++) {
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", names.item[i].what);
        doc_cell(doc, "%s", names.item[i].text);
    }
    doc_end(doc);
    return 0;
}

const char *about_key_text(const struct lb_lock *lock, const char *key, char *text, size_t size) {
    struct lb_names names;
    struct lb_err err = {0};
    size_t used = 0;
    text[0] = '\0';
    if (ask_names(lock, key, LEASE_NS, &names, &err) != 1) return text;
    for (int i = 0; i < names.count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s `%s`", i ? "; " : "",
                                 names.item[i].what, names.item[i].text);
    return text;
}
