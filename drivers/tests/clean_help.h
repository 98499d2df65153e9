/* clean_help: what the tests of a guest on a server share: the server asked by its own tools. Header only, since each
 * test is one program. */
#ifndef DRIVERS_TESTS_CLEAN_HELP_H
#define DRIVERS_TESTS_CLEAN_HELP_H

#include "bench/tests/cli_help.h"
#include "drivers/tests/live_help.h"

/* Speaks to the server's port by hand: sends these lines and prints the answer, up to a line. */
#define SAY_THERE(lines, last)                                                                     \
    "printf '" lines "' >&3; timeout 20 sed -E '/" last "/q' <&3 | tr -d '\\r'"
#define SAY(lines, last) "exec 3<>/dev/tcp/127.0.0.1/$PORT; " SAY_THERE(lines, last)

/* The login is a "set" of any key. The secret has 32 characters. metadump must come alone. */
#define MEMCACHED(lines, last)                                                                     \
    "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'set login 0 0 42\\r\\nlockbench '$SECRET'\\r\\n' "  \
    ">&3; read -r -u 3; " SAY_THERE(lines, last)

static inline void set_ports(const struct topo *topo) {
    char ports[200] = "", port[16];
    for (int node = 0; node < topo_about(topo)->nodes; node++) {
        snprintf(port, sizeof port, "%d", topo_port(topo, node, 0));
        if (node == 0) setenv("PORT", port, 1);
        strcat(strcat(ports, port), " ");
    }
    setenv("PORTS", ports, 1);
    setenv("SECRET", topo_about(topo)->secret, 1);
    topo_login(topo);
}

/* What bash prints for a script that knows the server's $PORT, $PORTS, $URL, $SECRET or $DIR. To be
 * freed. */
static inline char *shell_at(const char *script) {
    static char room[1 << 16];
    setenv("SCRIPT", script, 1);
    FILE *out = popen("bash -c \"$SCRIPT\" 2>&1", "r");
    assert_non_null(out);
    size_t len = fread(room, 1, sizeof room - 1, out);
    pclose(out);
    room[len] = '\0';
    return strdup(room);
}

static inline char *shell(const struct live_place *live, const char *script) {
    if (live->place) {
        set_ports(live->place->topo);
        setenv("URL", live->place->urls[0], 1);
    }
    return shell_at(script);
}

static inline char *backend_url(const char *backend, const struct live_place *live) {
    static char text[700];
    snprintf(text, sizeof text, "%s=%s", backend, live->place->urls[0]);
    return text;
}

static inline void clean_url(const char *url) {
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", url));
    assert_code(&cli, 0);
}

#endif
