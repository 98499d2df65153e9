/* Mistakes on the command line and in files: each gives one line on standard error, nothing on
 * standard output and the right exit code, and starts nothing. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"
#include "drivers/registry.h"

struct mistake {
    const char *args[10]; /* ends with NULL */
    int code;
    const char *says[4]; /* parts of the line */
};

static void assert_one_line(const struct cli *cli, const struct mistake *mistake) {
    char shown[200] = "";
    for (int i = 0; mistake->args[i]; i++) {
        size_t used = strlen(shown);
        snprintf(shown + used, sizeof shown - used, " %s", mistake->args[i]);
    }
    if (cli->code != mistake->code || *cli->out || strncmp(cli->err, "lockbench: ", 11) != 0 ||
        cli_lines(cli->err) != 1) {
        fail_msg("lockbench%s: exit code %d (not %d), prints: %s, says: %s", shown, cli->code,
                 mistake->code, cli->out, cli->err);
    }
    for (int i = 0; i < 4 && mistake->says[i]; i++) {
        if (!strstr(cli->err, mistake->says[i]))
            fail_msg("lockbench%s: no '%s' in: %s", shown, mistake->says[i], cli->err);
    }
}

static void check(const struct mistake *mistakes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct cli cli = cli_run(NULL, mistakes[i].args);
        assert_one_line(&cli, &mistakes[i]);
    }
    char *results = cli_path("home/results");
    assert_int_not_equal(access(results, F_OK), 0); /* not even a folder was made */
}
#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const struct mistake mistakes[] = {__VA_ARGS__};                                    \
        check(mistakes, sizeof mistakes / sizeof *mistakes);                                       \
    } while (0)

TEST(an_unknown_name_gets_the_nearest) {
    CHECK(
        {{"rum"}, 1, {"unknown command 'rum'", "did you mean 'run'"}},
        {{"help", "capcity"}, 1, {"unknown command 'capcity'", "did you mean 'capacity'"}},
        {{"run", "smok"}, 1, {"no workload 'smok'", "did you mean 'smoke'", "compare"}},
        {{"run", "smoke", "--lock", "redis-setnxx"}, 1, {"no lock", "did you mean 'redis-setnx'"}},
        {{"run", "smoke", "--lock", "sim,mem-mutx"}, 1, {"no lock 'mem-mutx'", "'mem-mutex'"}},
        {{"run", "smoke", "--think", "8"}, 1, {"--think", "--set load.think=VALUE"}},
        {{"run", "smoke", "--lokc", "sim"}, 1, {"--lokc", "did you mean '--lock'", "run --help"}},
        {{"run", "smoke", "--set", "load.clinets=1"},
         1,
         {"load.clinets", "did you mean 'clients'"}},
        {{"run", "smoke", "--set", "lod.clients=1"}, 1, {"[lod]", "did you mean 'load'"}},
        {{"run", "smoke", "--set", "sim.servce=1ms"}, 1, {"sim.servce", "did you mean 'service'"}},
        {{"run", "smoke", "--url", "redsi=@file"}, 1, {"'redsi'", "did you mean 'redis'"}},
        {{"list", "redsi-setnx"}, 1, {"'redsi-setnx'", "did you mean 'redis-setnx'"}},
        {{"up", "reddis"}, 1, {"no topology 'reddis'", "did you mean 'redis'"}},
        {{"up", "--durabilty", "none"}, 1, {"did you mean '--durability'"}},
        {{"report", "--htlm"}, 1, {"did you mean '--html'"}},
        {{"doctor", "--jsno"}, 1, {"did you mean '--json'"}});
}

