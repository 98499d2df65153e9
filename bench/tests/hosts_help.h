/* hosts_help: a run of one stage whose clients are in several processes that share nothing, joined by sockets as hosts are by
 * MPI. Header only, since each test is one program. */
#ifndef BENCH_TESTS_HOSTS_HELP_H
#define BENCH_TESTS_HOSTS_HELP_H

#include <sys/wait.h>

#include "bench/tests/pipe_link.h"
#include "bench/tests/stage_help.h"
#include "bench/tools/hosts/stage_hosts.h"

#define HOSTS 3
#define MEET_NS (20 * LB_S_NS)

static inline int serve(struct link *link) {
    struct lb_err err = {0};
    struct hosts *hosts = hosts_meet(link, lb_now() + MEET_NS, NULL, &err);
    int failed = !hosts || serve_run(hosts, &err) != 0;
    if (failed) fprintf(stderr, "rank %d: %s\n", link->self, err.text);
    hosts_free(hosts);
    return failed;
}

/* A run of one stage. */
struct far_run {
    struct pipe_link link;
    pid_t pids[HOSTS + 1];
    struct hosts *hosts;
    struct peers peers;
    struct plan *plan;
    struct place *place;
    char folder[64], hlog[100];
    struct stage *stage;
    int looks;    /* of the supervisor, in the window */
    bool is_hurt; /* whether a host was killed or stopped */
};

/* What a test asks beside the lock and the settings; NULL = nothing. */
struct far_case {
    const char *workload;            /* NULL = smoke */
    int (*serve)(struct link *link); /* what each load host does; NULL = serve */
};

static inline void begin_run(struct far_run *run, const struct far_case *wanted, const char *lock,
                             const char *const *sets) {
    struct lb_err err = {0};
    char workloads[512], topologies[512];
    int count = 0;
    while (sets[count]) count++;
    const struct far_case asked = wanted ? *wanted : (struct far_case){0};
    *run = (struct far_run){.folder = "/tmp/lockbench-test-XXXXXX"};
    assert_non_null(mkdtemp(run->folder));
    snprintf(run->hlog, sizeof run->hlog, "%s/stage.hlog", run->folder);
    assert_int_equal(home_path("workloads", workloads, sizeof workloads, &err), 0);
    assert_int_equal(home_path("compose/local", topologies, sizeof topologies, &err), 0);
    assert_int_equal(
        pipe_link_fork(&run->link, HOSTS + 1, asked.serve ? asked.serve : serve, run->pids), 0);
    run->hosts = hosts_meet(&run->link.link, lb_now() + MEET_NS, NULL, &err);
    if (!run->hosts) fail_msg("%s", err.text);
    struct plan_ask plan_ask = {.workload = asked.workload ? asked.workload : "smoke",
                                .folder = workloads,
                                .locks = lock,
                                .sets = sets,
                                .set_count = count};
    run->plan = plan_load(&plan_ask, &err);
    if (!run->plan) fail_msg("%s", err.text);
    run->peers = coordinate(run->hosts);
    if (run->peers.begin_run(&run->peers, run->plan, &err)) fail_msg("%s", err.text);
    struct place_ask place_ask = {.lock = &run->plan->locks[0],
                                  .topologies = topologies,
                                  .durability = run->plan->durability,
                                  .interrupts = &no_interrupts};
    run->place = place_open(&place_ask, &err);
    if (!run->place) fail_msg("%s", err.text);
}

static inline struct stage *go(struct far_run *run, bool (*enough)(void *, const struct stage *)) {
    struct lb_err err = {0};
    struct stage_ask ask = {.of = {.plan = run->plan,
                                   .lock = &run->plan->locks[0],
                                   .clients = run->plan->clients[0],
                                   .window_ns = run->plan->duration_ns,
                                   .lease_ns = run->plan->leases_ns[0]},
                            .place = run->place,
                            .peers = &run->peers,
                            .id = "test",
                            .version = "test",
                            .hlog_path = run->hlog,
                            .interrupts = &no_interrupts,
                            .enough = enough,
                            .enough_arg = run};
    run->stage = stage_run(&ask, &err);
    if (!run->stage) fail_msg("%s", err.text);
    stage_conclude(run->stage);
    return run->stage;
}

static inline void end_run(struct far_run *run) {
    char command[100];
    stage_free(run->stage);
    place_close(run->place);
    hosts_free(run->hosts);
    plan_free(run->plan);
    for (int rank = 1; rank <= HOSTS && run->pids[rank]; rank++) {
        kill(run->pids[rank], SIGCONT);
        close(run->link.fds[rank]);
        waitpid(run->pids[rank], NULL, 0);
    }
    snprintf(command, sizeof command, "rm -r %s", run->folder);
    assert_int_equal(system(command), 0);
}

#endif
