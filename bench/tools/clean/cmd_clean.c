/* cmd_clean: `lockbench clean`: removes from servers what earlier runs left there, and prints it. It
 * touches nothing without lockbench's mark, except keys that are named. */
#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/cli/urls.h"
#include "bench/place/guest.h"
#include "bench/workload/sections.h"
#include "drivers/url.h"

#define KEYS_MAX 64
#define SETS_MAX 64

struct typed {
    struct urls urls;
    struct arg_list keys, sets;
    const char *key_prefix;
    bool dry_run;
};

static const struct arg args[] = {
    {{"url", &type_url, offsetof(struct typed, urls),
      .help = "the server: redis=redis://HOST:6379, redis=env:NAME; repeatable"},
     "BACKEND=URL"},
    {{"key", ARG_LIST, offsetof(struct typed, keys), .max = KEYS_MAX,
      .help = "only remove the remains of the key with this name (of `run --key`); repeatable"},
     "NAME"},
    {{"set", ARG_LIST, offsetof(struct typed, sets), .max = SETS_MAX,
      .help = "an option of a backend, e.g. redis.tls_ca=ca.pem; repeatable"},
     "BACKEND.KEY=VALUE"},
    {{"key-prefix", LB_OPT_TEXT, offsetof(struct typed, key_prefix), "", 0, PLAN_KEY_PREFIX_MAX,
      NULL, "the text before the marks, for runs with load.key_prefix; only etcd needs it"},
     "TEXT"},
    {{"dry-run", ARG_FLAG, offsetof(struct typed, dry_run), .help = "list it and remove nothing"},
     NULL},
    {{0}, NULL},
};

/* Prints what was found on one server. */
struct telling {
    char url[512];
    bool dry_run;
    unsigned long long count;
};

static bool tell_found(void *arg, const char *what, const char *name) {
    struct telling *telling = arg;
    telling->count++;
    printf("%s: %s %s%s\n", telling->url, what, name, telling->dry_run ? "" : ": removed");
    return !telling->dry_run;
}

/* Cleans one server, of one key or (NULL) of everything that runs left. 0, or -1 with err. */
static int clean_server(const struct place_url *at, const struct typed *typed, const char *key,
                        struct telling *telling, struct lb_err *err) {
    struct lb_cleaning cleaning = {.scope = key ? LB_CLEAN_KEY : LB_CLEAN_LEFT,
                                   .name = key,
                                   .before = typed->key_prefix,
                                   .found = tell_found,
                                   .arg = telling};
    if (guest_clean(at, &cleaning, err) != 0) return -1;
    if (cleaning.unseen[0]) fprintf(stderr, "%s: %s\n", telling->url, cleaning.unseen);
    return 0;
}

static int check_keys(const struct typed *typed, struct lb_err *err) {
    for (int i = 0; i < typed->keys.count; i++) {
        if (key_name_check(typed->keys.item[i], err) == 0) continue;
        err_prefix(err, "clean: --key");
        return -1;
    }
    return 0;
}

static int run_clean(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    struct available available = {0};
    int failed = check_keys(typed, err);
    if (!failed) failed = available_init(&available, err);
    if (!failed) failed = urls_ready(&typed->urls, given->arena, &available, err);
    available_done(&available);
    if (!failed && typed->urls.count == 0)
        failed = err_set(err, LB_EXIT_USAGE, "clean: which server? --url BACKEND=URL");
    if (!failed) failed = urls_options(&typed->urls, &typed->sets, given->arena, err);
    for (int i = 0; i < typed->urls.count && !failed; i++) {
        struct telling telling = {.dry_run = typed->dry_run};
        url_public(typed->urls.item[i].url, telling.url, sizeof telling.url);
        if (typed->keys.count == 0)
            failed = clean_server(&typed->urls.item[i], typed, NULL, &telling, err);
        for (int k = 0; k < typed->keys.count && !failed; k++)
            failed = clean_server(&typed->urls.item[i], typed, typed->keys.item[k], &telling, err);
        if (!failed && telling.count == 0) printf("%s: nothing is left\n", telling.url);
    }
    return failed ? -1 : LB_EXIT_OK;
}

static const struct example examples[] = {
    {"lockbench clean --url redis=redis://10.0.0.5:6379 --dry-run", "list what runs left there"},
    {"lockbench clean --url postgres=env:PG_URL --key orders/7",
     "remove the rows of a key that people named"},
    {NULL, NULL},
};

const struct command command_clean = {
    .name = "clean",
    .summary = "remove what earlier runs left on a server of your own",
    .usage = "clean --url BACKEND=URL [OPTIONS]",
    .about =
        "Removes the keys, tables, buckets, znodes and leases that earlier runs left on a server, and\n"
        "prints each. It knows them by their marks: a key has lockbench-XXXXXXXX-N in its name, and a\n"
        "table, a bucket or a znode says \"made by lockbench\". An advisory lock of\n"
        "PostgreSQL is known by the name of its session, lockbench, or by --key; the session is ended. It\n"
        "touches nothing else. No run may use the server meanwhile: its things have the same marks;\n"
        "PostgreSQL shows its sessions, and there clean is refused. The last request of a\n"
        "killed run may be carried out a moment after its end: then run clean once more.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_clean,
};
