/* available: see available.h. */
#include "bench/cli/available.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/registry.h"

struct available_backend {
    const struct lb_backend *backend;
    bool has_url, asked;
    struct topo_info info;
    struct lb_err no_script; /* why the script can't be asked; code 0 = it was */
    char reason[300];        /* what is missing, as a phrase */
    struct lb_err refused;   /* why it can't give the durability that was asked for last */
};

int available_init(struct available *available, const char *folder, struct lb_err *err) {
    int count = 0;
    while (registry_backends()[count]) count++;
    *available = (struct available){.count = count};
    if (strlen(folder) >= sizeof available->folder) {
        return err_set(err, LB_EXIT_MACHINE, "%s: the path is too long", folder);
    }
    snprintf(available->folder, sizeof available->folder, "%s", folder);
    available->item = calloc((size_t)count + 1, sizeof *available->item);
    if (!available->item) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < count; i++) available->item[i].backend = registry_backends()[i];
    return 0;
}

void available_done(struct available *available) {
    free(available->item);
    available->item = NULL;
    available->count = 0;
}

static struct available_backend *item_of(struct available *available, const struct lb_backend *backend) {
    for (int i = 0; i < available->count; i++) {
        if (available->item[i].backend == backend) return &available->item[i];
    }
    return NULL;
}

static void ask(struct available *available, struct available_backend *item) {
    if (item->asked) return;
    item->asked = true;
    topo_info(available->folder, item->backend->topologies[0], &item->info, &item->no_script);
}

void available_url(struct available *available, const struct lb_backend *backend) {
    struct available_backend *item = item_of(available, backend);
    if (item) item->has_url = true;
}

const char *available_why_not(struct available *available, const struct lb_backend *backend,
                              const char *durability, const char **ret_install) {
    struct available_backend *item = item_of(available, backend);
    *ret_install = NULL;
    if (!item) return "not a backend of this program";
    if (backend->unavailable) {
        *ret_install = backend->install;
        return backend->unavailable;
    }
    if (!backend->topologies || item->has_url) return NULL;
    ask(available, item);
    if (item->no_script.code) return item->no_script.text;
    if (*item->info.missing) {
        if (*item->info.install) *ret_install = item->info.install;
        snprintf(item->reason, sizeof item->reason, "%s not found on this machine", item->info.missing);
        return item->reason;
    }
    item->refused = (struct lb_err){0};
    if (durability && !topo_durability_text(&item->info, durability, &item->refused))
        return item->refused.text;
    return NULL;
}

const struct topo_info *available_info(struct available *available, const struct lb_backend *backend) {
    struct available_backend *item = item_of(available, backend);
    if (!item || !backend->topologies) return NULL;
    ask(available, item);
    return item->no_script.code ? NULL : &item->info;
}

const char *available_for_plan(void *context, const struct lb_lock *lock, const char *durability,
                               const char **ret_install) {
    return available_why_not(context, lock->backend, durability, ret_install);
}
