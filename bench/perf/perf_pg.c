/* perf_pg: pg-advisory, each client with a key of its own, against pgbench with a script of the same two
 * prepared statements. Both use one thread, as many connections, and the same server. One transaction
 * of pgbench is compared with one acquire and release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/perf/ours.h"
#include "bench/perf/perf.h"
#include "bench/perf/theirs.h"
#include "drivers/url.h"

/* By number and not by time: pgbench's clock runs while it connects. Enough of them that its
 * connecting, which is in its processor time and not in ours, weighs little. */
#define TRANSACTIONS 100000

static const char script[] =
    "SELECT pg_advisory_lock(:client_id);\nSELECT pg_advisory_unlock(:client_id);\n";

static int their_figures(const struct url *url, const char *file, int clients, double *ret_rate,
                         double *ret_cpu_ns, struct lb_err *err) {
    char port[12], connections[12], each[12];
    snprintf(each, sizeof each, "%d", TRANSACTIONS / clients / (clients == 1 ? 4 : 1));
    snprintf(port, sizeof port, "%d", url->port[0]);
    snprintf(connections, sizeof connections, "%d", clients);
    const char *const argv[] = {"pgbench",
                                "-h",
                                url->host[0],
                                "-p",
                                port,
                                "-U",
                                url->user[0] ? url->user : "postgres",
                                "-n",
                                "-M",
                                "prepared",
                                "-f",
                                file,
                                "-c",
                                connections,
                                "-j",
                                "1",
                                "-t",
                                each,
                                url->path[0] ? url->path : "postgres",
                                NULL};
    static struct theirs theirs;
    if (theirs_run(&theirs, argv, err) != 0) return -1;
    const char *tps = strstr(theirs.text, "tps = "),
               *done = strstr(theirs.text, "actually processed: ");
    if (theirs.code != 0 || !tps || !done)
        return err_set(err, LB_EXIT_MACHINE, "pgbench: %.300s", theirs.text);
    *ret_rate = strtod(tps + 6, NULL);
    *ret_cpu_ns = (double)theirs.cpu_ns / strtod(done + 20, NULL);
    return 0;
}

static int compare_with_libpq(const struct ours *ours, const struct url *url, const char *file,
                              int clients, struct lb_err *err) {
    double rates[PERF_ROUNDS], cpus[PERF_ROUNDS];
    char what[80];
    for (int i = 0; i < PERF_ROUNDS; i++) {
        double their_rate = 0, their_cpu_ns = 0;
        struct stage *stage = ours_run(ours, clients, err);
        if (!stage) return -1;
        double rate = (double)stage->result.ok * 1e9 / (double)stage->window_ns;
        double cpu_ns = stage->client_cpu_ns / (double)stage->result.grants;
        stage_free(stage);
        if (their_figures(url, file, clients, &their_rate, &their_cpu_ns, err) != 0) return -1;
        rates[i] = rate / their_rate;
        cpus[i] = cpu_ns / their_cpu_ns;
        if (i == PERF_ROUNDS - 1) {
            printf(
                "    last pair, %d connections: %.0f against %.0f cycles/s, %.1f against %.1f us of "
                "client CPU a cycle\n",
                clients, rate, their_rate, cpu_ns / 1e3, their_cpu_ns / 1e3);
        }
    }
    snprintf(what, sizeof what, "pg-advisory / pgbench, cycles/s, %d conn.", clients);
    perf_print(what, clients > 1 ? "at least 1.15" : "none", rates, PERF_ROUNDS);
    snprintf(what, sizeof what, "pg-advisory / pgbench, CPU a cycle, %d conn.", clients);
    perf_print(what, clients > 1 ? "at most 0.95" : "none", cpus, PERF_ROUNDS);
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
    for (size_t i = 0; i < sizeof clients / sizeof *clients && !failed; i++)
        failed = compare_with_libpq(&ours, &url, file, clients[i], err);
    ours_close(&ours);
    unlink(file);
    return failed;
}
