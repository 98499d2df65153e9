/* url: see url.h. */
#define _GNU_SOURCE
#include "drivers/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a text that must not be shown: two stretches, each [from, end), which may overlap or
 * be empty. */
struct hidden {
    const char *from[2], *end[2];
};

/* What a name or an address of a host may have in a URL; '%' for an escaped path of a socket. */
#define HOST_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_%"
#define V6_BYTES "0123456789abcdefABCDEF:.%"

/* What a path has; behind any other byte may stand what is no URL, or a password. */
#define PATH_BYTES HOST_BYTES "/+,"

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Copies the name of a parameter with %XX undone, cut where it does not fit. */
static void read_name(char *out, size_t size, const char *from, const char *end) {
    size_t used = 0;
    for (; from < end && used + 1 < size; from++) {
        bool escaped =
            *from == '%' && end - from > 2 && hex_value(from[1]) >= 0 && hex_value(from[2]) >= 0;
        out[used++] = escaped ? (char)(hex_value(from[1]) * 16 + hex_value(from[2])) : *from;
        if (escaped) from += 2;
    }
    out[used] = '\0';
}

/* Whether the name of a parameter, up to its '=', speaks of a secret. */
static bool names_secret(const char *name, const char *equals) {
    static const char *const words[] = {"pass", "pwd", "token", "secret", "credential"};
    char plain[80];
    read_name(plain, sizeof plain, name, equals);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (strcasestr(plain, words[w])) return true;
    }
    return false;
}

/* The start of the first secret value, or NULL: of the forms that are no URL in which people give a server
 * ("host=h password=p", "h:6379,password=p"), which an error shows. */
static const char *secret_value(const char *text) {
    for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
        const char *name = equals;
        while (name > text && strchr(" \t", name[-1])) name--;
        while (name > text && !strchr("?&;,/ \t", name[-1])) name--;
        if (names_secret(name, equals)) return equals + 1;
    }
    return NULL;
}

/* The start of the first value of a URL's query that may be secret, or NULL. Only the values of parameters that are
 * known to be harmless are shown: any other name may be one of a secret, or a wrong one. */
static const char *unknown_value(const char *query) {
    static const char harmless[] =
        " application_name client_encoding connect_timeout dbname gssencmode host hostaddr keepalives keepalives_idle"
        " load_balance_hosts port sslcert sslkey sslmode sslrootcert target_session_attrs tcp_user_timeout user ";
    while (*query) {
        const char *end = query + strcspn(query, "& ;,?\t"),
                   *equals = query + strcspn(query, "&= ;,?\t");
        char word[42];
        if (*equals != '=') return query; /* a value without a name */
        snprintf(word, sizeof word, " %.*s ", (int)(equals - query < 38 ? equals - query : 38),
                 query);
        if (!strstr(harmless, word)) return equals + 1;
        if (*end && *end != '&') return end + 1; /* no query goes on so */
        query = *end ? end + 1 : end;
    }
    return NULL;
}

/* Whether the text is what may stand for servers: names or addresses, ports of digits, commas between them. A single
 * word without a dot and a port may be a password whose server was forgotten. */
static bool is_hosts(const char *text, const char *end, bool has_account) {
    const char *dot = memchr(text, '.', (size_t)(end - text)),
               *colon = memchr(text, ':', (size_t)(end - text));
    bool is_path = end - text > 3 && strncasecmp(text, "%2F", 3) == 0;
    bool is_here = (size_t)(end - text) == strlen("localhost") &&
                   strncmp(text, "localhost", strlen("localhost")) == 0;
    bool is_word = !dot && !colon && !memchr(text, ',', (size_t)(end - text));
    if (text < end && is_word && !is_path && !is_here && !has_account) return false;
    while (text < end) {
        bool bracketed = *text == '[';
        size_t len = strspn(text + bracketed, bracketed ? V6_BYTES : HOST_BYTES);
        if (len == 0 && *text != ',') return false;
        text += bracketed + len;
        if (bracketed && *text++ != ']') return false;
        size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
        if (digits > 5) return false;
        text += *text == ':' ? 1 + digits : 0;
        if (text < end && *text++ != ',') return false;
    }
    return true;
}

/* Finds the parts to hide; hides too much rather than too little. A password may contain any character, even one
 * that ends a URL's authority. So the text from the first ':' to the last '@' is hidden; without a ':' the user is
 * hidden, because it may be a token. A URL whose servers can't be read is hidden whole, but for its scheme: any of its
 * parts may be a password in a wrong place. Behind a '#', behind a byte that no path has, and from the first value of a
 * query on that may be secret, everything is hidden. */
