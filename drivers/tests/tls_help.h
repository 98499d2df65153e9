/* tls_help: what the tests of encryption share: certificates, right and wrong; real servers started by a few
 * lines of shell; and a table of runs against them, each with the one line that it must end with. Header only,
 * since each test is one program. A program's teardown calls tls_teardown. */
#ifndef DRIVERS_TESTS_TLS_HELP_H
#define DRIVERS_TESTS_TLS_HELP_H

#include "bench/tests/check_help.h"
#include "bench/tests/servers_help.h"

#define TLS_SERVERS_MAX 6
#define TLS_SECRET "Secret1Word" /* in no output */
#define ACCOUNT "me:" TLS_SECRET "@"

#define SIGNED "tls_ca=ca.pem"
#define FILES SIGNED " tls_cert=client.pem tls_key=client.key"

/* What the names of tls.cases stand for. */
static const char *const tls_names[][2] = {
    {"SECRET", TLS_SECRET},
    {"ACCOUNT", ACCOUNT},
    {"SIGNED", "tls_ca=ca.pem"},
    {"OTHER_CA", "tls_ca=other-ca.pem"},
    {"CLIENT", " tls_cert=client.pem tls_key=client.key"},
    {"FILES", FILES},
    {"STRANGER", "tls_ca=ca.pem tls_cert=stranger.pem tls_key=stranger.key"},
    {"BOTH_VERIFIED", "\"tls_verified\": \"host name and authority\""},
    {"AUTHORITY_VERIFIED", "\"tls_verified\": \"authority\""},
    {"NOTHING_VERIFIED", "\"tls_verified\": \"nothing\""},
    {"CERTIFIED", "\"tls_client_certificate\": \"yes\""},
    {"ASKS_FOR_HOST", "write a host of the certificate"},
    {"NOT_SIGNED", "other-ca.pem (tls_ca) signed the server's certificate"},
};

static struct tls_server {
    pid_t pid;
    int port;
} tls_servers[TLS_SERVERS_MAX];

/* A text; good until 63 others have been asked for. */
__attribute__((format(printf, 1, 2))) static inline const char *tls_text(const char *format, ...) {
    static char texts[64][500];
    static int next;
    char *text = texts[next++ % 64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof texts[0], format, args);
    va_end(args);
    return text;
}

static inline int tls_free_port(void) {
    int port;
    close(loopback_listen(&port));
    return port;
}

/* Runs a script of bash in a process group of its own; it may use $DIR, $PORT, $PORT2, $CERTS and $CERT. */
static inline pid_t tls_spawn(const char *script, const char *dir) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    char log[500];
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(log, sizeof log, "%s.log", dir);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    execlp("bash", "bash", "-ec", script, (char *)NULL);
    _exit(127);
}

static inline void tls_variables(int index, const char *certificate) {
    char number[16];
    snprintf(number, sizeof number, "%d", tls_servers[index].port);
    setenv("PORT", number, 1);
    snprintf(number, sizeof number, "%d", tls_free_port());
    setenv("PORT2", number, 1);
    setenv("CERT", certificate, 1);
    setenv("CERTS", cli_path("certificates"), 1);
    setenv("DIR", cli_path("server%d", index), 1);
}

/* Runs a script to its end. */
static inline void tls_script(int index, const char *script) {
    int status;
    tls_variables(index, "");
    waitpid(tls_spawn(script, cli_path("server%d", index)), &status, 0);
    if (status != 0) fail_msg("%s: %s", script, cli_read(cli_path("server%d.log", index)));
}

