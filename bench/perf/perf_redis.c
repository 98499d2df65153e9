/* perf_redis: redis-setnx on a key a client against redis-benchmark and against a bare epoll loop (floor.h), which do
 * the same SET and the same EVALSHA over as many connections, each on one thread, on one server of ours. A cycle is
 * two commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/perf/floor.h"
#include "bench/perf/ours.h"
#include "bench/perf/perf.h"
#include "bench/perf/theirs.h"
#include "drivers/url.h"

#define REQUESTS "60000"
#define REQUESTS_NUMBER 60000
#define MANY 20000
#define SHORT "run.duration=2s"

static const char script[] =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
static const char token[] = "0123456789abcdef0123456789abcdef01234567";

struct figures {
    double rate_per_s, cpu_ns; /* a command */
};

/* The requests a second in redis-benchmark's CSV: the second field of its last line. */
static double csv_rate(const char *text) {
    const char *line = strrchr(text, '\n');
    while (line && line > text && line[1] == '\0') {
        do line--;
        while (line > text && *line != '\n');
    }
    const char *field = line ? strstr(line, "\",\"") : NULL;
    return field ? strtod(field + 3, NULL) : 0;
}

static int their_command(const char *port, const char *connections, const char *const *words,
                         double *ret_seconds, int64_t *ret_cpu_ns, struct lb_err *err) {
    /* redis-benchmark takes the password from nowhere but its arguments. */
    const char *argv[24] = {"redis-benchmark",
                            "-h",
                            "127.0.0.1",
                            "-p",
                            port,
                            "-c",
                            connections,
                            "-n",
                            REQUESTS,
                            "-r",
                            "1000000",
                            "--csv",
                            "-a",
                            getenv("REDISCLI_AUTH")};
    int count = 14;
    while (*words) argv[count++] = *words++;
    static struct theirs theirs;
    if (theirs_run(&theirs, argv, err) != 0) return -1;
    double rate = csv_rate(theirs.text);
    if (theirs.code != 0 || rate <= 0) {
        return err_set(err, LB_EXIT_MACHINE, "redis-benchmark: %.200s", theirs.text);
    }
    *ret_seconds += REQUESTS_NUMBER / rate;
    *ret_cpu_ns += theirs.cpu_ns;
    return 0;
}

static int their_figures(const char *port, const char *connections, const char *sha1,
                         struct figures *ret_figures, struct lb_err *err) {
    const char *const set[] = {"SET", "lock:__rand_int__", token, "NX", "PX", "10000", NULL};
    const char *const evalsha[] = {"EVALSHA", sha1, "1", "lock:__rand_int__", token, NULL};
    double seconds = 0;
    int64_t cpu_ns = 0;
    if (their_command(port, connections, set, &seconds, &cpu_ns, err) != 0) return -1;
    if (their_command(port, connections, evalsha, &seconds, &cpu_ns, err) != 0) return -1;
    *ret_figures =
        (struct figures){2 * REQUESTS_NUMBER / seconds, (double)cpu_ns / (2 * REQUESTS_NUMBER)};
    return 0;
}

static int load_script(const char *port, char sha1[41], struct lb_err *err) {
    const char *const argv[] = {"redis-cli", "-h",   "127.0.0.1", "-p", port,
                                "SCRIPT",    "LOAD", script,      NULL};
    static struct theirs theirs;
    if (theirs_run(&theirs, argv, err) != 0) return -1;
    if (theirs.code != 0 || strlen(theirs.text) < 40) {
        return err_set(err, LB_EXIT_MACHINE, "redis-cli: %.200s", theirs.text);
    }
    snprintf(sha1, 41, "%.40s", theirs.text);
    return 0;
}

/* Ours: commands a second, and client CPU a command. 0, or -1 with err. */
static int our_figures(const struct ours *ours, int clients, struct figures *ret_figures,
                       struct lb_err *err) {
    struct stage *stage = ours_run(ours, clients, err);
    if (!stage) return -1;
    *ret_figures = (struct figures){2 * (double)stage->result.ok * 1e9 / (double)stage->window_ns,
                                    stage->client_cpu_ns / (double)stage->commands};
    stage_free(stage);
    return 0;
}

static void print_last_pair(int clients, const struct figures *ours, const struct figures *theirs) {
    printf("    last pair, %d connections: %.0f against %.0f commands/s, %.1f against %.1f us of "
           "client CPU a command\n",
           clients, ours->rate_per_s, theirs->rate_per_s, ours->cpu_ns / 1e3, theirs->cpu_ns / 1e3);
}