/* The values of a file are read by the same code: test_plan and test_shape test more of them. */
TEST(a_number_out_of_range_is_told_what_is_allowed) {
    CHECK(
        {{"run", "smoke", "--set", "load.clients=0"}, 1, {"load.clients", "1 to 2000000"}},
        {{"run", "smoke", "--set", "run.duration=5"}, 1, {"run.duration", "ms"}},
        {{"run", "smoke", "-c", "0"}, 1, {"run: --clients", "1 to 2000000"}},
        {{"run", "smoke", "-d", "5"}, 1, {"run: --time", "'5' lacks its unit"}},
        {{"run", "smoke", "--rate", "fast"}, 1, {"run: --rate", "a number a second: 40/s"}},
        {{"run", "smoke", "--quiet", "--full"}, 1, {"--quiet and --full at once"}},
        {{"run", "smoke", "--metrics", "x"}, 1, {"removed in 0.2.0: --prometheus FILE"}},
        {{"check", "sim", "--seeds", "1..2"}, 1, {"removed in 0.2.0: --seed A..B"}},
        {{"plan", "--table"}, 1, {"removed in 0.2.0: the table is what is printed"}},
        {{"run", "smoke", "--quiet", "--repeat", "2"}, 1, {"--quiet", "show one run"}},
        {{"run", "smoke", "--set", "servers.durability=paper"}, 1, {"servers.durability", "none"}});
}

