/* cli_help: runs the program itself for the tests of its behaviour: arguments in, exit code and
 * both outputs out, always with a time limit. Header only, since each test is one program.
 *
 * The program is LOCKBENCH_PROGRAM, by default .build/release/lockbench. Everything that a test
 * leaves lies in one temporary folder: cli_home is a LOCKBENCH_HOME there (so results go there
 * too), TMPDIR is in it. */
#ifndef BENCH_TESTS_CLI_HELP_H
#define BENCH_TESTS_CLI_HELP_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/base/clock.h"
#include "bench/base/home.h"
#include "bench/base/verdict.h"
#include "bench/servers/folder.h"
#include "bench/servers/topo.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

#ifndef CLI_LIMIT_S
#define CLI_LIMIT_S 120 /* for any one run; sanitizers are slow */
#endif
#define CLI_ARGS_MAX 100
#define CLI_KILLED 1000 /* cli.code: + the signal's number */

static char cli_program[PATH_MAX], cli_root[PATH_MAX]; /* the program; the project's folder */
static char cli_folder[128], cli_home[160], cli_temp[160];
static int cli_number;

struct cli {
    pid_t pid;
    int code; /* the exit code; CLI_KILLED + signal */
    char out_path[200], err_path[200];
    char *out, *err; /* all that it printed; after cli_wait */
};

/* The differences from a usual run of the program; zeroed = none. */
struct cli_how {
    const char *env[6]; /* "NAME=VALUE", then NULL */
    /* in the child, before the program: limits and the like; may be NULL */
    void (*prepare)(void *);
    void *arg;
    const char *cwd;     /* NULL: where the test runs */
    const char *program; /* NULL: cli_program */
    int terminal;        /* a terminal's fd to use as all three; 0: files */
    const char *out;     /* where standard output goes; NULL: a file that becomes cli.out */
};

#define ARGS(...)                                                                                  \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

static inline void cli_nap_ms(int ms) {
    lb_nap(ms * LB_MS_NS);
}

/* "<folder>/<name>" in the test's folder. Good until 63 others have been asked for. */
__attribute__((format(printf, 1, 2))) static inline char *cli_path(const char *format, ...) {
    static char paths[64][400];
    static int next;
    char name[200], *path = paths[next++ % 64];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    snprintf(path, sizeof paths[0], "%s/%s", cli_folder, name);
    return path;
}

/* What the runs printed and saved stays in memory: no test has to free it. */
static char *cli_texts[4000];
static size_t cli_text_count;
static json_t *cli_jsons;

static inline char *cli_keep(char *text) {
    assert_true(cli_text_count < sizeof cli_texts / sizeof *cli_texts);
    return cli_texts[cli_text_count++] = text;
}

/* A whole file as text; "" if it is not there. The caller frees. */
static inline char *cli_read(const char *path) {
    size_t room = 4096, used = 0, got;
    char *text = malloc(room);
    FILE *file = fopen(path, "re");
    while (file && (got = fread(text + used, 1, room - used - 1, file)) > 0) {
        used += got;
        if (room - used >= 2) continue;
        char *grown = realloc(text, room *= 2);
        if (!grown) abort();
        text = grown;
    }
    if (file) fclose(file);
    text[used] = '\0';
    return text;
}

/* The same, and no test has to free it. */
static inline char *cli_text(const char *path) {
    return cli_keep(cli_read(path));
}

