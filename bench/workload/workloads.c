/* workloads: see workloads.h. It reads names and summaries only; plan_load checks the
 * rest of a file. */
#include "bench/workload/workloads.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/workload/workfile.h"

#define ENDING ".ini"
#define CHECK "check/" /* the scenarios of `lockbench check`, in a folder of their own */

static bool ends_in_ini(const char *name) {
    size_t len = strlen(name), ending = strlen(ENDING);
    return len > ending && strcmp(name + len - ending, ENDING) == 0;
}

static int is_workload(const struct dirent *entry) {
    return entry->d_name[0] != '.' && ends_in_ini(entry->d_name);
}

static int describe_workload(struct workload_file *file, struct arena *arena, struct lb_err *err) {
    struct settings settings = {0};
    struct lb_err wrong = {0};
    file->summary = "";
    if (workfile_read(file->path, arena, &settings, &wrong)) {
        file->wrong = arena_text(arena, wrong.text);
        return file->wrong ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    for (int i = 0; i < settings.count; i++) {
        const struct setting *s = &settings.item[i];
        if (strcmp(s->section, "workload") == 0 && strcmp(s->key, "summary") == 0)
            file->summary = s->value;
    }
    return 0;
}

/* Adds the workloads of one folder. Their names begin with prefix. A missing folder has none if
 * there is a prefix. */
static int add_folder(const char *folder, const char *prefix, struct workload_list *list,
                      struct lb_err *err) {
    struct dirent **entries = NULL;
    int result = -1, count = scandir(folder, &entries, is_workload, alphasort);
    if (count < 0) {
        if (*prefix && errno == ENOENT) return 0;
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
    }
    int wanted = list->count + count;
    struct workload_file *grown = arena_alloc(&list->arena, sizeof *grown * (size_t)(wanted + 1));
    if (grown && list->count > 0) memcpy(grown, list->item, sizeof *grown * (size_t)list->count);
    list->item = grown ? grown : list->item;
    for (int i = 0; grown && i < count; i++) {
        struct workload_file *file = &list->item[list->count];
        const char *entry = entries[i]->d_name;
        char text[PATH_MAX];
        snprintf(text, sizeof text, "%s%.*s", prefix, (int)(strlen(entry) - strlen(ENDING)), entry);
        file->name = arena_text(&list->arena, text);
        int len = snprintf(text, sizeof text, "%s/%s", folder, entry);
        if (len >= (int)sizeof text) continue;
        file->path = arena_text(&list->arena, text);
        if (!file->name || !file->path) break;
        if (describe_workload(file, &list->arena, err)) goto out;
        list->count++;
    }
    if (list->count < wanted) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    result = 0;
out:
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    return result;
}

int workloads_find(const char *folder, struct workload_list *ret_list, struct lb_err *err) {
    char check[PATH_MAX];
    *ret_list = (struct workload_list){0};
    if (add_folder(folder, "", ret_list, err)) return -1;
    if (snprintf(check, sizeof check, "%s/check", folder) >= (int)sizeof check) return 0;
    return add_folder(check, CHECK, ret_list, err);
}

void workloads_done(struct workload_list *list) {
    arena_done(&list->arena);
}

int workload_path(const char *folder, const char *wish, char *ret_path, size_t size,
                  struct lb_err *err) {
    bool is_path =
        ends_in_ini(wish) || (strchr(wish, '/') && strncmp(wish, CHECK, sizeof CHECK - 1) != 0);
    if (strlen(folder) + strlen(wish) + sizeof "/" ENDING > size) {
        return err_set(err, LB_EXIT_USAGE, "%.60s...: the name is too long", wish);
    }
    if (is_path) {
        snprintf(ret_path, size, "%s", wish);
        return 0;
    }
    struct workload_list list;
    int result = workloads_find(folder, &list, err);
    struct nearest nearest;
    nearest_init(&nearest, wish);
    bool found = false;
    char names[380] = "", hint[100];
    for (int i = 0; result == 0 && i < list.count; i++) {
        size_t used = strlen(names);
        found = found || strcmp(list.item[i].name, wish) == 0;
        nearest_offer(&nearest, list.item[i].name);
        if (strchr(list.item[i].name, '/')) continue; /* there are too many of them to list */
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", list.item[i].name);
    }
    if (result == 0 && found) {
        snprintf(ret_path, size, "%s/%s%s", folder, wish, ENDING);
    } else if (result == 0) {
        result = err_set(err, LB_EXIT_USAGE,
                         "no workload '%.60s'%s (there are: %s; or give a file's path)", wish,
                         nearest_hint(&nearest, hint, sizeof hint), names);
    }
    workloads_done(&list);
    return result;
}
