/* urls: a topology's URL templates, filled with the ports that its nodes were given. */
#ifndef BENCH_SERVERS_URLS_H
#define BENCH_SERVERS_URLS_H

#include "bench/servers/topo.h"

struct urls {
    int count;
    char *url[TOPO_NODES_MAX + 1]; /* ends with NULL */
};

/* Fills the templates in info->url: a template with %PORT% gives one URL a node, with the node's
 * first port; in any other, %PORT2% is the first port of node 2 (from 0), and it gives one URL.
 * ports: node by node. Frees what was there before. */
void urls_fill(struct urls *urls, const struct topo_info *info, const int *ports);
void urls_done(struct urls *urls);

#endif
