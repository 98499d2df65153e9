/* cmd_list: `lockbench list`: which locks, backends and workloads there are, and what each can do
 * here. It starts nothing and connects to nothing. */
#include <limits.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/tools/list/cmd_list_views.h"
#include "bench/workload/plan.h"
#include "bench/workload/sections.h"
#include "drivers/registry.h"

enum what { LIST_NAMES, LIST_KEYS, LIST_TABLE };

struct typed {
    const char *only, *key;
    enum what what;
};

static const struct arg args[] = {
    {{"", LB_OPT_TEXT, offsetof(struct typed, only), .help = NULL}, "name"},
    {{"keys", ARG_PICK, offsetof(struct typed, what), .min = LIST_KEYS,
      .help = "the keys of a workload; with a name, the options of a lock or backend"},
     NULL},
    {{"key", LB_OPT_TEXT, offsetof(struct typed, key),
      .help = "the names of this key of the lock on the server, for other clients"},
     "NAME"},
    {{"table", ARG_PICK, offsetof(struct typed, what), .min = LIST_TABLE,
      .help = "every lock as Markdown: drivers/LOCKS.md"},
     NULL},
    {{0}, NULL},
};

static int add_names(struct list *list, struct doc *doc, struct lb_err *err) {
    char workloads[PATH_MAX];
    if (home_path("workloads", workloads, sizeof workloads, err)) return -1;
    if (available_init(&list->available, err)) return -1;
    if (workloads_find(workloads, &list->workloads, err)) return -1;
    if (list->only) return list_details(list, doc, err);
    list_names(list, doc);
    return 0;
}

static int add_key(const struct typed *typed, struct doc *doc, struct lb_err *err) {
    const struct lb_lock *lock = typed->only ? registry_lock(typed->only) : NULL;
    if (typed->what != LIST_NAMES || !lock)
        return err_set(err, LB_EXIT_USAGE,
                       "list: --key needs one lock and nothing else: list LOCK --key NAME");
    if (key_name_check(typed->key, err) == 0) return list_key(lock, typed->key, doc, err);
    err_prefix(err, "list: --key");
    return -1;
}

static int run_list(void *values, const struct args *unused, struct lb_err *err) {
    const struct typed *typed = values;
    struct list list = {.only = typed->only, .keys = typed->what == LIST_KEYS};
    struct doc doc = {0};
    int result = 0;
    (void)unused;
    if (typed->what == LIST_TABLE && typed->only && !typed->key)
        return err_set(err, LB_EXIT_USAGE, "list: --table shows all locks: leave out '%.40s'",
                       typed->only);
    if (typed->key)
        result = add_key(typed, &doc, err);
    else if (typed->what == LIST_KEYS && !typed->only)
        list_keys(&doc);
    else if (typed->what == LIST_TABLE)
        list_page(&doc);
    else
        result = add_names(&list, &doc, err);
    if (result == 0) {
        bool page = typed->what == LIST_TABLE;
        if (page) printf("# The locks\n\n");
        result = doc_write(&doc, page ? DOC_MARKDOWN : DOC_TERMINAL, terminal_has_color(stdout),
                           stdout, err);
    }
    doc_free(&doc);
    workloads_done(&list.workloads);
    available_done(&list.available);
    return result;
}

static const struct example examples[] = {
    {"lockbench list redis", "a backend, its locks and its servers"},
    {"lockbench list redis-setnx", "all about one lock"},
    {"lockbench list --keys", "the keys of a workload file"},
    {NULL, NULL},
};

const struct command command_list = {
    .name = "list",
    .summary = "locks, backends and workloads, and what each can do",
    .usage = "list [LOCK|BACKEND|WORKLOAD|controls|workloads|faults] [OPTIONS]",
    .about =
        "Shows which locks, backends and workloads there are, and whether they can run here; with a\n"
        "name, all about it; with a lock and --key, the names of a key on the server.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_list,
};