static inline void tls_end(int index) {
    struct tls_server *server = &tls_servers[index];
    if (server->pid <= 0) return;
    kill(-server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

/* Starts a server, which the script execs, and waits until its port is open. Ends the one of this index before. */
static inline void tls_start(int index, const char *certificate, const char *script) {
    struct tls_server *server = &tls_servers[index];
    int64_t until_ns = lb_now() + 90 * LB_S_NS;
    int fd;
    tls_end(index);
    server->port = tls_free_port();
    mkdir(cli_path("server%d", index), 0755);
    tls_variables(index, certificate);
    server->pid = tls_spawn(script, cli_path("server%d", index));
    while ((fd = help_connect(server->port)) < 0) {
        if (waitpid(server->pid, NULL, WNOHANG) != 0 || lb_now() > until_ns)
            fail_msg("no server: %s", cli_read(cli_path("server%d.log", index)));
        cli_nap_ms(20);
    }
    close(fd);
}

/* PostgreSQL listens before it lets anybody in. */
static inline void tls_await_postgres(const char *url) {
    int64_t until_ns = lb_now() + 60 * LB_S_NS;
    bool starting = true;
    while (starting && lb_now() < until_ns) {
        struct cli cli = cli_run(NULL, ARGS("clean", "--dry-run", "--url", url));
        starting = strstr(cli.err, "starting up") != NULL;
    }
}

static inline int tls_setup(void **state) {
    char command[PATH_MAX + 500];
    if (cli_setup(state) != 0) return -1;
    mkdir(cli_path("certificates"), 0755);
    snprintf(command, sizeof command, "%s/compose/certificates %s wrong", cli_root,
             cli_path("certificates"));
    return system(command);
}

static inline int tls_teardown(void **state) {
    for (int i = 0; i < TLS_SERVERS_MAX; i++) tls_end(i);
    return cli_teardown(state);
}

/* Adds "--set backend.name=value" for each of sets. */
static inline int tls_sets(const char *backend, const char *sets, const char **args, int count) {
    char *copy = strdup(sets ? sets : ""), *rest = copy;
    for (char *word; (word = strsep(&rest, " "));) {
        const char *value = strchr(word, '=');
        if (!value) continue;
        bool file = strncmp(word, "tls_verify", 10) != 0;
        args[count++] = "--set";
        args[count++] = tls_text("%s.%.*s=%s%s", backend, (int)(value - word), word,
                                 file ? cli_path("certificates/") : "", value + 1);
    }
    free(copy);
    return count;
}

/* The next part of a line of tls.cases; NULL at its end. */
static inline char *tls_part(char **rest) {
    char *part = *rest, *end = part ? strstr(part, " | ") : NULL;
    if (end) *end = '\0';
    *rest = end ? end + strlen(" | ") : NULL;
    return part;
}

/* A case: a short contended run. */
static inline void tls_run(const char *backend, const char *lock, char *line) {
    char url[400], *name = tls_part(&line);
    int server = atoi(tls_part(&line)), used = snprintf(url, sizeof url, "%s=", backend);
    const char *format = tls_part(&line), *port = strstr(format, "%d");
    snprintf(url + used, sizeof url - (size_t)used, "%.*s%d%s", (int)(port - format), format,
             tls_servers[server].port, port + 2);
    const char *args[CLI_ARGS_MAX] = {
        "run",   "smoke",         "--lock",         lock,    "--url",
        url,     "--set",         "load.clients=4", "--set", "run.duration=500ms",
        "--out", cli_path("out"), "--no-page"};
    args[tls_sets(backend, tls_part(&line), args, 13)] = NULL;
    int code = atoi(tls_part(&line));
    folder_remove(cli_path("out")); /* of a case that failed */
    struct cli cli = cli_run(NULL, args);
    char *said = code == 0 ? cli_read(cli_path("out/run.json")) : strdup(cli.err);
    if (cli.code != code) fail_msg("%s: exit code %d, not %d: %s", name, cli.code, code, cli.err);
    if (code != 0 && cli_problems(&cli) != 1) fail_msg("%s: not one line: %s", name, cli.err);
    for (char *words; (words = tls_part(&line));)
        if (!strstr(said, words))
            fail_msg("%s: no '%s' in: %s", name, words, code ? said : "its run.json");
    if (strstr(said, TLS_SECRET) || strstr(cli.err, TLS_SECRET) || strstr(cli.out, TLS_SECRET))
        fail_msg("%s: the secret is shown", name);
    free(said);
}

/* The cases of a section of tls.cases. */
static inline void tls_play(const char *backend, const char *lock, const char *section) {
    char command[PATH_MAX + 200], *line = NULL;
    size_t size = 0;
    int played = 0;
    for (size_t i = 0; i < sizeof tls_names / sizeof *tls_names; i++)
        setenv(tls_names[i][0], tls_names[i][1], 1);
    snprintf(command, sizeof command,
             "eval \"cat <<END\n$(sed -n '/^== %s$/,/^$/p' %s/drivers/tests/tls.cases)\nEND\"",
             section, cli_root);
    FILE *cases = popen(command, "r");
    assert_non_null(cases);
    while (getline(&line, &size, cases) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (!strstr(line, " | ")) continue;
        tls_run(backend, lock, line);
        played++;
    }
    pclose(cases);
    free(line);
    assert_true(played > 1);
}

#define TLS_CONFORMS "conformance,wire-reset,wire-cut"

/* `check --url` with these scenarios, also those that act on connections: they lead through a wire, but the certificate is
 * the server's. url is by name. The conformance suite goes once over each implementation of TLS. */
static inline void tls_verify(const char *backend, const char *lock, int server, const char *url,
                              const char *sets, const char *faults) {
    char option[400];
    int used = snprintf(option, sizeof option, "%s=", backend);
    snprintf(option + used, sizeof option - (size_t)used, url, tls_servers[server].port);
    const char *args[CLI_ARGS_MAX] = {"check", lock,     "--url", option,  "--fault",
                                      faults,  "--jobs", "4",     "--out", cli_path("verified")};
    args[tls_sets(backend, sets, args, 10)] = NULL;
    folder_remove(cli_path("verified"));
    struct cli cli = cli_run(NULL, args);
    assert_code(&cli, 0);
    assert_null(strstr(cli.err, TLS_SECRET));
    json_t *check = check_result(cli_path("verified"));
    /* The exact verdicts after a reset and a cut are tested without TLS; here "safe" and "expired" will do. */
    const json_t *cell;
    size_t i;
    json_array_foreach(cli_get(check, "cells"), i, cell) {
        const char *fault = cli_text_at(cell, "fault");
        if (strncmp(fault, "wire", 4) != 0 || !strstr("safe expired", cli_text_at(cell, "verdict")))
            check_assert(check, lock, fault, "safe");
    }
    assert_true(i > 0);
    json_decref(check);
}

#endif