static inline void cli_write(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A group's setup: finds the program, makes the folders. */
FIXTURE(cli_setup) {
    struct lb_err err = {0};
    const char *wanted = getenv("LOCKBENCH_PROGRAM");
    if (!realpath(wanted && *wanted ? wanted : ".build/release/lockbench", cli_program)) {
        fprintf(stderr, "no program to test: run make, or set LOCKBENCH_PROGRAM\n");
        return -1;
    }
    unsetenv("LOCKBENCH_HOME");
    if (home_path("", cli_root, sizeof cli_root, &err) != 0) return -1;
    if (folder_make(NULL, "cli-test", cli_folder, sizeof cli_folder, &err) != 0) return -1;
    chmod(cli_folder, 0755); /* servers that run as accounts of their own must get through */
    snprintf(cli_home, sizeof cli_home, "%s/home", cli_folder);
    snprintf(cli_temp, sizeof cli_temp, "%s/temp", cli_folder);
    mkdir(cli_home, 0755);
    mkdir(cli_temp, 01777);
    chmod(cli_temp, 01777);
    static const char *const links[] = {"workloads", "compose"};
    for (int i = 0; i < 2; i++) {
        char from[PATH_MAX + 20], to[200];
        snprintf(from, sizeof from, "%s/%s", cli_root, links[i]);
        snprintf(to, sizeof to, "%s/%s", cli_home, links[i]);
        if (symlink(from, to) != 0) return -1;
    }
    return 0;
}

/* The program for several hosts beside the program; "" where it was not built, since there is no MPI. */
static inline const char *cli_hosts_program(void) {
    static char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s-hosts", cli_program);
    return access(path, X_OK) == 0 ? path : "";
}

FIXTURE(cli_teardown) {
    return folder_remove(cli_folder);
}

static inline _Noreturn void cli_child(const struct cli *cli, const struct cli_how *how,
                                       const char *const *args) {
    char *argv[CLI_ARGS_MAX + 2] = {(char *)"lockbench"};
    for (int i = 0; i < CLI_ARGS_MAX && args[i]; i++) argv[i + 1] = (char *)args[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that failed leaves nobody behind */
    setenv("LOCKBENCH_HOME", cli_home, 1);
    setenv("TMPDIR", cli_temp, 1);
    /* With CI set, a run treats a missing server as an error; a test that wants this sets CI in
     * how->env. */
    unsetenv("CI");
    for (int i = 0; how->env[i]; i++) putenv((char *)how->env[i]);
    int in = how->terminal ? how->terminal : open("/dev/null", O_RDONLY);
    int out = how->terminal ? how->terminal
              : how->out    ? open(how->out, O_WRONLY)
                            : open(cli->out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err =
        how->terminal ? how->terminal : open(cli->err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (int fd = 3; fd < 256; fd++) close(fd);
    if (how->cwd && chdir(how->cwd) != 0) _exit(126);
    if (how->prepare) how->prepare(how->arg);
    execv(how->program ? how->program : cli_program, argv);
    _exit(127);
}

static inline void cli_start(struct cli *cli, const struct cli_how *how, const char *const *args) {
    static const struct cli_how usual;
    *cli = (struct cli){.code = -1};
    cli_number++;
    snprintf(cli->out_path, sizeof cli->out_path, "%s/%d.out", cli_folder, cli_number);
    snprintf(cli->err_path, sizeof cli->err_path, "%s/%d.err", cli_folder, cli_number);
    fflush(NULL);
    cli->pid = fork();
    assert_true(cli->pid >= 0);
    if (cli->pid == 0) cli_child(cli, how ? how : &usual, args);
}

static inline pid_t cli_find(const char *name, pid_t parent, bool leaders);

/* Waits for the end of the program. After CLI_LIMIT_S the program and all that it started are killed, and the test fails. */
static inline void cli_wait(struct cli *cli) {
    int64_t until_ns = lb_now() + CLI_LIMIT_S * LB_S_NS;
    int status;
    while (waitpid(cli->pid, &status, WNOHANG) == 0) {
        if (lb_now() > until_ns) {
            kill(cli->pid, SIGKILL);
            waitpid(cli->pid, &status, 0);
            pid_t left = 0;
            for (int i = 0; i < 100 && (left = cli_find("", 0, true)) > 0; i++, cli_nap_ms(10))
                kill(left, SIGKILL);
            fail_msg("not done after %d s; it said: %s", CLI_LIMIT_S, cli_read(cli->err_path));
        }
        cli_nap_ms(2);
    }
    cli->pid = 0;
    cli->code = WIFSIGNALED(status) ? CLI_KILLED + WTERMSIG(status) : WEXITSTATUS(status);
    cli->out = cli_text(cli->out_path);
    cli->err = cli_text(cli->err_path);
}

#define CLI_TRIES 3 /* of a run in whose short window the machine stood still */

/* Waits for the end of a run that was started with these arguments. A run in which nothing was granted is repeated,
 * because a machine that stands still for as long as the window leaves no time for a grant. A test that looks for the
 * message about it gets the message from the last try. */
static inline void cli_wait_granted(struct cli *cli, const struct cli_how *how,
                                    const char *const *args) {
    cli_wait(cli);
    for (int tries = 1; tries < CLI_TRIES; tries++) {
        if (!strstr(cli->err, VERDICT_NOTHING_GRANTED_WORDS)) return;
        for (int i = 0; args[i] && args[i + 1]; i++) {
            if (strcmp(args[i], "--out") == 0) folder_remove(args[i + 1]);
        }
        cli_start(cli, how, args);
        cli_wait(cli);
    }
}

static inline struct cli cli_run(const struct cli_how *how, const char *const *args) {
    struct cli cli;
    cli_start(&cli, how, args);
    cli_wait_granted(&cli, how, args);
    return cli;
}

/* The end of a long text, where the reasons stand; fail_msg takes about 1,000 bytes. */
static inline const char *cli_end(const char *text) {
    size_t length = strlen(text);
    return text + (length > 500 ? length - 500 : 0);
}

#define assert_code(cli, wanted)                                                                   \
    do {                                                                                           \
        if ((cli)->code != (wanted))                                                               \
            fail_msg("exit code %d, not %d; it said: %.400s\n...\n%s", (cli)->code, (wanted),      \
                     (cli)->err, cli_end((cli)->out));                                             \
    } while (0)

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part))) fail_msg("no '%s' in: %s", (part), (text));                   \
    } while (0)

