/* cmd_clean: `lockbench clean`: removes from servers what earlier runs left there, and prints it. It
 * touches nothing without lockbench's mark, except keys that are named. */
#include <stdio.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/urls.h"
#include "bench/run/guest.h"
#include "drivers/url.h"

#define KEYS_MAX 64

struct wish {
    struct urls urls;
    struct arg_list keys;
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
          "remove what is left of the key of this name (of `run --key`, `hold`), and nothing else; "
          "repeatable"},
     "NAME"},
    {{"dry-run", ARG_FLAG, offsetof(struct wish, dry_run), .help = "list it and remove nothing"},
     NULL},
    {{0}, NULL},
};

/* What is said of one server. */
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

/* One server, for one key or (NULL) for all that runs left. 0, or -1 with err. */
static int clean_server(const struct place_url *at, const char *key, struct telling *telling,
                        struct lb_err *err) {
    struct lb_cleaning cleaning = {.scope = key ? LB_CLEAN_KEY : LB_CLEAN_LEFT,
                                   .name = key,
                                   .found = tell_found,
                                   .arg = telling};
    if (guest_clean(at, &cleaning, err) != 0) return -1;
    if (cleaning.unseen[0]) fprintf(stderr, "%s: %s\n", telling->url, cleaning.unseen);
    return 0;
}

static int run_clean(void *values, const struct args *given, struct lb_err *err) {
    struct wish *wish = values;
    struct available available = {0};
    char topologies[512];
    int failed = home_path("compose/local", topologies, sizeof topologies, err);
    if (!failed) failed = available_init(&available, topologies, err);
    if (!failed) failed = urls_ready(&wish->urls, given->arena, &available, err);
    available_done(&available);
    if (!failed && wish->urls.count == 0)
        failed = err_set(err, LB_EXIT_USAGE, "clean: which server? --url BACKEND=URL");
    for (int i = 0; i < wish->urls.count && !failed; i++) {
        struct telling telling = {.dry_run = wish->dry_run};
        url_public(wish->urls.item[i].url, telling.url, sizeof telling.url);
        if (wish->keys.count == 0) failed = clean_server(&wish->urls.item[i], NULL, &telling, err);
        for (int k = 0; k < wish->keys.count && !failed; k++)
            failed = clean_server(&wish->urls.item[i], wish->keys.item[k], &telling, err);
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
        "table, a bucket or a znode says \"made by lockbench\". It touches nothing else. Let no run be\n"
        "on the server meanwhile: its keys have the same marks.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_clean,
};
