/* cmd_up: `lockbench up`: starts topologies, prints their URLs, waits for Ctrl-C. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/base/nearest.h"
#include "bench/cli/args.h"
#include "bench/cli/cli.h"
#include "bench/cli/interrupt.h"
#include "bench/servers/topo.h"
#include "drivers/registry.h"

#define UP_MAX 32

enum { OPT_DURABILITY, OPT_JSON, OPT_HELP };

static const struct args_option options[] = {
    {"durability", "default|none|sync", "how safe writes are; see compose/README.md"},
    {"json", NULL, "print one JSON object: the URLs of each topology, an array"},
    {"help", NULL, "this text"},
    {0},
};

struct wish {
    const char *names[UP_MAX];
    int count;
    const char *durability;
    bool json, help;
};

static int read_args(int argc, char **argv, struct wish *wish, struct lb_err *err) {
    struct args args;
    const char *value = NULL;
    args_init(&args, argc, argv, options);
    for (;;) {
        switch (args_next(&args, &value, err)) {
        case ARGS_END:
            return 0;
        case ARGS_WRONG:
            return -1;
        case ARGS_OPERAND:
            if (wish->count == UP_MAX)
                return err_set(err, LB_EXIT_USAGE, "up: at most %d topologies", UP_MAX);
            wish->names[wish->count++] = value;
            break;
        case OPT_DURABILITY:
            wish->durability = value;
            break;
        case OPT_JSON:
            wish->json = true;
            break;
        case OPT_HELP:
            wish->help = true;
            return 0;
        }
    }
}

/* Without names: every backend's topology that this machine can run. */
static void take_all(struct wish *wish, const char *folder) {
    for (const struct lb_backend *const *backend = registry_backends(); *backend; backend++) {
        struct topo_info info;
        struct lb_err err = {0};
        const char *name = (*backend)->topologies ? (*backend)->topologies[0] : NULL;
        if (!name || wish->count == UP_MAX || topo_info(folder, name, &info, &err) != 0) continue;
        if (info.missing[0]) {
            fprintf(stderr, "%s is left out: %s (install: %s)\n", name, info.missing, info.install);
        } else {
            wish->names[wish->count++] = name;
        }
    }
}

/* A backend's name means its default topology, an unknown one gets the nearest of the scripts that
 * are there. */
static int check_names(struct wish *wish, const char *folder, struct lb_err *err) {
    DIR *dir = opendir(folder);
    if (!dir) return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
    int result = 0;
    for (int i = 0; i < wish->count && result == 0; i++) {
        struct nearest nearest;
        char hint[128], best[64];
        bool known = false;
        nearest_init(&nearest, wish->names[i]);
        rewinddir(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (entry->d_name[0] == '.') continue;
            known |= strcmp(entry->d_name, wish->names[i]) == 0;
            nearest_offer(&nearest, entry->d_name);
            if (nearest.best == entry->d_name) { /* which the next readdir may write over */
                snprintf(best, sizeof best, "%.60s", entry->d_name);
                nearest.best = best;
            }
        }
        const struct lb_backend *backend = registry_backend(wish->names[i]);
        if (!known && backend && backend->topologies) {
            wish->names[i] = backend->topologies[0];
        } else if (!known) {
            result = err_set(err, LB_EXIT_USAGE,
                             "up: no topology '%.60s'%s ('lockbench list BACKEND' shows them)",
                             wish->names[i], nearest_hint(&nearest, hint, sizeof hint));
        }
    }
    closedir(dir);
    return result;
}

static bool interrupted(void *arg) {
    return *(const volatile sig_atomic_t *)arg > 0;
}

static struct topo *start(const char *folder, const char *name, const struct wish *wish,
                          const volatile sig_atomic_t *interrupts, struct lb_err *err) {
    struct topo_info info;
    if (topo_info(folder, name, &info, err) != 0) return NULL;
    struct topo_wish topo_wish = {.info = &info, .durability = wish->durability};
    struct topo *topo = topo_start(&topo_wish, err);
    struct topo_wait wait = {.deadline_ns = lb_now() + 90 * LB_S_NS,
                             .give_up = interrupted,
                             .arg = (void *)(uintptr_t)interrupts};
    if (topo && topo_ready(topo, &wait, err) != 0) {
        topo_stop(topo);
        topo = NULL;
    }
    if (!topo) err_prefix(err, "%s", name);
    return topo;
}

static void print_urls(struct topo *const *topos, const struct wish *wish) {
    for (int i = 0; i < wish->count; i++) {
        for (int u = 0; u < topo_url_count(topos[i]); u++) {
            printf("%-17s %-50s %s\n", wish->names[i], topo_url(topos[i], u),
                   u ? "" : topo_durability(topos[i]));
        }
    }
    fflush(stdout);
}

static void print_json(struct topo *const *topos, const struct wish *wish) {
    json_t *root = json_object();
    for (int i = 0; i < wish->count; i++) {
        json_t *urls = json_array();
        for (int u = 0; u < topo_url_count(topos[i]); u++) {
            json_array_append_new(urls, json_string(topo_url(topos[i], u)));
        }
        json_object_set_new(root, wish->names[i], urls);
    }
    json_dumpf(root, stdout, 0);
    json_decref(root);
    putchar('\n');
    fflush(stdout);
}

int cmd_up(int argc, char **argv) {
    struct lb_err err = {0};
    struct wish wish = {.durability = "default"};
    struct topo *topos[UP_MAX] = {0};
    char folder[512];
    int result = -1;
    if (read_args(argc, argv, &wish, &err) != 0) goto out;
    if (wish.help) {
        args_help(
            "up [TOPOLOGY|BACKEND…] [OPTIONS]",
            "Starts servers on free loopback ports, prints their URLs and keeps them until Ctrl-C; "
            "nothing is left behind.\n"
            "Without names: the default one of each backend that can run here. `lockbench list BACKEND` "
            "names them.",
            options, stdout);
        return LB_EXIT_OK;
    }
    if (home_path("compose/local", folder, sizeof folder, &err) != 0) goto out;
    if (check_names(&wish, folder, &err) != 0) goto out;
    if (wish.count == 0) take_all(&wish, folder);
    if (wish.count == 0) {
        err_set(&err, LB_EXIT_MACHINE, "up: no server can run here; see `lockbench doctor`");
        goto out;
    }
    const volatile sig_atomic_t *interrupts = interrupt_watch();
    for (int i = 0; i < wish.count; i++) {
        topos[i] = start(folder, wish.names[i], &wish, interrupts, &err);
        if (!topos[i]) goto out;
    }
    if (wish.json) {
        print_json(topos, &wish);
    } else {
        print_urls(topos, &wish);
        fprintf(stderr, "Ctrl-C stops them.\n");
    }
    result = LB_EXIT_OK;
    while (*interrupts == 0 && result == LB_EXIT_OK) {
        usleep(200000);
        for (int i = 0; i < wish.count; i++) {
            if (topo_check(topos[i], &err) != 0) result = -1;
        }
    }
out:
    for (int i = 0; i < UP_MAX; i++) topo_stop(topos[i]);
    return result < 0 ? args_fail(&err) : result;
}