TEST(what_is_left_out_or_too_much_is_named) {
    CHECK(
        {{"run", "smoke", "redis-setnxx"}, 1, {"no lock", "did you mean 'redis-setnx'"}},
        {{"run", "smoke", "--lock", "sim", "--slo", ""}, 1, {"--slo: "}},
        {{"run", "smoke", "--lock", "sim", "--slo", "stuck<=0,"}, 1, {"--slo: "}},
        {{"run", "smoke", "--lock", "sim", "--slo", "acquire_due.p99<=1ms"},
         1,
         {"a closed loop has no due times"}},
        {{"run", "--out"}, 1, {"--out DIR"}}, {{"run", "--out", ""}, 1, {"--out"}},
        {{"run", "smoke", "--set", "clients"}, 1, {"SECTION.KEY"}},
        {{"run", "smoke", "--lock", ""}, 1, {"lock's name is missing"}},
        {{"run", "smoke", "--lock", "sim,,null"}, 1, {"lock's name is missing"}},
        {{"run", "smoke", "--dry-run=yes"}, 1, {"takes no value"}},
        {{"list", "a", "b"}, 1, {"one name at a time"}},
        {{"list", "--table", "--json"}, 1, {"--table and --json at once"}},
        {{"list", "--key", "k"}, 1, {"--key needs one lock"}},
        {{"list", "mem-mutex", "--key", "k"}, 1, {"no other program can reach"}},
        {{"list", "redis-setnx", "--key", ""}, 1, {"list: --key: a key's name has 1 to 95"}},
        {{"list", "redis-setnx", "--key", "a,b"}, 1, {"has no comma"}},
        {{"list", "redis-setnx", "--lease", "10s"}, 1, {"removed in 0.2.0"}},
        {{"run", "smoke", "--lock", "mem-mutex", "--key", "orders,7"}, 1, {"has no comma"}},
        {{"run", "smoke", "--lock", "mem-mutex", "--key", ""}, 1, {"run: --key: a key's name has"}},
        {{"run", "smoke", "--lock", "mem-mutex", "--key", "k", "--key", " a"},
         1,
         {"run: --key: ' a': a key's name has no blank at an end"}},
        {{"clean", "--url", "redis=redis://h:1", "--key", "a,b"}, 1, {"clean: --key: 'a,b'"}},
        {{"clean", "--url", "redis=redis://h:1", "--set", "redis.tls_cq=x"},
         1,
         {"redis has no such option, did you mean 'tls_ca'?"}},
        {{"clean", "--url", "redis=redis://h:1", "--set", "etcd.tls_ca=x"},
         1,
         {"--set etcd.tls_ca: there is no --url etcd=URL"}},
        {{"doctor", "--url", "redis=redis://h:1", "--set", "rediss.tls_ca=x"},
         1,
         {"no section [rediss], did you mean 'redis'?"}},
        {{"doctor", "pg-row", "--url", "redis=redis://h:1"}, 1, {"--url postgres=URL"}},
        {{"hold", "file-flock", "a ", "--url", "file:///tmp", "--", "true"}, 1, {"no blank"}},
        {{"hold", "file-flock"}, 1, {"a key is missing"}},
        {{"hold", "file-flock", "k"}, 1, {"a command is missing"}},
        {{"hold", "fil-flock", "k", "--", "true"}, 1, {"did you mean 'file-flock'"}},
        {{"hold", "file-flock", "k", "--", "true"}, 1, {"--url file://"}},
        {{"hold", "mem-mutex", "k", "--", "true"}, 1, {"no other program can meet"}},
        {{"hold", "file-flock", "a,b", "--url", "file:///tmp", "--", "true"}, 1, {"no comma"}},
        {{"hold", "file-flock", "k", "--url", "redis://h", "--", "true"}, 1, {"file://"}},
        {{"hold", "etcd-mutex", "k", "--url", "somewhere", "--", "true"}, 1, {"nor BACKEND=URL"}},
        {{"hold", "redis-setnx", "k", "--url", "etcd=etcd://h", "--", "true"},
         1,
         {"--url is of etcd, but redis-setnx is a lock of redis: --url redis://"}},
        {{"run", "smoke", "--lock", "mem-mutex", "--set", "acquire.readers=50"}, 1, {"'shared'"}},
        {{"run", "crash", "--lock", "mem-mutex", "--set", "load.processes=1"},
         1,
         {"load.processes"}},
        {{"doctor", "me"}, 1, {"no lock 'me'"}},
        {{"check", "mem-mutex", "--dry-run", "--json"}, 1, {"check: --dry-run prints text"}},
        {{"check", "pg-advisory", "--url", "redis=redis://h:1"}, 1, {"--url postgres=URL"}},
        {{"check", "file-flock", "--url", "redis=redis://h:1"}, 1, {"needs a server of yours"}},
        /* once, and not from each cell */
        {{"check", "redis-setnx", "--url", "redis=redis://127.0.0.1:1"},
         2,
         {"check: redis at 127.0.0.1:1"}},
        {{"check", "redis-setxn"}, 1, {"did you mean 'redis-setnx'"}},
        {{"check", "mem-mutex", "--fault", "conformance", "--set", "mem-mutex.nonsense=1"},
         1,
         {"mem-mutex.nonsense"}},
        {{"check", "/"}, 1, {"/ has no history", "check.history = yes"}},
        {{"check", "/", "mem-mutex"}, 1, {"'mem-mutex' is none"}},
        {{"check", "/", "--full"}, 1, {"without options"}},
        {{"compare", "a", "b", "--no-page", "--out", "p.html"}, 1, {"compare: --no-page", "--out"}},
        {{"compare", "a", "b", "--no-page", "--out", "x"}, 1, {"compare: --no-page", "--out"}},
        {{"compare", "a", "b", "--junit"}, 1, {"unknown option --junit, removed in 0.2.0: --md"}},
        {{"report", "/nonexistent"}, 1, {"/nonexistent", "run.json"}},
        {{"run", "smoke", "--url", "redis"}, 1, {"write redis=redis://HOST:PORT", "BACKEND=URL"}},
        {{"run", "smoke", "--url", "file"}, 1, {"write file=file:///FOLDER"}},
        {{"run", "smoke", "--url", "10.0.0.5:2379"}, 1, {"nor BACKEND=URL", "BACKEND=@FILE"}},
        {{"run", "smoke", "--url", "etcd=h:2379"},
         1,
         {"begins with etcd://", ", for example etcd=etcd://HOST:PORT"}},
        {{"run", "smoke", "--url", "redis=http://h"},
         1,
         {"begins with redis://", ", rediss+independents://"}},
        {{"run", "smoke", "--url", "sim=sim://h"}, 1, {"'sim'"}},
        {{"run", "/nonexistent.ini"}, 1, {"/nonexistent.ini", "No such file"}},
        {{"run", "/tmp/"}, 1, {"/tmp/"}});
}

