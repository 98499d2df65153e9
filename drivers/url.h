/* url: scheme://user:password@host:port[,host:port...]/path, for the drivers that are given one.
 *
 * It resolves nothing and connects to nothing. Percent-escapes in user, password and path are
 * undone. */
#ifndef DRIVERS_URL_H
#define DRIVERS_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"

#define URL_HOSTS_MAX 8

struct url {
    char scheme[24];
    char user[64];
    char password[128]; /* never print it: url_public has the form to show */
    char host[URL_HOSTS_MAX][128];
    int port[URL_HOSTS_MAX]; /* the default port where none was given */
    int host_count;          /* at least 1 */
    char path[256];          /* without the leading slash; "" if none */
};

/* Reads text. 0, or -1 with err (LB_EXIT_USAGE), the text shown without its password. */
int url_parse(struct url *ret_url, const char *text, int default_port, struct lb_err *err);

/* The text with any password replaced by "***", into out. Takes anything. */
char *url_public(const char *text, char *out, size_t size);

#endif
