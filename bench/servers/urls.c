/* urls: see urls.h. It does not know what a URL means: the drivers parse them. */
#include "bench/servers/urls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes one URL from one template, for one node. */
static void fill_one(struct urls *urls, const char *template, int node,
                     const struct topo_info *info, const int *ports) {
    char url[512];
    size_t used = 0;
    if (urls->count == TOPO_NODES_MAX) return;
    for (const char *c = template; *c && used < sizeof url - 16;) {
        int other = node, len = 0;
        if (strncmp(c, "%PORT%", 6) == 0)
            len = 6;
        else if (sscanf(c, "%%PORT%d%%%n", &other, &len) != 1 || other < 0 || other >= info->nodes)
            len = 0;
        if (len == 0) {
            url[used++] = *c++;
            continue;
        }
        used += (size_t)snprintf(url + used, sizeof url - used, "%d", ports[other * info->ports]);
        c += len;
    }
    url[used] = '\0';
    urls->url[urls->count] = strdup(url);
    if (urls->url[urls->count]) urls->count++;
}

void urls_fill(struct urls *urls, const struct topo_info *info, const int *ports) {
    urls_done(urls);
    char templates[sizeof info->url];
    strcpy(templates, info->url);
    char *rest = templates;
    for (char *template; (template = strsep(&rest, " "));) {
        if (!*template) continue;
        int copies = strstr(template, "%PORT%") ? info->nodes : 1;
        for (int n = 0; n < copies; n++) fill_one(urls, template, n, info, ports);
    }
}

void urls_done(struct urls *urls) {
    for (int i = 0; i < urls->count; i++) free(urls->url[i]);
    *urls = (struct urls){0};
}