/* A lock that needs five servers is not sent to one. */
TEST(a_url_of_other_servers_is_no_use) {
    need(!lb_unavailable(registry_backend("redis")), "the redis backend", "libhiredis-dev");
    CHECK({{"run", "smoke", "--lock", "redis-redlock", "--url", "redis=redis://127.0.0.1:1"},
           2,
           {"redis-redlock can't run", "redis+independents://"}});
    struct cli cli = cli_run(
        NULL, (const char *const[]){"run", "smoke", "--lock", "redis-redlock", "--dry-run", "--url",
                                    "redis=redis+independents://127.0.0.1:1", NULL});
    assert_int_equal(cli.code, 0);
}

/* A named lock that can't run here is an error that says what to install; "all" leaves it out and
 * says so. */
TEST(a_missing_server_is_named_with_its_package) {
    char *home = cli_path("bare"), *compose = cli_path("bare/compose"),
         *local = cli_path("bare/compose/local");
    char from[PATH_MAX + 20], env[400];
    snprintf(from, sizeof from, "%s/workloads", cli_root);
    snprintf(env, sizeof env, "LOCKBENCH_HOME=%s", home);
    assert_int_equal(mkdir(home, 0755) | mkdir(compose, 0755) | mkdir(local, 0755), 0);
    assert_int_equal(symlink(from, cli_path("bare/workloads")), 0);
    for (int i = 0; registry_backends()[i]; i++) {
        const char *const *topologies = registry_backends()[i]->topologies;
        const char *topology = topologies ? topologies[0] : NULL;
        if (!topology) continue;
        char *path = cli_path("bare/compose/local/%s", topology);
        cli_write(
            path,
            "echo 'summary=a server\nmissing=frobnicated\ninstall=frobnicator-server\nnodes=1\nports=1\n"
            "url=tcp://127.0.0.1:%PORT%\ndurability_default=none\ndurability_none=none\n"
            "durability_class_default=memory\ndurability_class_none=memory'\n");
    }
    struct cli_how how = {.env = {env, "CI="}};
    struct mistake mistake = {{"run", "smoke", "--lock", "redis-setnx"},
                              2,
                              {"redis-setnx", "frobnicated", "frobnicator-server"}};
    if (!lb_unavailable(registry_backend("redis"))) {
        struct cli cli = cli_run(&how, mistake.args);
        assert_one_line(&cli, &mistake);
    }
    char *out = cli_path("bare-run");
    struct cli cli =
        cli_run(&how, ARGS("run", "smoke", "--out", out, "-c", "2", "-d", "50ms", "--hold", "1ms"));
    assert_code(&cli, 0);
    json_t *run = cli_result(out);
    bool found = false;
    json_t *skip;
    size_t index;
    json_array_foreach(cli_get(run, "skipped"), index, skip) {
        if (strcmp(cli_text_at(skip, "lock"), "redis-setnx") != 0) continue;
        found = true;
        if (lb_unavailable(registry_backend("redis"))) continue;
        assert_has(cli_text_at(skip, "reason"), "frobnicated");
        assert_string_equal(cli_text_at(skip, "install"), "frobnicator-server");
    }
    assert_true(found);
    /* The control, not chosen, was caught: no violation. */
    assert_string_equal(cli_text_at(run, "verdict"), "clean");
    int controls = 0;
    json_t *stage;
    json_array_foreach(cli_get(run, "stages"), index, stage) {
        if (!json_is_true(cli_get(stage, "control")) || cli_number_at(stage, "clients") < 2)
            continue;
        assert_string_equal(cli_text_at(stage, "exclusion.verdict"), "violated");
        controls++;
    }
    assert_true(controls > 0);
    assert_has(cli.out, "caught: unsafe-none");
    assert_true(json_is_false(cli_get(run, "partial")));
    json_decref(run);
    /* In CI whatever is left out is a failure. */
    static const char *const values[] = {"CI=true", "CI=1"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct cli_how job = {.env = {env, values[i]}};
        cli = cli_run(&job, ARGS("run", "smoke", "--lock", "sim,nats", "-c", "2", "-d", "50ms",
                                 "--hold", "1ms", "--out", cli_path("bare-ci-%zu", i)));
        assert_code(&cli, 2);
        assert_has(cli.err, "was left out");
        assert_int_equal(cli_problems(&cli), 1);
    }
}

