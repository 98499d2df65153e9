/* url: parses scheme://user:password@host:port[,host:port...]/path for drivers that are given a
 * URL.
 *
 * It resolves no name and connects to nothing. Percent-escapes in user, password and path are
 * decoded. */
#ifndef DRIVERS_URL_H
#define DRIVERS_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"

#define URL_HOSTS_MAX 8
#define URL_USER_MAX 256      /* with the NUL */
#define URL_PASSWORD_MAX 4096 /* with the NUL: a token of a cloud has up to 2,000 bytes */

struct url {
    char scheme[24];
    char user[URL_USER_MAX];
    char password[URL_PASSWORD_MAX]; /* never print it; url_public gives the form to show */
    char host[URL_HOSTS_MAX][128];
    int port[URL_HOSTS_MAX]; /* the default port where none was given */
    int host_count;          /* at least 1 */
    char path[256];          /* without the leading slash; "" if none */
};

/* Parses text. Returns 0, or -1 with err (LB_EXIT_USAGE), which shows the text without its
 * password. */
int url_parse(struct url *ret_url, const char *text, int default_port, struct lb_err *err);

/* The same, but accepts a '?' and ignores the text behind it: libpq takes parameters there. */
int url_read(struct url *ret_url, const char *text, int default_port, struct lb_err *err);

/* Whether a server of the URL is one of this machine alone: at a loopback address, "localhost", or the path of a Unix
 * socket. No name is looked up. False for a text that is no URL. */
bool url_is_local(const char *text);

/* Refuses a URL in which the password may have ended the authority early: with an '@' behind a '/' or a
 * '?'. Returns 0, or -1 with err (LB_EXIT_USAGE), which does not show the password. */
int url_check(const char *text, struct lb_err *err);

/* Writes the text to out, with "***" in place of all parts that may be secret: the password (and the user,
 * if there is no ':') between "://" and the last '@'; in a query all text from the first value on that is not known to
 * be harmless; of a URL whose servers can't be read, or are one word without a dot, a port and a user, all behind "://".
 * Accepts any text; in a text without "://" all from its first ':' to its last '@', and from the value of a password
 * on, may be secret. */
char *url_public(const char *text, char *out, size_t size);

/* Whether url_public would hide a part of the text. */
bool url_has_secret(const char *text);

/* Overwrites in place the parts that url_public hides. The length stays the same. */
void url_hide(char *text);

#endif
