/* perf_crowd: thousands of clients, on one lock and on a lock each: do they connect and drain, in how many processes,
 * and how much memory do these hold together? It runs the program itself. `perf crowd LOCK` runs the rows of one
 * lock. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/home.h"
#include "bench/perf/perf.h"
#include "bench/perf/resident.h"
#include "bench/perf/theirs.h"

#define CROWD_SETS 4
#define GIVE_UP "acquire.mode=timed", "acquire.timeout=10s"

struct crowd {
    const char *lock;
    int clients;
    const char *keys;
    const char *sets[CROWD_SETS]; /* more settings; NULL = none */
};

/* The processes of a run's only stage, and how long it took by its own account. */
static int read_stage(const char *out, double *ret_processes, double *ret_seconds,
                      struct lb_err *err) {
    char path[96];
    double warmup_s, duration_s, drain_s;
    snprintf(path, sizeof path, "%s/run.json", out);
    json_t *run = json_load_file(path, 0, NULL);
    int failed =
        json_unpack(run, "{s:[{s:F, s:F, s:F, s:F}]}", "stages", "processes", ret_processes,
                    "warmup_s", &warmup_s, "duration_s", &duration_s, "drain_s", &drain_s);
    json_decref(run);
    if (failed) return err_set(err, LB_EXIT_MACHINE, "%s: not as expected", path);
    *ret_seconds = warmup_s + duration_s + drain_s;
    return 0;
}

static int run_crowd(const char *program, const struct crowd *crowd, const char *out,
                     struct lb_err *err) {
    char clients[40], keys[40];
    int count = perf_clients(crowd->clients);
    snprintf(clients, sizeof clients, "load.clients=%d", count);
    snprintf(keys, sizeof keys, "load.keys=%s", crowd->keys);
    const char *argv[32] = {program,           "run",   "smoke",         "--lock", crowd->lock,
                            "--set",           clients, "--set",         keys,     "--set",
                            "run.duration=5s", "--set", "run.drain=60s", "--out",  out,
                            "--no-page",       NULL};
    for (int i = 0, at = 16; i < CROWD_SETS && crowd->sets[i]; i++) {
        argv[at++] = "--set";
        argv[at++] = crowd->sets[i];
    }
    static struct theirs theirs;
    double processes, seconds;
    struct resident *resident = resident_watch(program, err);
    int64_t begin_ns = lb_now();
    int failed = resident ? theirs_run(&theirs, argv, err) : -1;
    int64_t most_kb = resident_most_kb(resident);
    if (failed) return -1;
    double took_s = (double)(lb_now() - begin_ns) / 1e9;
    if (theirs.code != 0)
        return err_set(err, LB_EXIT_MACHINE, "%d clients of %s: exit code %d: %.300s", count,
                       crowd->lock, theirs.code, theirs.text);
    if (read_stage(out, &processes, &seconds, err) != 0) return -1;
    printf(
        "%6d clients of %-13s keys=%-4s %2.0f processes; %4.0f MB resident of ours; %4.1f s beside the load   "
        "goal: clean; at most 1024 MB; connected within 20 s\n",
        count, crowd->lock, crowd->keys, processes, (double)most_kb / 1024, took_s - seconds);
    fflush(stdout);
    return 0;
}

int perf_crowd(struct lb_err *err) {
    /* Thousands of clients that poll one key must poll seldom, or the server has no time for the holder. If each
     * release wakes all waiters, or costs time for each of them, a server needs many seconds for an answer, and not
     * all of thousands can be granted the key: they give up after 10 s. Each acquire of etcd-mutex has the server read
     * and sort the keys of all waiters: with 3,000 of them etcd refuses requests that have waited for 7 s. */
    static const struct crowd crowds[] = {
        {"redis-setnx", 2000, "1", {NULL}},
        {"redis-setnx", 2000, "own", {NULL}},
        {"redis-setnx", 20000, "1", {"redis-setnx.poll_max=10s"}},
        {"redis-setnx", 20000, "own", {NULL}},
        {"memcached-add", 20000, "1", {"memcached-add.poll_max=10s"}},
        {"memcached-add", 20000, "own", {NULL}},
        {"nats-kv", 20000, "1", {"nats-kv.poll=60s", "nats.command_timeout=60s", GIVE_UP}},
        {"nats-kv", 20000, "own", {NULL}},
        {"zk-lock", 5000, "1", {NULL}},
        {"zk-lock", 5000, "own", {NULL}},
        {"etcd-mutex", 2000, "1", {"etcd.command_timeout=60s", GIVE_UP}},
        {"etcd-mutex", 5000, "own", {NULL}},
    };
    char program[512];
    int failed = 0;
    if (home_path("lockbench", program, sizeof program, err) != 0) return -1;
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        char out[] = "/tmp/lockbench-crowd-XXXXXX";
        struct lb_err why = {0};
        static struct theirs gone;
        if (perf_only && strcmp(perf_only, crowds[i].lock) != 0) continue;
        if (!mkdtemp(out)) return err_set(err, LB_EXIT_MACHINE, "cannot make %s", out);
        if (run_crowd(program, &crowds[i], out, &why) != 0) {
            printf("%s\n", why.text);
            failed = err_set(err, LB_EXIT_MACHINE, "see above");
        }
        const char *const rm[] = {"rm", "-rf", out, NULL};
        theirs_run(&gone, rm, &(struct lb_err){0});
    }
    return failed;
}