/* A URL that can't be right ends the run before anything is started, though another lock could run. */
TEST(a_url_that_cannot_be_right_is_refused_at_once) {
    static const char *const urls[] = {"redis=redis://", "redis=redis://h:0",
                                       "redis=redis://h:99999", "etcd=http://", "nats=nats://h:x"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char *folder = cli_path("refused-%zu", i), lock[32];
        snprintf(lock, sizeof lock, "%s,null",
                 *urls[i] == 'r'   ? "redis-setnx"
                 : *urls[i] == 'e' ? "etcd-mutex"
                                   : "nats-kv");
        struct cli cli = cli_run(
            NULL, ARGS("run", "contended", "--lock", lock, "--url", urls[i], "--out", folder));
        assert_code(&cli, LB_EXIT_USAGE);
        assert_int_equal(cli_lines(cli.err), 1);
        assert_int_not_equal(access(folder, F_OK), 0);
    }
}

/* Who names a certificate has a server of his own, and this run would measure another one. */
TEST(a_certificate_needs_a_url) {
    CHECK({{"run", "smoke", "--lock", "redis-setnx", "--set", "redis.tls_ca=/etc/passwd"},
           LB_EXIT_USAGE,
           {"redis.tls_ca is set, but there is no --url redis=redis://", "servers.tls=yes"}});
}

/* A terminal would obey it. */
TEST(a_value_has_no_control_characters) {
    char *file = cli_path("control.ini");
    cli_write(file, "[workload]\nsummary = a \xc2\x9b"
                    "31m b\n");
    CHECK({{"run", "smoke", "--lock", "sim", "--dry-run", "--set", "workload.summary=a \033[31m b"},
           LB_EXIT_USAGE,
           {"--set workload.summary: a control character in the value"}});
    struct cli cli = cli_run(NULL, ARGS("run", file, "--lock", "sim", "--dry-run"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "control.ini:2: workload.summary: a control character in the value");
}

TEST(servers_for_other_hosts_have_no_certificates) {
    CHECK({{"run", "smoke", "--lock", "redis-setnx", "--set", "servers.tls=yes", "--set",
            "servers.listen=127.0.0.1"},
           LB_EXIT_USAGE,
           {"tls", "servers.listen is for other hosts: leave out one of the two"}});
}

TEST(zookeeper_has_no_tls_of_its_own) {
    CHECK({{"run", "smoke", "--lock", "zk-lock", "--url", "zookeeper=zookeepers://h", "--no-page"},
           LB_EXIT_USAGE,
           {"start a tunnel to the server"}});
}

/* A fault that can't act must not end in "clean". */
static int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part))) {
        count++;
        text += strlen(part);
    }
    return count;
}

/* Each server's trouble is told once, and the command that was put right may use the same folder. */
TEST(a_run_that_reached_no_server_leaves_its_folder_free) {
    char *out = cli_path("no-stage");
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx,memcached-add,redis-fenced",
                           "--url", "redis=redis://127.0.0.1:1", "--url",
                           "memcached=memcached://127.0.0.1:1", "--out", out));
    assert_true(cli.code != 0);
    assert_int_equal(count_of(cli.err, "lockbench: redis at 127.0.0.1:1"), 1);
    assert_int_equal(count_of(cli.err, "lockbench: memcached"), 1);
    assert_int_equal(cli_problems(&cli), 2);
    cli = cli_run(NULL, ARGS("report", out));
    assert_has(cli.err, "nothing was measured: redis at 127.0.0.1:1");
    const char *const again[] = {"run", "smoke", "--lock", "sim", "--no-page", "--out", out, NULL};
    cli = cli_run(NULL, again);
    assert_code(&cli, 0);
    cli = cli_run(NULL, again);
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "there is a run.json already");
}

