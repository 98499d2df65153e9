/* info: what a topology's script says of itself, see topo.h. It refuses a script that says less
 * than is needed. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/servers/spawn.h"
#include "bench/servers/topo.h"

static const char *const durability_names[TOPO_DURABILITIES] = {"default", "none", "sync"};

/* The keys that are texts, and where they go. */
static const struct text_key {
    const char *name;
    size_t offset, size;
} text_keys[] = {
#define TEXT(key, field)                                                                           \
    { key, offsetof(struct topo_info, field), sizeof((struct topo_info *)0)->field }
    TEXT("summary", summary),
    TEXT("missing", missing),
    TEXT("install", install),
    TEXT("user", user),
    TEXT("url", url),
    TEXT("acts", acts),
    TEXT("wired", wired),
    TEXT("library", library),
    TEXT("durability_default", durability[TOPO_DEFAULT]),
    TEXT("durability_none", durability[TOPO_NONE]),
    TEXT("durability_sync", durability[TOPO_SYNC]),
    TEXT("refused_default", refused[TOPO_DEFAULT]),
    TEXT("refused_none", refused[TOPO_NONE]),
    TEXT("refused_sync", refused[TOPO_SYNC]),
#undef TEXT
};

static int number(const char *text, int max, int *ret, struct lb_err *err) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > max)
        return err_set(err, LB_EXIT_MACHINE, "\"%s\" is not a number from 1 to %d", text, max);
    *ret = (int)value;
    return 0;
}

static int signal_number(const char *text, int *ret, struct lb_err *err) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"KILL", SIGKILL}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (strcmp(text, signals[i].name) != 0) continue;
        *ret = signals[i].number;
        return 0;
    }
    return err_set(err, LB_EXIT_MACHINE, "\"%s\" is none of TERM, INT, QUIT, KILL", text);
}

static int take(struct topo_info *info, const char *key, const char *value, struct lb_err *err) {
    if (strcmp(key, "nodes") == 0) return number(value, TOPO_NODES_MAX, &info->nodes, err);
    if (strcmp(key, "ports") == 0) return number(value, TOPO_PORTS_MAX, &info->ports, err);
    if (strcmp(key, "stop_signal") == 0) return signal_number(value, &info->stop_signal, err);
    if (strcmp(key, "clock") == 0) {
        info->clock = strcmp(value, "yes") == 0;
        if (!info->clock && strcmp(value, "no") != 0)
            return err_set(err, LB_EXIT_MACHINE, "\"%s\" is neither yes nor no", value);
        return 0;
    }
    for (size_t i = 0; i < sizeof text_keys / sizeof *text_keys; i++) {
        if (strcmp(key, text_keys[i].name) != 0) continue;
        if (strlen(value) >= text_keys[i].size)
            return err_set(err, LB_EXIT_MACHINE, "the value is too long");
        strcpy((char *)info + text_keys[i].offset, value);
        return 0;
    }
    return err_set(err, LB_EXIT_MACHINE, "unknown key");
}

/* Reads the KEY=VALUE lines, in place. */
static int parse(struct topo_info *info, char *text, struct lb_err *err) {
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (!*line) continue;
        char *value = strchr(line, '=');
        if (!value) return err_set(err, LB_EXIT_MACHINE, "\"%s\" is not KEY=VALUE", line);
        *value++ = '\0';
        if (take(info, line, value, err) != 0) {
            err_prefix(err, "%s", line);
            return -1;
        }
    }
    if (strchr(info->library, '/'))
        return err_set(err, LB_EXIT_MACHINE, "library: it is no name of a file");
    if (!info->nodes || !info->ports || !*info->url || !*info->durability[TOPO_DEFAULT])
        return err_set(err, LB_EXIT_MACHINE, "nodes, ports, url and durability_default are needed");
    return 0;
}

int topo_info(const char *folder, const char *name, struct topo_info *ret_info,
              struct lb_err *err) {
    struct topo_info info = {.stop_signal = SIGTERM, .wired = "clients"};
    char path[PATH_MAX];
    if (!*name || strchr(name, '/') || strlen(name) >= sizeof info.name)
        return err_set(err, LB_EXIT_USAGE, "\"%s\" is no name of a topology", name);
    strcpy(info.name, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (strlen(path) >= sizeof info.script)
        return err_set(err, LB_EXIT_MACHINE, "%s: the path is too long", path);
    strcpy(info.script, path);
    if (access(path, R_OK) != 0)
        return err_set(err, LB_EXIT_MACHINE, "topology \"%s\": %s: %s", name, path,
                       strerror(errno));
    char *text = spawn_info(path, err);
    int result = text ? parse(&info, text, err) : -1;
    free(text);
    if (result != 0) {
        err_prefix(err, "topology \"%s\": %s info", name, path);
        return -1;
    }
    *ret_info = info;
    return 0;
}

bool topo_offers(const struct topo_info *info, const char *act) {
    char acts[sizeof info->acts];
    strcpy(acts, info->acts);
    char *rest = acts;
    for (char *word; (word = strsep(&rest, " "));) {
        if (*word && strcmp(word, act) == 0) return true;
    }
    return false;
}

const char *topo_durability_text(const struct topo_info *info, const char *durability,
                                 struct lb_err *err) {
    for (int i = 0; i < TOPO_DURABILITIES; i++) {
        if (strcmp(durability, durability_names[i]) != 0) continue;
        if (*info->durability[i]) return info->durability[i];
        err_set(err, LB_EXIT_USAGE, "%s can't run with durability \"%s\": %s", info->name,
                durability, *info->refused[i] ? info->refused[i] : "its script does not offer it");
        return NULL;
    }
    err_set(err, LB_EXIT_USAGE, "durability \"%s\" is none of default, none, sync", durability);
    return NULL;
}