static struct hidden find_hidden(const char *text) {
    const char *scheme = strstr(text, "://"), *start = scheme ? scheme + 3 : text;
    const char *at = strrchr(start, '@'), *end = text + strlen(text), *hosts = at ? at + 1 : start;
    const char *colon = at ? memchr(start, ':', (size_t)(at - start)) : NULL;
    struct hidden hidden = {{end, end}, {end, end}};
    if (at && (colon || scheme)) {
        hidden.from[0] = colon ? colon + 1 : start;
        hidden.end[0] = at;
    }
    const char *secret = secret_value(start), *query = strchr(start, '?');
    if (secret) hidden.from[1] = secret;
    if (!scheme) return hidden;
    const char *tail = hosts + strcspn(hosts, "/?# \t\"'");
    if (!is_hosts(hosts, tail, at != NULL)) {
        hidden.from[0] = start;
        hidden.end[0] = end;
        return hidden;
    }
    const char *strange = tail + strspn(tail, PATH_BYTES);
    if (*strange && *strange != '?' && strange + 1 < hidden.from[1]) hidden.from[1] = strange + 1;
    tail += strcspn(tail, "#");
    if (*tail == '#' && tail + 1 < hidden.from[1]) hidden.from[1] = tail + 1;
    const char *value = query ? unknown_value(query + 1) : NULL;
    if (value && value < hidden.from[1]) hidden.from[1] = value;
    return hidden;
}

static bool is_hidden(const struct hidden *hidden, const char *c) {
    return (c >= hidden->from[0] && c < hidden->end[0]) ||
           (c >= hidden->from[1] && c < hidden->end[1]);
}

char *url_public(const char *text, char *out, size_t size) {
    struct hidden hidden = find_hidden(text);
    size_t used = 0;
    for (const char *c = text; *c && used + 1 < size; c++) {
        bool first = c == text || !is_hidden(&hidden, c - 1);
        if (!is_hidden(&hidden, c)) out[used++] = *c;
        for (int i = 0; i < 3 && first && is_hidden(&hidden, c) && used + 1 < size; i++)
            out[used++] = '*';
    }
    if (size > 0) out[used] = '\0';
    return out;
}

bool url_has_secret(const char *text) {
    struct hidden hidden = find_hidden(text);
    return *hidden.from[0] != '\0' || *hidden.from[1] != '\0';
}

void url_hide(char *text) {
    struct hidden hidden = find_hidden(text);
    for (char *c = text; *c; c++) {
        if (is_hidden(&hidden, c)) *c = '*';
    }
}

int url_check(const char *text, struct lb_err *err) {
    char shown[256];
    const char *scheme = strstr(text, "://");
    const char *at = scheme ? strrchr(scheme + 3, '@') : NULL;
    if (!at || at < scheme + 3 + strcspn(scheme + 3, "/?")) return 0;
    return err_set(
        err, LB_EXIT_USAGE,
        "URL '%s' has a '/' or '?' before its last '@': in a user or a password write %%2F or %%3F for them, elsewhere %%40 for '@'",
        url_public(text, shown, sizeof shown));
}

/* Copies len bytes with %XX undone. Returns NULL, or what is wrong. */
static const char *unescape(char *out, size_t size, const char *from, size_t len) {
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        char c = from[i];
        if (c == '%') {
            if (i + 2 >= len || hex_value(from[i + 1]) < 0 || hex_value(from[i + 2]) < 0)
                return "two hexadecimal digits must follow a '%'; write %25 for the sign itself";
            c = (char)(hex_value(from[i + 1]) * 16 + hex_value(from[i + 2]));
            i += 2;
        }
        if (c == '\0') return "no part may contain a zero byte";
        if (used + 1 >= size) return "a part of it is too long";
        out[used++] = c;
    }
    out[used] = '\0';
    return NULL;
}

/* Reads the digits of a port. Returns NULL, or what is wrong. */
static const char *parse_port(const char *port, const char *end, int *ret_port) {
    static const char wrong[] = "a port must be a number from 1 to 65535";
    long value = 0;
    if (port == end || end - port > 5) return wrong;
    for (const char *c = port; c < end; c++) {
        if (!isdigit((unsigned char)*c)) return wrong;
        value = value * 10 + (*c - '0');
    }
    if (value < 1 || value > 65535) return wrong;
    *ret_port = (int)value;
    return NULL;
}