TEST(faults_of_servers_are_refused_at_a_url) {
    static const char *const workloads[] = {"check/server-empty", "check/server-pause",
                                            "check/terminated"};
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        struct cli cli =
            cli_run(NULL, ARGS("run", workloads[i], "--lock", "redis-setnx", "--url",
                               "redis=redis://127.0.0.1:1", "--out", cli_path("no-fault-%zu", i)));
        assert_code(&cli, LB_EXIT_USAGE);
        assert_has(cli.err, "redis is at --url");
        assert_int_equal(cli_lines(cli.err), 1);
    }
}

/* In the words of the system, not in those of what a client library did next, and with the port. */
TEST(a_port_at_which_nobody_listens_is_told_as_that) {
    for (const struct lb_backend *const *backend = registry_backends(); *backend; backend++) {
        if (!(*backend)->schemes || !(*backend)->topologies || (*backend)->program_speaks ||
            lb_unavailable(*backend))
            continue;
        char url[120];
        snprintf(url, sizeof url, "%s=%s://u:p@127.0.0.1:1", (*backend)->name,
                 (*backend)->schemes[0]);
        struct cli cli = cli_run(NULL, ARGS("doctor", "--json", "--url", url));
        assert_code(&cli, 2);
        if (!strstr(cli.out, "refused") && !strstr(cli.out, "(111)"))
            fail_msg("%s: %s", url, cli.out);
        if (strstr(cli.out, "in time")) fail_msg("%s waited for nobody: %s", url, cli.out);
    }
}

/* ---- servers of one's own, of which none need be there ---- */

/* lockbench itself asks the server nothing: only the program can. */
TEST(a_program_at_a_url_is_measured) {
    char option[400], *program = cli_path("client"), *out = cli_path("by-program");
    cli_write(
        program,
        "#!/bin/sh\nwhile read -r line; do echo '{\"outcome\":\"ok\",\"lease\":9000}'; done\n");
    assert_int_equal(chmod(program, 0755), 0);
    snprintf(option, sizeof option, "exec.program=%s", program);
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "exec", "--set", option, "--set",
                           "load.clients=1", "--set", "run.duration=100ms", "--no-page", "--url",
                           "exec=redis://127.0.0.1:1", "--key", "orders/7", "--out", out));
    assert_code(&cli, 0);
    assert_has(cli.err, "will be made there: key, as the program is told orders/7");
    /* The command that removes it is one that works. */
    assert_has(cli.err, "`lockbench clean --url redis=redis://127.0.0.1:1 --key orders/7`");
}

TEST(a_server_is_not_cleaned_by_programs) {
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", "exec=rediss://127.0.0.1:1"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "exec: only the client program speaks to the server");
    assert_has(cli.err, "--url redis=URL");
}

/* Its user may believe that the figures are those of that server. The environment may have more than a run uses. */
TEST(a_url_that_no_lock_uses_is_refused) {
#define SHORT                                                                                      \
    "--lock", "null", "--set", "load.clients=1", "--set", "run.duration=100ms", "--no-page"
#define ETCD "etcd=etcd://127.0.0.1:1"
    const char *out = cli_path("no-effect");
    const char *const *const commands[] = {
        ARGS("run", "smoke", SHORT, "--url", ETCD, "--out", out),
        ARGS("run", "smoke", SHORT, "--url", ETCD, "--dry-run"),
        ARGS("capacity", "redis-setnx", "--url", ETCD, "--out", out)};
    static const char *const used[] = {"run: null", "run: null", "run: redis"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct cli cli = cli_run(NULL, commands[i]);
        assert_code(&cli, LB_EXIT_USAGE);
        assert_has(cli.err, "--url etcd=…: no lock that runs is of etcd; the backends of those");
        assert_has(cli.err, used[i]);
        assert_int_equal(cli_problems(&cli), 1);
    }
    setenv("LOCKBENCH_URL_ETCD", "etcd://127.0.0.1:1", 1);
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", SHORT, "--out", out));
    unsetenv("LOCKBENCH_URL_ETCD");
    assert_code(&cli, 0);
}

TEST_MAIN(cli_setup, cli_teardown)
