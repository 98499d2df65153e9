/* cmd_list: `lockbench list`: which locks, backends and workloads there are, and what each can do
 * here. It starts nothing and connects to nothing. */
#include <limits.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/base/nearest.h"
#include "bench/base/output.h"
#include "bench/cli/cli.h"
#include "bench/cli/list.h"
#include "bench/cli/terminal.h"
#include "bench/workload/shape.h"
#include "drivers/registry.h"

#define LEASE_NS (30 * LB_S_NS)

struct wish {
    const char *only, *key;
    int64_t lease_ns;
    bool keys, table, json;
};

static const struct arg args[] = {
    {{"", ARG_NAME, offsetof(struct wish, only), .help = NULL}, "name"},
    {{"keys", ARG_FLAG, offsetof(struct wish, keys),
      .help = "every key of a workload file, with its default, its allowed values and its meaning"},
     NULL},
    {{"key", LB_OPT_TEXT, offsetof(struct wish, key),
      .help = "the names of this key of the lock on the server, for other clients and tools"},
     "NAME"},
    {{"lease", LB_OPT_DURATION, offsetof(struct wish, lease_ns), .min = 1e6, .max = 86400e9,
      .help = "with --key: the lease, which is a part of a name on NATS; default 30s"},
     "TIME"},
    {{"table", ARG_FLAG, offsetof(struct wish, table),
      .help = "every lock as Markdown: drivers/LOCKS.md"},
     NULL},
    {{"json", ARG_FLAG, offsetof(struct wish, json), .help = "the same for machines"}, NULL},
    {{0}, NULL},
};

static int print_list_json(json_t *root, struct lb_err *err) {
    return output_json(root, JSON_INDENT(2), stdout, "the list", err);
}

static int print_doc(struct doc *doc, struct lb_err *err) {
    return doc_write_and_free(doc, DOC_TERMINAL, terminal_has_color(stdout), stdout, err);
}

/* 0 if the name is known, -1 with err and the nearest name. */
static int look_up(const struct list *list, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    bool known = false;
    nearest_init(&nearest, list->only);
    for (int i = 0; registry_locks()[i]; i++) {
        known |= list_wants_lock(list, registry_locks()[i]);
        nearest_offer(&nearest, registry_locks()[i]->name);
    }
    for (int i = 0; registry_backends()[i]; i++) {
        known |= list_wants_backend(list, registry_backends()[i]);
        nearest_offer(&nearest, registry_backends()[i]->name);
    }
    for (int i = 0; i < list->workloads.count; i++) {
        known |= list_wants_workload(list, &list->workloads.item[i]);
        nearest_offer(&nearest, list->workloads.item[i].name);
    }
    if (known) return 0;
    return err_set(err, LB_EXIT_USAGE, "list: no lock, backend or workload '%.60s'%s", list->only,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int show_locks(const char *only, bool json, struct lb_err *err) {
    struct list list = {.only = only};
    char workloads[PATH_MAX];
    int result = -1;
    if (home_path("workloads", workloads, sizeof workloads, err)) goto out;
    if (available_init(&list.available, NULL, err)) goto out;
    if (workloads_find(workloads, &list.workloads, err)) goto out;
    if (only && look_up(&list, err)) goto out;
    if (json) {
        result = print_list_json(list_json(&list), err);
    } else {
        struct doc doc = {0};
        (only ? list_details : list_tables)(&list, &doc);
        result = print_doc(&doc, err);
    }
out:
    workloads_done(&list.workloads);
    available_done(&list.available);
    return result;
}

static int show_key(const struct wish *wish, struct lb_err *err) {
    const struct lb_lock *lock = wish->only ? registry_lock(wish->only) : NULL;
    struct doc doc = {0};
    if (wish->keys || wish->table || wish->json || !lock)
        return err_set(err, LB_EXIT_USAGE,
                       "list: --key needs one lock and nothing else: list LOCK --key NAME");
    if (key_name_check(wish->key, err) != 0) {
        err_prefix(err, "list: --key");
        return -1;
    }
    int64_t lease_ns = wish->lease_ns > 0 ? wish->lease_ns : LEASE_NS;
    if (about_key(lock, wish->key, lease_ns, &doc, err) != 0) return -1;
    return print_doc(&doc, err);
}

/* Refuses options that would be ignored. */
static int check_wish(const struct wish *wish, struct lb_err *err) {
    if (wish->lease_ns > 0 && !wish->key)
        return err_set(
            err, LB_EXIT_USAGE,
            "list: --lease is a part of a key's name: list LOCK --key NAME --lease TIME");
    if (wish->keys && wish->only)
        return err_set(err, LB_EXIT_USAGE,
                       "list: --keys shows all keys; leave out '%.40s' or --keys", wish->only);
    if (!wish->key && wish->table && (wish->keys || wish->json || wish->only))
        return err_set(err, LB_EXIT_USAGE,
                       "list: --table is every lock, as Markdown; leave out the rest");
    if (wish->keys && wish->json)
        return err_set(err, LB_EXIT_USAGE, "list: --keys prints text; leave out --json");
    return 0;
}

static int run_list(void *values, const struct args *unused, struct lb_err *err) {
    const struct wish *wish = values;
    (void)unused;
    if (check_wish(wish, err) != 0) return -1;
    if (wish->key) return show_key(wish, err);
    if (wish->table) {
        about_page(stdout);
    } else if (wish->keys) {
        struct doc doc = {0};
        list_keys(&doc);
        return print_doc(&doc, err);
    } else {
        return show_locks(wish->only, wish->json, err);
    }
    return LB_EXIT_OK;
}

static const struct example examples[] = {
    {"lockbench list", "all locks, backends and workloads"},
    {"lockbench list redis-setnx", "all about one lock"},
    {"lockbench list --keys", "the keys of a workload file"},
    {NULL, NULL},
};

const struct command command_list = {
    .name = "list",
    .summary = "locks, backends and workloads, and what each can do",
    .usage = "list [LOCK|BACKEND|WORKLOAD] [--key NAME] [--keys] [--table] [--json]",
    .about =
        "Shows which locks, backends and workloads there are, and whether they can run here;\n"
        "with a name, everything about it; with a lock and --key, the names of a key on the server.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_list,
};
