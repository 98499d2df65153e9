/* cmd_clean: `lockbench clean`: removes from servers what earlier runs left there, and prints it. It
 * touches nothing without lockbench's mark, except keys that are named. */
#include <stdio.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/urls.h"
#include "bench/run/guest.h"
#include "bench/workload/shape.h"
#include "drivers/url.h"

#define KEYS_MAX 64
#define SETS_MAX 64

struct wish {
    struct urls urls;
    struct arg_list keys, sets;
    const char *key_prefix;
    bool dry_run;
};

static const struct arg args[] = {
    {{"url", &type_url, offsetof(struct wish, urls),
      .help =
          "the server, e.g. redis=redis://host:6379; repeatable; also redis=@FILE, redis=env:NAME "
          "or LOCKBENCH_URL_REDIS"},
     "BACKEND=URL"},
    {{"key", ARG_LIST, offsetof(struct wish, keys), .max = KEYS_MAX,
      .help =
          "only remove the remains of the key with this name (of `run --key`, `hold`); repeatable"},
     "NAME"},
    {{"set", ARG_LIST, offsetof(struct wish, sets), .max = SETS_MAX,
      .help = "an option of a backend, e.g. redis.tls_ca=ca.pem; repeatable"},
     "BACKEND.KEY=VALUE"},
    {{"key-prefix", LB_OPT_TEXT, offsetof(struct wish, key_prefix), "", 0, PLAN_KEY_PREFIX_MAX,
      NULL, "the text before the marks, for runs with load.key_prefix; only etcd needs it"},
     "TEXT"},
    {{"dry-run", ARG_FLAG, offsetof(struct wish, dry_run), .help = "list it and remove nothing"},
     NULL},
    {{0}, NULL},
};

/* Reads "backend.key=value" into the options of the backend that it names. 0, or -1 with err. */
static int read_clean_set(const char *set, const struct urls *urls, void *const *options,
                          struct arena *arena, struct lb_err *err) {
    char place[200], name[64];
    size_t owner = strcspn(set, ".="), len = strcspn(set, "=");
    snprintf(place, sizeof place, "--set %.*s", (int)len, set);
    if (set[owner] != '.' || !set[len])
        return err_set(err, LB_EXIT_USAGE, "%s: write BACKEND.KEY=VALUE", place);
    snprintf(name, sizeof name, "%.*s", (int)(len - owner - 1), set + owner + 1);
    for (int i = 0; i < urls->count; i++) {
        const struct lb_backend *backend = urls->item[i].backend;
        const struct lb_option *option = options_find(lb_backend_options(backend), name);
        if (strlen(backend->name) == owner && strncmp(set, backend->name, owner) == 0 && option)
            return option_set(option, options[i], set + len + 1, place, arena, err);
    }
    return err_set(err, LB_EXIT_USAGE, "%s: no backend at --url has such an option", place);
}

static int read_options(struct wish *wish, struct arena *arena, struct lb_err *err) {
    void *options[URLS_MAX];
    for (int i = 0; i < wish->urls.count; i++) {
        const struct lb_backend *backend = wish->urls.item[i].backend;
        size_t bytes = backend->connector ? backend->connector->options_bytes : 0;
        options[i] = options_new(lb_backend_options(backend), bytes, arena, err);
        if (!options[i]) return -1;
        wish->urls.item[i].options = options[i];
    }
    for (int i = 0; i < wish->sets.count; i++) {
        if (read_clean_set(wish->sets.item[i], &wish->urls, options, arena, err) != 0) return -1;
    }
    return 0;
}

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
static int clean_server(const struct place_url *at, const struct wish *wish, const char *key,
                        struct telling *telling, struct lb_err *err) {
    struct lb_cleaning cleaning = {.scope = key ? LB_CLEAN_KEY : LB_CLEAN_LEFT,
                                   .name = key,
                                   .before = wish->key_prefix,
                                   .found = tell_found,
                                   .arg = telling};
    if (guest_clean(at, &cleaning, err) != 0) return -1;
    if (cleaning.unseen[0]) fprintf(stderr, "%s: %s\n", telling->url, cleaning.unseen);
    return 0;
}

static int check_keys(const struct wish *wish, struct lb_err *err) {
    for (int i = 0; i < wish->keys.count; i++) {
        if (key_name_check(wish->keys.item[i], err) == 0) continue;
        err_prefix(err, "clean: --key");
        return -1;
    }
    return 0;
}

static int run_clean(void *values, const struct args *given, struct lb_err *err) {
    struct wish *wish = values;
    struct available available = {0};
    char topologies[512];
    int failed = check_keys(wish, err);
    if (!failed) failed = home_path("compose/local", topologies, sizeof topologies, err);
    if (!failed) failed = available_init(&available, topologies, err);
    if (!failed) failed = urls_ready(&wish->urls, given->arena, &available, err);
    available_done(&available);
    if (!failed && wish->urls.count == 0)
        failed = err_set(err, LB_EXIT_USAGE, "clean: which server? --url BACKEND=URL");
    if (!failed) failed = read_options(wish, given->arena, err);
    for (int i = 0; i < wish->urls.count && !failed; i++) {
        struct telling telling = {.dry_run = wish->dry_run};
        url_public(wish->urls.item[i].url, telling.url, sizeof telling.url);
        if (wish->keys.count == 0)
            failed = clean_server(&wish->urls.item[i], wish, NULL, &telling, err);
        for (int k = 0; k < wish->keys.count && !failed; k++)
            failed = clean_server(&wish->urls.item[i], wish, wish->keys.item[k], &telling, err);
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
        "table, a bucket or a znode says \"made by lockbench\". It touches nothing else. No run may use\n"
        "the server meanwhile, because its keys have the same marks. The last request of a killed run may\n"
        "be carried out a moment after its end: then run clean once more.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_clean,
};
