/* topo_act: the actions that a topology's script carries out on its servers, see topo.h. It refuses
 * actions that the script does not offer. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/servers/spawn.h"
#include "bench/servers/topo.h"
#include "bench/servers/topo_node.h"

/* Joins several lines into one. */
static void join_lines(char *text) {
    size_t len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1])) text[--len] = '\0';
    for (char *c = text; *c; c++) {
        if (iscntrl((unsigned char)*c)) *c = ' ';
    }
}

int topo_act(struct topo *topo, const char *act, const char *arg, char *ret_text, size_t size,
             struct lb_err *err) {
    const struct topo_info *info = &topo->info;
    char dir[600], library[640];
    if (!topo_offers(info, act))
        return err_set(err, LB_EXIT_USAGE, "%s does not offer \"%s\": it has %s", info->name, act,
                       *info->acts ? info->acts : "nothing of the kind");
    if (*info->act_missing)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s needs %s: install %s", info->name, act,
                       info->act_missing, info->act_install);
    snprintf(dir, sizeof dir, "%s/act", topo->dir); /* beside the nodes' folders */
    if (topo_make_folder(topo, dir, err) != 0) return -1;
    struct vars vars = {0};
    topo_vars_fill(&vars, topo, -1);
    const struct spawn spawn = {.script = info->script,
                                .dir = dir,
                                .account = &topo->account,
                                .stop_signal = SIGKILL,
                                .library = topo_library(topo, library, sizeof library),
                                .vars = vars.list};
    struct lb_err why = {0};
    char *text =
        spawn_act(&spawn, (const char *const[]){"act", act, arg}, topo->act_limit_ns, &why);
    if (!text)
        return err_set(err, why.code, "%s: %s%s%s: %s", info->name, act, arg ? " " : "",
                       arg ? arg : "", why.text);
    join_lines(text);
    if (ret_text) snprintf(ret_text, size, "%s", text);
    free(text);
    return 0;
}

int topo_leader(struct topo *topo, struct lb_err *err) {
    char text[128], *end;
    if (topo_act(topo, "leader", NULL, text, sizeof text, err) != 0) return -1;
    long node = strtol(text, &end, 10);
    if (end == text || *end || node < 0 || node >= topo->info.nodes)
        return err_set(err, LB_EXIT_MACHINE, "%s: leader: \"%s\" is no node", topo->info.name,
                       text);
    return (int)node;
}
