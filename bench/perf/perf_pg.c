/* perf_pg: pg-advisory, each client with a key of its own, against pgbench with a script of the same two prepared
 * statements. Both use one thread, as many connections, and the same server. One transaction of pgbench is compared with
 * one acquire and release. A bare epoll loop (floor.h) beside them tells how much of the goals this machine's PostgreSQL
 * and kernel allow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/perf/floor.h"
#include "bench/perf/ours.h"
#include "bench/perf/perf.h"
#include "bench/perf/theirs.h"
#include "drivers/url.h"

/* By number and not by time: pgbench's clock runs while it connects. Enough of them that its
 * connecting, which is in its processor time and not in ours, weighs little. */
#define TRANSACTIONS 100000

static const char script[] =
    "SELECT pg_advisory_lock(:client_id);\nSELECT pg_advisory_unlock(:client_id);\n";

static const char *user_of(const struct url *url) {
    return url->user[0] ? url->user : "postgres";
}

static const char *database_of(const struct url *url) {
    return url->path[0] ? url->path : "postgres";
}

struct figures {
    double rate_per_s, cpu_ns; /* a cycle */
};

static int their_figures(const struct url *url, const char *file, int clients,
                         struct figures *ret_figures, struct lb_err *err) {
    char port[12], connections[12], each[12];
    snprintf(each, sizeof each, "%d", TRANSACTIONS / clients / (clients == 1 ? 4 : 1));
    snprintf(port, sizeof port, "%d", url->port[0]);
    snprintf(connections, sizeof connections, "%d", clients);
    const char *const argv[] = {
        "pgbench",        "-h", url->host[0], "-p", port,        "-U", user_of(url), "-n", "-M",
        "prepared",       "-f", file,         "-c", connections, "-j", "1",          "-t", each,
        database_of(url), NULL};
    static struct theirs theirs;
    if (theirs_run(&theirs, argv, err) != 0) return -1;
    const char *tps = strstr(theirs.text, "tps = "),
               *done = strstr(theirs.text, "actually processed: ");
    if (theirs.code != 0 || !tps || !done)
        return err_set(err, LB_EXIT_MACHINE, "pgbench: %.300s", theirs.text);
    *ret_figures =
        (struct figures){strtod(tps + 6, NULL), (double)theirs.cpu_ns / strtod(done + 20, NULL)};
    return 0;
}

static int our_figures(const struct ours *ours, int clients, struct figures *ret_figures,
                       struct lb_err *err) {
    struct stage *stage = ours_run(ours, clients, err);
    if (!stage) return -1;
    *ret_figures = (struct figures){(double)stage->result.ok * 1e9 / (double)stage->window_ns,
                                    stage->client_cpu_ns / (double)stage->result.grants};
    stage_free(stage);
    return 0;
}

static int bare_figures(const struct ours *ours, const struct url *url, int clients,
                        struct figures *ret_figures, struct lb_err *err) {
    const struct floor_server server = {.port = url->port[0],
                                        .user = user_of(url),
                                        .database = database_of(url),
                                        .password = getenv("PGPASSWORD"),
                                        .connections = clients,
                                        .warmup_ns = ours->plan->warmup_ns,
                                        .duration_ns = ours->plan->duration_ns};
    struct floor_figures floor;
    if (floor_pg(&server, &floor, err) != 0) return -1;
    *ret_figures = (struct figures){floor.rate_per_s / 2, 2 * floor.cpu_ns};
    return 0;
}

static int compare_with_libpq(const struct ours *ours, const struct url *url, const char *file,
                              int clients, struct lb_err *err) {
    double rates[PERF_ROUNDS], cpus[PERF_ROUNDS], bare_rates[PERF_ROUNDS], bare_cpus[PERF_ROUNDS];
    struct figures mine, theirs, bare;
    for (int i = 0; i < PERF_ROUNDS; i++) {
        if (our_figures(ours, clients, &mine, err) != 0) return -1;
        if (their_figures(url, file, clients, &theirs, err) != 0) return -1;
        if (bare_figures(ours, url, clients, &bare, err) != 0) return -1;
        rates[i] = mine.rate_per_s / theirs.rate_per_s;
        cpus[i] = mine.cpu_ns / theirs.cpu_ns;
        bare_rates[i] = bare.rate_per_s / theirs.rate_per_s;
        bare_cpus[i] = bare.cpu_ns / theirs.cpu_ns;
    }
    printf("    last pair, %d connections: %.0f against %.0f cycles/s, %.1f against %.1f us of "
           "client CPU a cycle\n",
           clients, mine.rate_per_s, theirs.rate_per_s, mine.cpu_ns / 1e3, theirs.cpu_ns / 1e3);
    bool one = clients == 1;
    perf_print_ratios("pg-advisory / pgbench", "cycle", clients, one ? "none" : "at least 1.15",
                      one ? "none" : "at most 0.95", rates, cpus);
    perf_print_ratios("bare epoll loop / pgbench", "cycle", clients, "none", "none", bare_rates,
                      bare_cpus);
    return 0;
}

int perf_pg(struct lb_err *err) {
    static const char *const sets[] = {"run.duration=2s", "run.warmup=200ms", "load.threads=1",
                                       "load.keys=own",   "load.clients=256", NULL};
    static const int clients[] = {1, 16, 64, 256};
    struct ours ours = {0};
    struct url url;
    char file[] = "/tmp/lockbench-pgbench-XXXXXX";
    int fd = mkstemp(file);
    if (fd < 0) return err_set(err, LB_EXIT_MACHINE, "cannot write %s", file);
    int failed = write(fd, script, sizeof script - 1) == (ssize_t)(sizeof script - 1) ? 0 : -1;
    close(fd);
    if (!failed) failed = ours_open(&ours, "pg-advisory", sets, err);
    if (!failed) failed = url_parse(&url, ours.place->urls[0], 5432, err);
    for (size_t i = 0; i < sizeof clients / sizeof *clients && !failed; i++) {
        if (!perf_only || atoi(perf_only) == clients[i])
            failed = compare_with_libpq(&ours, &url, file, clients[i], err);
    }
    ours_close(&ours);
    unlink(file);
    return failed;
}