#define assert_lacks(text, part)                                                                   \
    do {                                                                                           \
        if (strstr((text), (part))) fail_msg("'%s' in: %s", (part), (text));                       \
    } while (0)

static inline struct cli cli_ends_at(int code, const struct cli_how *how, const char *const *args,
                                     const char *file, int line) {
    struct cli cli = cli_run(how, args);
    if (cli.code == code) return cli;
    print_error("lockbench");
    for (int i = 0; args[i]; i++) print_error(" %s", args[i]);
    print_error("\nexit code %d, not %d; it said: %.400s\n...\n%s\n", cli.code, code, cli.err,
                cli_end(cli.out));
    _fail(file, line);
    return cli;
}

/* A run that must end with this code. */
#define cli_ends_with(code, how, args) cli_ends_at(code, how, args, __FILE__, __LINE__)
#define cli_ends(code, args) cli_ends_at(code, NULL, args, __FILE__, __LINE__)

/* Sends a signal, after which the program must end with this code. */
#define cli_signal(cli, number, code)                                                              \
    do {                                                                                           \
        kill((cli)->pid, number);                                                                  \
        cli_wait(cli);                                                                             \
        assert_code(cli, code);                                                                    \
    } while (0)

static inline int cli_lines(const char *text) {
    int lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

/* The number of problems that the program reported on standard error, a line for each. */
static inline int cli_problems(const struct cli *cli) {
    int count = 0;
    for (const char *at = cli->err; (at = strstr(at, "lockbench: ")); at++)
        count += at == cli->err || at[-1] == '\n';
    return count;
}

/* Waits, at most 60 s, until condition(arg) holds. Fails if it does not, or if the program ends
 * before. */
static inline void cli_until(struct cli *cli, bool (*condition)(void *), void *arg,
                             const char *what) {
    int64_t until_ns = lb_now() + 60 * LB_S_NS;
    while (!condition(arg)) {
        siginfo_t ended = {0};
        waitid(P_PID, (id_t)cli->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid == 0 && lb_now() < until_ns) {
            cli_nap_ms(5);
            continue;
        }
        kill(cli->pid, SIGKILL);
        waitpid(cli->pid, NULL, 0);
        fail_msg("never saw %s; it said: %s", what, cli_read(cli->err_path));
    }
}

static inline json_t *cli_json(const char *path) {
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json) fail_msg("%s:%d: %s", path, error.line, error.text);
    if (!cli_jsons) cli_jsons = json_array();
    json_array_append(cli_jsons, json);
    return json;
}

/* The run.json of a run's folder. */
static inline json_t *cli_result(const char *folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/run.json", folder);
    return cli_json(path);
}

/* A value by its path, "stages.0.outcomes.ok"; NULL if there is none. Borrowed. */
static inline json_t *cli_get(const json_t *json, const char *path) {
    char copy[200], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *name; json && (name = strsep(&rest, "."));) {
        json = json_is_array(json) ? json_array_get(json, strtoul(name, NULL, 10))
                                   : json_object_get(json, name);
    }
    return (json_t *)(uintptr_t)json;
}

static inline double cli_number_at(const json_t *json, const char *path) {
    const json_t *value = cli_get(json, path);
    if (!json_is_number(value)) fail_msg("%s is not a number", path);
    return json_number_value(value);
}

static inline const char *cli_text_at(const json_t *json, const char *path) {
    const char *text = json_string_value(cli_get(json, path));
    return text ? text : "(null)";
}

/* Each of the paths, which blanks separate, is there, if only as null. where: for the message. */
static inline void cli_assert_paths(const json_t *json, const char *paths, const char *where) {
    char *copy = strdup(paths), *rest = copy;
    for (char *path; (path = strsep(&rest, " "));) {
        if (!cli_get(json, path)) fail_msg("%s: no .%s", where, path);
    }
    free(copy);
}

/* Whether a process of /proc has the test's folder in its command line, environment or working
 * folder. */
static inline bool cli_is_ours(const char *pid) {
    static const char *const files[] = {"cmdline", "environ"};
    char path[300], text[16384];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%s/%s", pid, files[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
        if (fd >= 0) close(fd);
        if (len > 0 && memmem(text, (size_t)len, cli_folder, strlen(cli_folder))) return true;
    }
    snprintf(path, sizeof path, "/proc/%s/cwd", pid);
    ssize_t len = readlink(path, text, sizeof text - 1);
    return len > 0 && memmem(text, (size_t)len, cli_folder, strlen(cli_folder));
}

