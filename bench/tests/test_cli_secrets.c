/* test_cli_secrets: a password is in no output, in no file and in no list of processes, whatever characters
 * it has and wherever it was typed; and the ways to give a URL without typing it. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* The two halves of each secret. Between them: what ends parts of a URL, or of a shell's word. */
#define LEFT "Zq"
#define RIGHT "Wv"
static const char between[] = "/?#@: &%'\"\\=";

static void hides(const char *what, const char *text) {
    if (strstr(text, LEFT) || strstr(text, RIGHT)) fail_msg("%s shows it: %s", what, text);
}

TEST(no_verb_quotes_it) {
    static const char *const verbs[][3] = {{"run"},          {"run", "--lock"},
                                           {"run", "--set"}, {"check"},
                                           {"capacity"},     {"list"},
                                           {"up"},           {"plan"},
                                           {"report"},       {"compare"},
                                           {"history"},      {"doctor"},
                                           {"run", "--url"}, {NULL}};
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
        char url[64];
        snprintf(url, sizeof url, "redis://u:" LEFT "%c" RIGHT "@127.0.0.1:1",
                 between[v % (sizeof between - 1)]);
        const char *const words[] = {verbs[v][0], verbs[v][1], url, NULL}, *given[4];
        int count = 0;
        for (int i = 0; i < 3; i++) {
            if (words[i]) given[count++] = words[i];
        }
        given[count] = NULL;
        struct cli cli = cli_run(NULL, given);
        assert_int_not_equal(cli.code, 0);
        hides("standard output", cli.out);
        hides("standard error", cli.err);
    }
}

TEST(no_result_has_it) {
    for (const char *c = between; *c; c++) {
        char url[64];
        snprintf(url, sizeof url, "redis=redis://:" LEFT "%c" RIGHT "@127.0.0.1:1", *c);
        char *folder = cli_path("secret-%d", (int)(c - between)), path[500];
        struct cli cli = cli_run(
            NULL, ARGS("run", "contended", "--lock", "redis-setnx", "--url", url, "--out", folder));
        assert_int_not_equal(cli.code, 0);
        hides("standard output", cli.out);
        hides("standard error", cli.err);
        snprintf(path, sizeof path, "%s/run.json", folder);
        char *json = cli_text(path); /* none where the URL is refused before the run */
        assert_int_equal(strstr(json, "env:LOCKBENCH_URL_REDIS") != NULL, !strchr("/?%", *c));
        hides("run.json", json);
    }
}

/* What people type who forgot a part of the URL, or put the password in a wrong place. */
TEST(a_wrong_url_is_not_quoted) {
    char *rest = cli_text("bench/tests/secret_urls.txt");
    int number = 0;
    for (char *value; (value = strsep(&rest, "\n"));) {
        if (!*value || *value == '#') continue;
        number++;
        char *folder = cli_path("wrong-%d", number), path[PATH_MAX + 20], backend[32];
        snprintf(backend, sizeof backend, "%.*s", (int)strcspn(value, "=:"), value);
        const char *lock = strcmp(backend, "ZqWv@h") == 0 ? "redis" : backend;
        struct cli cli = cli_run(NULL, ARGS("run", "contended", "--lock", lock, "--url", value,
                                            "--no-page", "--out", folder));
        if (cli.code == 0) fail_msg("'%s' was taken", value);
        hides(value, cli.out);
        hides(value, cli.err);
        snprintf(path, sizeof path, "%s/run.json", folder);
        hides(value, cli_text(path));
    }
    assert_true(number > 30);
}

/* Whether a process' arguments have the secret. */
static bool arguments_show(const char *pid) {
    char path[300], text[8192];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0) close(fd);
    return len > 0 && (memmem(text, (size_t)len, LEFT, 2) || memmem(text, (size_t)len, RIGHT, 2));
}

static bool is_overwritten(void *arg) {
    const struct cli *cli = arg;
    char pid[32];
    snprintf(pid, sizeof pid, "%d", (int)cli->pid);
    return cli_is_ours(pid) && !arguments_show(pid);
}

/* Its own arguments are overwritten; those of its children never have it. */
TEST(no_list_of_processes_has_it) {
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "contended", "--lock", "sim,redis-setnx", "--against-set", "load.seed=7",
                   "--repeat", "1", "--set", "run.duration=300ms", "--set", "run.warmup=0", "--url",
                   "redis=redis://:" LEFT "/x" RIGHT "@127.0.0.1:1", "--out", cli_path("repeats")));
    cli_until(&cli, is_overwritten, &cli, "arguments without the secret");
    int looked = 0;
    for (siginfo_t ended = {0}; ended.si_pid == 0; cli_nap_ms(2)) {
        DIR *dir = opendir("/proc");
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !cli_is_ours(entry->d_name))
                continue;
            if (arguments_show(entry->d_name)) fail_msg("process %s shows it", entry->d_name);
            looked++;
        }
        closedir(dir);
        waitid(P_PID, (id_t)cli.pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    }
    cli_wait(&cli);
    assert_true(looked > 0);
    hides("standard error", cli.err);
}

TEST_MAIN(cli_setup, cli_teardown)
