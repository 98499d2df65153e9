/* topo_tls: the certificates of servers with TLS, new ones for each start of a topology. See topo_node.h. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/servers/topo_node.h"

#define MAKE_NS (20 * LB_S_NS)

int topo_make_certificates(struct topo *topo, struct lb_err *err) {
    const struct topo_info *info = &topo->info;
    char script[600], dir[600];
    if (!info->tls) return 0;
    snprintf(script, sizeof script, "%.*s/../certificates",
             (int)(strrchr(info->script, '/') - info->script), info->script);
    snprintf(dir, sizeof dir, "%s/tls", topo->dir);
    if (topo_make_folder(topo, dir, err) != 0) return -1;
    struct vars vars = {0};
    const struct spawn spawn = {.script = script,
                                .dir = dir,
                                .account = &topo->account,
                                .stop_signal = SIGKILL,
                                .vars = vars.list};
    char *text = spawn_act(&spawn, (const char *const[]){".", NULL, NULL}, MAKE_NS, err);
    if (!text) {
        err_prefix(err, "%s with TLS", info->name);
        return -1;
    }
    free(text);
    snprintf(topo->tls_dir, sizeof topo->tls_dir, "%s", dir);
    snprintf(topo->ca, sizeof topo->ca, "%s/ca.pem", dir);
    return 0;
}