/* The parent, the state and the session of a process; false if it is gone. */
static inline bool cli_stat(const char *pid, pid_t *ret_parent, char *ret_state,
                            pid_t *ret_session) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    char *text = cli_read(path);
    const char *end = strrchr(text, ')');
    int group;
    bool there =
        end && sscanf(end + 1, " %c %d %d %d", ret_state, ret_parent, &group, ret_session) == 4;
    free(text);
    return there;
}

/* The first process of ours whose command line begins with `name`, below `parent` (0 = any); 0 if
 * there is none. leaders: include processes that lead a session of their own. (Whether a process
 * leads its session is all that the session's number can tell: the number is 0 if the leader is
 * outside of our PID namespace.) */
static inline pid_t cli_find(const char *name, pid_t parent, bool leaders) {
    DIR *dir = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        char path[300], line[1024] = "", state;
        pid_t its_parent, its_session;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !cli_is_ours(entry->d_name))
            continue;
        if (!cli_stat(entry->d_name, &its_parent, &state, &its_session) || state == 'Z') continue;
        if (parent && its_parent != parent) continue;
        if (!leaders && its_session == (pid_t)atoi(entry->d_name)) continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        if (read(fd, line, sizeof line - 1) > 0 && strncmp(line, name, strlen(name)) == 0)
            found = (pid_t)atoi(entry->d_name);
        close(fd);
    }
    if (dir) closedir(dir);
    return found;
}

/* A worker process of a run: the janitor is a child too, but in a session of its own. */
static inline pid_t cli_find_worker(const struct cli *cli) {
    return cli_find("lockbench", cli->pid, false);
}

/* For cli_until: whether a stage's .hlog has its first second, so that something has been
 * measured. */
static inline bool cli_has_second(void *hlog) {
    char *text = cli_read(hlog);
    bool has = strstr(text, "Tag=lag") != NULL;
    free(text);
    return has;
}

/* Waits, up to 20 s, until no process of ours and no temporary folder of the program's is left. */
static inline void cli_assert_nothing_left(void) {
    pid_t left = 0;
    char name[300] = "";
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; lb_now() < until_ns; cli_nap_ms(20)) {
        DIR *dir = opendir(cli_temp);
        name[0] = '\0';
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            struct stat of;
            char path[500];
            snprintf(path, sizeof path, "%s/%s", cli_temp, entry->d_name);
            if (entry->d_name[0] != '.' && stat(path, &of) == 0 && S_ISDIR(of.st_mode))
                snprintf(name, sizeof name, "%s", entry->d_name);
        }
        if (dir) closedir(dir);
        left = cli_find("", 0, true);
        if (!left && !name[0]) return;
    }
    fail_msg("left behind: process %d, folder '%s'", (int)left, name);
}

/* Skips the test loudly when a backend, of its topology's name, is missing here; in CI that is a
 * failure. */
static inline void cli_need(const char *topology) {
    struct topo_info info;
    struct lb_err err = {0};
    char folder[PATH_MAX + 20];
    snprintf(folder, sizeof folder, "%s/compose/local", cli_root);
    if (topo_info(folder, topology, &info, &err) != 0) fail_msg("%s", err.text);
    const struct lb_backend *backend = registry_backend(topology);
    const char *why = backend && lb_unavailable(backend) ? lb_unavailable(backend) : info.missing;
    const char *install = backend && lb_unavailable(backend) ? backend->install : info.install;
    if (*why) skip_for("%s: %s is missing: install %s", topology, why, install);
}

/* Runs a script: shell is "bash", in the PATH. PROGRAM is the program, ROOT the project's folder. */
static inline struct cli cli_shell(const char *shell, const char *script) {
    static char program[PATH_MAX + 20], root[PATH_MAX + 20];
    snprintf(program, sizeof program, "PROGRAM=%s", cli_program);
    snprintf(root, sizeof root, "ROOT=%s", cli_root);
    const struct cli_how how = {.program = "/usr/bin/env", .env = {program, root}};
    return cli_run(&how, ARGS(shell, "-c", script));
}

static inline bool cli_has_line(void *path) {
    char *text = cli_read(path);
    bool has = strchr(text, '\n') != NULL;
    free(text);
    return has;
}

/* Servers that run on their own, as a user's do, by `lockbench up`; `option` becomes "BACKEND=URL". End them
 * with cli_down. */
static inline void cli_up(struct cli *up, const char *topology, const char *backend, char *option,
                          size_t size) {
    cli_need(topology);
    char url[160];
    cli_start(up, NULL, ARGS("up", topology));
    cli_until(up, cli_has_line, up->out_path, "a URL");
    assert_int_equal(sscanf(cli_keep(cli_read(up->out_path)), "%*s %159s", url), 1);
    snprintf(option, size, "%s=%s", backend, url);
}

static inline void cli_down(struct cli *up) {
    kill(up->pid, SIGINT);
    cli_wait(up);
}

#endif