/* Finds the end of a host, and the port behind it (NULL = none). Returns NULL, or what is wrong. */
static const char *split_host(const char **host, const char *end, const char **ret_host_end,
                              const char **ret_port) {
    const char *from = *host, *host_end;
    *ret_port = NULL;
    if (from < end && *from == '[') { /* [::1]:port */
        *host = from + 1;
        host_end = memchr(from, ']', (size_t)(end - from));
        if (!host_end) return "an address that begins with '[' must end with ']'";
        if (host_end + 1 < end && host_end[1] != ':') return "only ':' and a port may follow a ']'";
        if (host_end + 1 < end) *ret_port = host_end + 2;
    } else {
        host_end = memchr(from, ':', (size_t)(end - from));
        if (host_end && memchr(host_end + 1, ':', (size_t)(end - host_end - 1)))
            return "an address of IPv6 must stand in brackets, [::1]:PORT";
        if (host_end) *ret_port = host_end + 1;
        if (!host_end) host_end = end;
    }
    *ret_host_end = host_end;
    return host_end == *host ? "a host is missing" : NULL;
}

static const char *parse_host(struct url *url, const char *from, size_t len, int default_port) {
    int index = url->host_count;
    const char *host = from, *end = from + len, *host_end, *port;
    if (index == URL_HOSTS_MAX) return "it has too many hosts";
    const char *wrong = split_host(&host, end, &host_end, &port);
    if (!wrong)
        wrong =
            unescape(url->host[index], sizeof url->host[index], host, (size_t)(host_end - host));
    url->port[index] = default_port;
    if (!wrong && port) wrong = parse_port(port, end, &url->port[index]);
    if (!wrong) url->host_count++;
    return wrong;
}

/* Reads user:password before an '@'. Returns NULL, or what is wrong. */
static const char *parse_account(struct url *url, const char *start, const char *at) {
    const char *split = memchr(start, ':', (size_t)(at - start)), *end = split ? split : at;
    const char *wrong = unescape(url->user, sizeof url->user, start, (size_t)(end - start));
    if (wrong || !split) return wrong;
    return unescape(url->password, sizeof url->password, split + 1, (size_t)(at - split - 1));
}

/* Returns NULL, or what is wrong. */
static const char *parse(struct url *url, const char *text, int default_port) {
    const char *colon = strstr(text, "://"), *wrong = NULL;
    if (!colon || colon == text) return "it does not begin with scheme://";
    if ((size_t)(colon - text) >= sizeof url->scheme) return "a part of it is too long";
    memcpy(url->scheme, text, (size_t)(colon - text));
    const char *start = colon + 3, *end = start + strcspn(start, "/?"),
               *at = memrchr(start, '@', (size_t)(end - start));
    if (at) wrong = parse_account(url, start, at);
    if (at) start = at + 1;
    while (start <= end && !wrong) {
        const char *comma = memchr(start, ',', (size_t)(end - start));
        const char *stop = comma ? comma : end;
        wrong = parse_host(url, start, (size_t)(stop - start), default_port);
        start = stop + 1;
    }
    if (!wrong && *end == '/')
        wrong = unescape(url->path, sizeof url->path, end + 1, strcspn(end + 1, "?"));
    return wrong;
}

int url_read(struct url *ret_url, const char *text, int default_port, struct lb_err *err) {
    struct url url = {0};
    if (url_check(text, err) != 0) return -1;
    const char *wrong = parse(&url, text, default_port);
    if (wrong) {
        char shown[256];
        return err_set(err, LB_EXIT_USAGE, "URL '%s': %s", url_public(text, shown, sizeof shown),
                       wrong);
    }
    *ret_url = url;
    return 0;
}

int url_parse(struct url *ret_url, const char *text, int default_port, struct lb_err *err) {
    struct url url;
    char shown[256];
    if (url_read(&url, text, default_port, err) != 0) return -1;
    const char *at = strrchr(text, '@'),
               *unread = strpbrk(at ? at : text, "?#"); /* a password may have a '#' */
    if (unread)
        return err_set(err, LB_EXIT_USAGE,
                       "URL '%s': the text behind '%c' is not used: leave it out",
                       url_public(text, shown, sizeof shown), *unread);
    *ret_url = url;
    return 0;
}

/* Whether a host of a URL means this machine on every machine. */
static bool is_local(const char *host) {
    struct in_addr v4;
    struct in6_addr v6;
    if (host[0] == '/' || strcasecmp(host, "localhost") == 0) return true;
    if (inet_pton(AF_INET, host, &v4) == 1) {
        uint32_t address = ntohl(v4.s_addr);
        return address >> 24 == 127 || address == INADDR_ANY;
    }
    if (inet_pton(AF_INET6, host, &v6) != 1) return false;
    bool mapped = IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127;
    return mapped || IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6);
}

bool url_is_local(const char *text) {
    struct url url;
    struct lb_err unread = {0};
    if (url_read(&url, text, 1, &unread) != 0) return false;
    for (int i = 0; i < url.host_count; i++) {
        if (is_local(url.host[i])) return true;
    }
    return false;
}
