/* cmd_up: `lockbench up`: starts topologies, prints their URLs, waits for Ctrl-C. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/conform/conform_place.h"
#include "bench/place/place.h"
#include "drivers/registry.h"

#define UP_MAX 32

struct typed {
    struct arg_list names;
    const char *durability;
    bool tls;
};

static const struct typed start_with = {.durability = "default"};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, names), .max = UP_MAX}, "TOPOLOGY"},
    {{"durability", LB_OPT_CHOICE_WORD, offsetof(struct typed, durability),
      .choices = "default,none,sync", .help = "how safe writes are; see compose/README.md"},
     "default|none|sync"},
    {{"tls", ARG_FLAG, offsetof(struct typed, tls),
      .help = "with TLS; prints the file of the authority that signed their certificates"},
     NULL},
    {{0}, NULL},
};

/* Replaces a backend's name by its default topology. */
static int check_names(struct typed *typed, const char *folder, struct lb_err *err) {
    for (int i = 0; i < typed->names.count; i++) {
        const char *name = typed->names.item[i];
        const struct lb_backend *backend = registry_backend(name);
        char script[PATH_MAX];
        snprintf(script, sizeof script, "%s/%s", folder, name);
        if (*name && *name != '.' && !strchr(name, '/') && access(script, R_OK) == 0) continue;
        if (!backend || !backend->topologies)
            return err_set(err, LB_EXIT_USAGE,
                           "up: no topology '%.60s' ('lockbench list BACKEND' shows them)", name);
        typed->names.item[i] = backend->topologies[0];
    }
    return 0;
}

/* Finds the first lock of this build that runs on the topology, with its default options. .lock stays NULL if there
 * is none, as for a script of the user's own. */
static int find_client(const char *topology, struct plan_lock *ret_lock, struct arena *arena,
                       struct lb_err *err) {
    struct plan_lock found = {0};
    for (int i = 0; registry_locks()[i] && !found.lock; i++) {
        const char *const *names = lb_topologies(registry_locks()[i]);
        if (lb_unavailable(registry_locks()[i]->backend)) continue;
        for (; names && *names && !found.lock; names++) {
            if (strcmp(*names, topology) == 0) found.lock = registry_locks()[i];
        }
    }
    if (found.lock) return conform_lock(found.lock, NULL, arena, ret_lock, err);
    *ret_lock = found;
    return 0;
}

static struct topo *start_topology(const char *folder, const char *name, const struct typed *typed,
                                   const volatile sig_atomic_t *interrupts, struct arena *arena,
                                   struct lb_err *err) {
    struct topo_info info;
    struct plan_lock client;
    if (topo_info(folder, name, &info, err) != 0) return NULL;
    if (typed->tls && topo_info_tls(&info, err) != 0) return NULL;
    if (find_client(name, &client, arena, err) != 0) return NULL;
    struct topo_ask topo_ask = {.info = &info, .durability = typed->durability};
    struct topo *topo = topo_start(&topo_ask, err);
    if (topo && place_ready(topo, client.lock ? &client : NULL, interrupts, err) != 0) {
        topo_stop(topo);
        topo = NULL;
    }
    if (!topo) err_prefix(err, "%s", name);
    return topo;
}

static void print_urls(struct topo *const *topos, const struct typed *typed) {
    for (int i = 0; i < typed->names.count; i++) {
        printf("%-17s %-50s %s\n", typed->names.item[i], topo_url(topos[i]),
               topo_durability(topos[i]));
        if (typed->tls) printf("%-17s tls_ca=%s\n", typed->names.item[i], topo_ca(topos[i]));
    }
    fflush(stdout);
}

/* Waits for Ctrl-C, or until a server ends: then -1 with err. */
static int watch(struct topo *const *topos, int count, const volatile sig_atomic_t *interrupts,
                 struct lb_err *err) {
    int result = LB_EXIT_OK;
    while (*interrupts == 0 && result == LB_EXIT_OK) {
        usleep(200000);
        for (int i = 0; i < count; i++) {
            if (topo_check(topos[i], err) != 0) result = -1;
        }
    }
    return result;
}

static int run_up(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    struct topo *topos[UP_MAX] = {0};
    char folder[512];
    int result = -1;
    if (home_path("compose/local", folder, sizeof folder, err) != 0) return -1;
    if (check_names(typed, folder, err) != 0) return -1;
    if (typed->names.count == 0)
        return err_set(err, LB_EXIT_USAGE, "up: name a backend or a topology: lockbench up redis");
    const volatile sig_atomic_t *interrupts = interrupt_watch(false);
    for (int i = 0; i < typed->names.count; i++) {
        topos[i] =
            start_topology(folder, typed->names.item[i], typed, interrupts, given->arena, err);
        if (!topos[i]) goto out;
    }
    print_urls(topos, typed);
    fprintf(stderr, "Ctrl-C stops them.\n");
    result = watch(topos, typed->names.count, interrupts, err);
out:
    for (int i = 0; i < UP_MAX; i++) topo_stop(topos[i]);
    return result;
}

static const struct example examples[] = {
    {"lockbench up redis postgres", "two servers, until Ctrl-C"},
    {NULL, NULL},
};

const struct command command_up = {
    .name = "up",
    .summary = "start servers, print their URLs, wait for Ctrl-C",
    .usage = "up TOPOLOGY|BACKEND… [OPTIONS]",
    .about =
        "Starts servers on free loopback ports, prints their URLs and keeps them until Ctrl-C;\n"
        "nothing is left behind. `lockbench list BACKEND` names them.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .start = &start_with,
    .run = run_up,
};