static int bare_figures(const struct ours *ours, const char *port, const char *sha1, int clients,
                        bool in_order, struct figures *ret_figures, struct lb_err *err) {
    const struct floor_server server = {.port = atoi(port),
                                        .password = getenv("REDISCLI_AUTH"),
                                        .release_sha1 = sha1,
                                        .connections = clients,
                                        .in_order = in_order,
                                        .warmup_ns = ours->plan->warmup_ns,
                                        .duration_ns = ours->plan->duration_ns};
    struct floor_figures floor;
    if (floor_redis(&server, &floor, err) != 0) return -1;
    *ret_figures = (struct figures){floor.rate_per_s, floor.cpu_ns};
    return 0;
}

/* The bare loop beside it tells how much of the goal this machine's Redis and kernel allow. */
static int compare_with_benchmark(const struct ours *ours, const char *port, const char *sha1,
                                  int clients, struct lb_err *err) {
    double rates[PERF_ROUNDS], cpus[PERF_ROUNDS], bare_rates[PERF_ROUNDS], bare_cpus[PERF_ROUNDS];
    struct figures mine, theirs, bare;
    char connections[12];
    snprintf(connections, sizeof connections, "%d", clients);
    for (int i = 0; i < PERF_ROUNDS; i++) {
        if (our_figures(ours, clients, &mine, err) != 0) return -1;
        if (their_figures(port, connections, sha1, &theirs, err) != 0) return -1;
        if (bare_figures(ours, port, sha1, clients, false, &bare, err) != 0) return -1;
        rates[i] = mine.rate_per_s / theirs.rate_per_s;
        cpus[i] = mine.cpu_ns / theirs.cpu_ns;
        bare_rates[i] = bare.rate_per_s / theirs.rate_per_s;
        bare_cpus[i] = bare.cpu_ns / theirs.cpu_ns;
    }
    print_last_pair(clients, &mine, &theirs);
    bool one = clients == 1;
    perf_print_ratios("redis-setnx / redis-benchmark", "command", clients,
                      one ? "none" : "at least 1.3", one ? "none" : "at most 0.65", rates, cpus);
    perf_print_ratios("bare epoll loop / redis-benchmark", "command", clients, "none", "none",
                      bare_rates, bare_cpus);
    return 0;
}

/* The bare loop in both orders of floor.h. The goals are for the random order, in which our clients send, too. */
static int compare_with_floor(const struct ours *ours, const char *port, const char *sha1,
                              int clients, struct lb_err *err) {
    double rates[2][PERF_ROUNDS], cpus[2][PERF_ROUNDS];
    struct figures mine, bare[2];
    for (int i = 0; i < PERF_ROUNDS; i++) {
        if (our_figures(ours, clients, &mine, err) != 0) return -1;
        for (int in_order = 0; in_order < 2; in_order++) {
            if (bare_figures(ours, port, sha1, clients, in_order, &bare[in_order], err) != 0)
                return -1;
            rates[in_order][i] = mine.rate_per_s / bare[in_order].rate_per_s;
            cpus[in_order][i] = mine.cpu_ns / bare[in_order].cpu_ns;
        }
    }
    print_last_pair(clients, &mine, &bare[0]);
    perf_print_ratios("redis-setnx / bare epoll loop", "command", clients, "at least 0.9",
                      "at most 1.25", rates[0], cpus[0]);
    perf_print_ratios("redis-setnx / in order", "command", clients, "none", "none", rates[1],
                      cpus[1]);
    return 0;
}

/* Which of the two comparisons to make, and with how many clients. */
typedef int comparison(const struct ours *ours, const char *port, const char *sha1, int clients,
                       struct lb_err *err);

/* duration: of the window. A cycle of 20,000 clients takes half a second, and the window must have many of them. */
static int compare_at(comparison *compare, const char *duration, const int *clients, size_t count,
                      struct lb_err *err) {
    const char *const sets[] = {duration,        "run.warmup=200ms", "load.threads=1",
                                "load.keys=own", "load.clients=256", NULL};
    struct ours ours;
    struct url url = {0};
    char port[12], sha1[41];
    int failed = ours_open(&ours, "redis-setnx", sets, err);
    if (!failed) failed = url_parse(&url, ours.place->urls[0], 0, err);
    if (!failed) snprintf(port, sizeof port, "%d", url.port[0]);
    if (!failed) failed = load_script(port, sha1, err);
    for (size_t i = 0; i < count && !failed; i++) {
        if (!perf_only || atoi(perf_only) == clients[i])
            failed = compare(&ours, port, sha1, clients[i], err);
    }
    ours_close(&ours);
    return failed;
}

int perf_redis(struct lb_err *err) {
    static const int clients[] = {1, 16, 256};
    return compare_at(compare_with_benchmark, SHORT, clients, sizeof clients / sizeof *clients,
                      err);
}

int perf_floor(struct lb_err *err) {
    static const int clients[] = {16, 256, 2000};
    const int many = perf_clients(MANY);
    int failed =
        compare_at(compare_with_floor, SHORT, clients, sizeof clients / sizeof *clients, err);
    return failed ? failed : compare_at(compare_with_floor, "run.duration=8s", &many, 1, err);
}
