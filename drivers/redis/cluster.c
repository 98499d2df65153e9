/* cluster: which node of a Redis Cluster serves which slot. See redis_impl.h.
 *
 * The map comes from the text of CLUSTER NODES, which Redisson reads too; MOVED corrects the map. Nodes
 * are only added to a session, never removed, so that pointers to them stay valid. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/crc16.h"

unsigned redis_slot(const char *key, size_t len) {
    const char *open = memchr(key, '{', len);
    if (open) {
        const char *close = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
        if (close && close > open + 1) {
            key = open + 1;
            len = (size_t)(close - key);
        }
    }
    return crc16(key, len) % REDIS_SLOTS;
}

/* Splits "host:port@busport,hostname" in place at the last colon, since an IPv6 address contains
 * colons. An empty host means the host of the node that was asked. 0, or -1. */
static int parse_address(char *text, const char *asked_host, const char **ret_host, int *ret_port) {
    text[strcspn(text, "@,")] = '\0';
    char *colon = strrchr(text, ':');
    if (!colon) return -1;
    *colon = '\0';
    *ret_host = *text ? text : asked_host;
    *ret_port = atoi(colon + 1);
    return *ret_port > 0 && *ret_port < 65536 ? 0 : -1;
}

/* Reads the slots "0-5460" or "7". Ignores "[93-<-id]" and "[93->-id]": these slots are being moved, and
 * their old node still serves them. */
static int parse_slots(struct redis_cluster *cluster, const char *range, int node) {
    char *end;
    if (*range == '[') return 0;
    long first = strtol(range, &end, 10), last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    if (*end || first < 0 || last < first || last >= REDIS_SLOTS) return -1;
    for (long slot = first; slot <= last; slot++) cluster->node[slot] = (uint8_t)node;
    return 0;
}

/* Reads a line: id address flags primary ping pong epoch link slot... `primaries`: read only the lines of primaries, or
 * only the others. 0, or -1. */
static int parse_line(struct redis_state *state, char *line, const char *asked_host,
                      bool primaries) {
    char *field[8], *rest = line;
    for (int i = 0; i < 8; i++) {
        field[i] = strsep(&rest, " ");
        if (!field[i]) return -1;
    }
    if (strstr(field[2], "noaddr") || strstr(field[2], "handshake")) return 0;
    if (!strstr(field[2], "master") == primaries) return 0;
    const char *host;
    int port;
    if (parse_address(field[1], asked_host, &host, &port) != 0) return -1;
    if (primaries && !rest) return 0; /* this node serves no slot */
    struct redis_node *node = redis_node_add(state, host, port);
    if (!node) return primaries ? -1 : 0;
    if (!primaries) return 0;
    node->primary = true;
    for (char *range; (range = strsep(&rest, " "));) {
        if (parse_slots(state->cluster, range, (int)(node - state->node)) != 0) return -1;
    }
    return 0;
}

int redis_cluster_parse(struct redis_state *state, const char *text, const char *asked_host,
                        struct lb_err *err) {
    for (int i = 0; i < state->node_count; i++) state->node[i].primary = false;
    memset(state->cluster->node, REDIS_NOBODY, sizeof state->cluster->node);
    /* Primaries come first, so that the table has room for each of them. */
    for (int primaries = 1; primaries >= 0; primaries--) {
        for (const char *at = text; *at;) {
            char line[1024];
            size_t len = strcspn(at, "\r\n");
            if (len >= sizeof line)
                return err_set(err, LB_EXIT_MACHINE, "redis: CLUSTER NODES: a line too long");
            memcpy(line, at, len);
            line[len] = '\0';
            at += len;
            at += strspn(at, "\r\n");
            if (parse_line(state, line, asked_host, primaries) != 0)
                return err_set(err, LB_EXIT_MACHINE,
                               "redis: CLUSTER NODES: more than %d nodes, or malformed: %s",
                               REDIS_NODES_MAX, line);
        }
    }
    return 0;
}

struct redis_node *redis_cluster_pointed(struct redis_state *state, const struct redis_node *asked,
                                         const char *error, unsigned *ret_slot) {
    char address[200];
    unsigned slot;
    const char *host;
    int port;
    if (sscanf(error, "%*s %u %199s", &slot, address) != 2 || slot >= REDIS_SLOTS) return NULL;
    if (parse_address(address, asked->host, &host, &port) != 0) return NULL;
    *ret_slot = slot;
    return redis_node_add(state, host, port);
}
