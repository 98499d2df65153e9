/* pg_conninfo: a URL as libpq takes it. It connects to nothing.
 *
 * libpq's own messages about a malformed URL quote it, with the password in it: they are never
 * shown. */
#include "drivers/postgres/pg_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/resolve.h"
#include "drivers/url.h"

/* libpq ends the password at the first "@" and takes the rest for the host, so that a part of the
 * password would turn up in its messages. */
static bool has_two_ats(const char *url) {
    const char *start = strstr(url, "://");
    if (!start) return false;
    start += 3;
    size_t len = strcspn(start, "/?");
    const char *at = memchr(start, '@', len);
    return at && memchr(at + 1, '@', len - (size_t)(at + 1 - start));
}

static int count_keywords(const struct pg_conninfo *info) {
    int count = 0;
    while (info->keyword[count]) count++;
    return count;
}

void pg_conninfo_add(struct pg_conninfo *info, const char *keyword, const char *value) {
    int count = count_keywords(info);
    if (count + 1 >= PG_KEYWORDS_MAX) return;
    info->keyword[count] = keyword;
    info->value[count] = value;
}

static const char **value_of(struct pg_conninfo *info, const char *keyword) {
    for (int i = 0; info->keyword[i]; i++) {
        if (strcmp(info->keyword[i], keyword) == 0) return &info->value[i];
    }
    return NULL;
}

const char *pg_conninfo_value(const struct pg_conninfo *info, const char *keyword) {
    for (int i = 0; info->keyword[i]; i++) {
        if (strcmp(info->keyword[i], keyword) == 0) return info->value[i];
    }
    return NULL;
}

/* Looks the host up, so that libpq does not do it in each connect. The name stays, because TLS
 * and password files need it. Lists of hosts are left to libpq. 0, or -1 with err. */
static int add_addresses(struct pg_conninfo *info, struct lb_err *err) {
    const char **host = value_of(info, "host");
    if (!host || !**host || strpbrk(*host, "/,@") || value_of(info, "hostaddr")) return 0;
    const struct resolved *resolved = resolve_host(*host, err);
    if (!resolved) return -1;
    size_t each = strlen(*host) + sizeof resolved->address[0] + 1;
    info->hosts = calloc(RESOLVED_MAX, each);
    info->addresses = calloc(RESOLVED_MAX, each);
    if (!info->hosts || !info->addresses)
        return err_set(err, LB_EXIT_MACHINE, "postgres: out of memory");
    for (int i = 0; i < resolved->count; i++) {
        if (i > 0) strcat(info->hosts, ",");
        if (i > 0) strcat(info->addresses, ",");
        strcat(info->hosts, *host);
        strcat(info->addresses, resolved->address[i]);
    }
    *host = info->hosts;
    pg_conninfo_add(info, "hostaddr", info->addresses);
    return 0;
}

int pg_conninfo_dial(struct pg_conninfo *info, const struct lb_server *server, struct lb_err *err) {
    if (server->route_count == 0) return add_addresses(info, err);
    size_t used = 0, used_ports = 0, size = (size_t)server->route_count * sizeof(struct lb_route);
    info->addresses = calloc(1, size);
    info->ports = calloc(1, size);
    if (!info->addresses || !info->ports)
        return err_set(err, LB_EXIT_MACHINE, "postgres: out of memory");
    for (int i = 0; i < server->route_count; i++) {
        const struct lb_route *route = &server->routes[i];
        const char *comma = i > 0 ? "," : "";
        used +=
            (size_t)snprintf(info->addresses + used, size - used, "%s%s", comma, route->dial_host);
        used_ports += (size_t)snprintf(info->ports + used_ports, size - used_ports, "%s%d", comma,
                                       route->dial_port);
    }
    pg_conninfo_add(info, "hostaddr", info->addresses);
    const char **port = value_of(info, "port");
    if (port)
        *port = info->ports;
    else
        pg_conninfo_add(info, "port", info->ports);
    return 0;
}

int pg_conninfo_parse(struct pg_conninfo *info, const char *url, struct lb_err *err) {
    char shown[256];
    memset(info, 0, sizeof *info);
    url_public(url, shown, sizeof shown);
    const char *query = strchr(url, '?');
    if (query && strstr(query, "password=")) {
        return err_set(err, LB_EXIT_USAGE,
                       "a postgres URL has 'password=' after the '?', where it would be shown: "
                       "write postgres://user:password@host:port/database");
    }
    if (url_check(url, err) != 0) return -1;
    if (has_two_ats(url)) {
        return err_set(err, LB_EXIT_USAGE,
                       "postgres URL '%s' has two '@': write the one in the password as %%40",
                       shown);
    }
    char *message = NULL;
    info->parsed = PQconninfoParse(url, &message);
    if (!info->parsed) {
        /* Other messages may show a part of the password. */
        bool named = message && strncmp(message, "invalid URI query parameter", 27) == 0;
        err_set(
            err, LB_EXIT_USAGE,
            "libpq does not take the URL '%s'%s%.*s: write postgres://user:password@host:port/database, "
            "perhaps with ?sslmode=... or another of its parameters",
            shown, named ? ": " : "", named ? (int)strcspn(message, "\n") : 0,
            named ? message : "");
    }
    PQfreemem(message);
    if (!info->parsed) return -1;
    bool gss_said = false;
    for (const PQconninfoOption *option = info->parsed; option->keyword; option++) {
        if (!option->val) continue;
        if (strcmp(option->keyword, "gssencmode") == 0) gss_said = true;
        pg_conninfo_add(info, option->keyword, option->val);
    }
    pg_conninfo_add(info, "fallback_application_name", "lockbench");
    /* By default libpq looks for a Kerberos ticket on disk at each connect, which blocks the
     * thread. */
    if (!gss_said) pg_conninfo_add(info, "gssencmode", "disable");
    return 0;
}

void pg_conninfo_done(struct pg_conninfo *info) {
    PQconninfoFree(info->parsed);
    free(info->hosts);
    free(info->addresses);
    free(info->ports);
    memset(info, 0, sizeof *info);
}
