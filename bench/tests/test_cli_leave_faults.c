/* SIGKILL in the middle of each kind of fault: no stopped process, server, worker or wire is left,
 * and the measurements until then can be read.
 * Needs: servers, a minute. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* Of a run that is under way. */
struct under_way {
    struct cli *cli;
    const char *what; /* a command line's beginning */
    char state;       /* that such a process is in */
};

static bool process_is(void *arg) {
    const struct under_way *way = arg;
    DIR *dir = opendir("/proc");
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        char path[300], line[256] = "", its_state;
        pid_t parent, session;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !cli_is_ours(entry->d_name))
            continue;
        if (!cli_stat(entry->d_name, &parent, &its_state, &session) || parent != way->cli->pid)
            continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fread(line, 1, sizeof line - 1, file) > 0) {
            found = its_state == way->state && strncmp(line, way->what, strlen(way->what)) == 0;
        }
        if (file) fclose(file);
    }
    if (dir) closedir(dir);
    return found;
}

static bool no_server_runs(void *arg) {
    const struct under_way *way = arg;
    return cli_find(way->what, way->cli->pid, true) == 0;
}

/* One stage before it, so that there is something to be read. */
static void killed_in(const char *lock, const char *topology, const char *faults, const char *what,
                      char its_state) {
    static int number;
    char *file = cli_path("leave-%d.ini", number), *out = cli_path("leave-%d", number), text[900];
    number++;
    cli_need(topology);
    snprintf(text, sizeof text,
             "[load]\nclients = 2,4\nprocesses = 2\nkeys = 1\nhold = 20ms\n[acquire]\nlease = 10s\n"
             "[run]\nwarmup = 0\nduration = 1500ms\ndrain = 20s\n%s",
             faults);
    cli_write(file, text);
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", file, "--lock", lock, "--set", "run.repeat=1000", "--out", out));
    struct under_way way = {&cli, what, its_state};
    cli_until(&cli, cli_has_second, cli_path("leave-%d/001-%s-c4-r0.hlog", number - 1, lock),
              "the second stage");
    /* The fault of the stage after it, or of this one. */
    if (what) cli_until(&cli, its_state ? process_is : no_server_runs, &way, "the fault");
    cli_signal(&cli, SIGKILL, CLI_KILLED + SIGKILL);
    cli_assert_nothing_left();
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    assert_has(cli_text_at(run, "partial_reason"), "cut off");
    assert_true(json_array_size(cli_get(run, "stages")) >= 1);
    assert_true(json_array_size(cli_get(run, "stages.0.faults")) >= 1);
    cli = cli_ends(0, ARGS("report", out));
}

TEST(in_a_pause) {
    killed_in("redis-setnx", "redis",
              "[fault]\nkind = pause\ntarget = holder\nfirst = 100ms\nfor = 1200ms\n", "lockbench",
              'T');
}

TEST(in_a_servers_pause) {
    killed_in("redis-setnx", "redis", "[fault]\nkind = server-pause\nfirst = 100ms\nfor = 1200ms\n",
              "redis-server", 'T');
}

TEST(while_a_server_is_down) {
    killed_in("redis-setnx", "redis", "[fault]\nkind = server-kill\nfirst = 100ms\nfor = 1200ms\n",
              "redis-server", 0);
    killed_in("redis-setnx", "redis", "[fault]\nkind = server-empty\nfirst = 100ms\nfor = 1200ms\n",
              "redis-server", 0);
}

/* The wire is a process of its own: it goes too. */
TEST(on_the_wires) {
    killed_in("redis-setnx", "redis",
              "[fault]\nkind = wire-cut\ntarget = holder\nfirst = 100ms\nfor = 1200ms\n"
              "[fault.2]\nkind = wire-delay\ntarget = all\nby = 5ms\nfirst = 0\nfor = 0\n"
              "[fault.3]\nkind = wire-reset\ntarget = all\nfirst = 900ms\n"
              "[fault.4]\nkind = wire-drop\ntarget = all\nfirst = 300ms\n",
              NULL, 0);
}

TEST(between_a_primarys_death_and_a_promotion) {
    killed_in(
        "redis-setnx", "redis-replicas",
        "[servers]\ntopology = redis-replicas\n[fault]\nkind = wire-cut\ntarget = replication\n"
        "first = 50ms\nfor = 0\n[fault.2]\nkind = server-kill\ntarget = primary\nfirst = 100ms\n"
        "for = 0\n[fault.3]\nkind = promote\nfirst = 1s\n",
        NULL, 0);
}

TEST_MAIN(cli_setup, cli_teardown)
