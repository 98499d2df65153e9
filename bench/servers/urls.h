/* urls: the URL templates of a topology, filled with the ports of its nodes. */
#ifndef BENCH_SERVERS_URLS_H
#define BENCH_SERVERS_URLS_H

#include "bench/servers/info.h"

struct urls {
    int count;
    char *url[TOPO_NODES_MAX + 1]; /* ends with NULL */
};

/* Fills the templates in info->url. A template with %PORT% gives one URL for each node, with the
 * node's first port; in any other template %PORT2% is the first port of node 2 (counted from 0),
 * and it gives one URL. ports: node by node. Frees the previous contents. */
void urls_fill(struct urls *urls, const struct topo_info *info, const int *ports);
void urls_done(struct urls *urls);

#endif
