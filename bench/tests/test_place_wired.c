/* test_place_wired: a place whose servers are reached through the wire: clients', and
 * replication's. Real Redis servers; what is missing is a loud skip.
 * Needs: servers. */
#include "bench/tests/servers_help.h"
#include "bench/tests/stage_help.h"
#include "bench/tests/wire_help.h"
#include "drivers/url.h"

static char topologies[512];

struct wired {
    struct plan *plan;
    struct place *place;
    struct lb_err err;
};

/* Opens a place for the lock; .place is NULL with err if it can't be. Skips if the server is missing here. */
static void wired_up(struct wired *wired, const char *lock, const char *topology) {
    struct topo_info info;
    struct lb_err err = {0};
    char folder[512];
    *wired = (struct wired){0};
    assert_int_equal(home_path("workloads", folder, sizeof folder, &err), 0);
    assert_int_equal(home_path("compose/local", topologies, sizeof topologies, &err), 0);
    if (topology && topo_info(topologies, topology, &info, &err) != 0) fail_msg("%s", err.text);
    if (topology && *info.missing)
        skip_for("%s is missing: install %s", info.missing, info.install);
    wired->plan = plan_load(
        &(struct plan_ask){.workload = "smoke", .folder = folder, .locks = lock, .sets = NULL},
        &err);
    if (!wired->plan) fail_msg("%s", err.text);
    wired->place = place_open(&(struct place_ask){.lock = &wired->plan->locks[0],
                                                  .topology = topology,
                                                  .topologies = topologies,
                                                  .durability = "default",
                                                  .wired = true,
                                                  .interrupts = &no_interrupts},
                              &wired->err);
}

static void wired_down(struct wired *wired) {
    place_close(wired->place);
    plan_free(wired->plan);
}

static void must_open(const struct wired *wired) {
    if (!wired->place) fail_msg("%s", wired->err.text);
    topo_login(wired->place->topo);
}

/* What a Redis server on a port answers to one command, without its CR LF; "" = nothing. */
static const char *ask_redis(int port, const char *command) {
    static char answer[256];
    int fd = help_connect_redis(port);
    ssize_t len = 0;
    if (fd >= 0 && send(fd, command, strlen(command), MSG_NOSIGNAL) > 0)
        len = recv(fd, answer, sizeof answer - 1, 0);
    answer[len > 0 ? len : 0] = '\0';
    answer[strcspn(answer, "\r")] = '\0';
    if (fd >= 0) close(fd);
    return answer;
}

static uint64_t forwarded(const struct place *place, uint64_t ends) {
    uint64_t sum = 0;
    for (int i = 0; i < wire_ends(place->wiring->wire); i++) {
        struct wire_count count;
        wire_count(place->wiring->wire, i, WIRE_BOTH, &count);
        if (ends >> i & 1) sum += count.forwarded_bytes;
    }
    return sum;
}

/* Sentinels tell clients the servers' own addresses: so only replication is led through. */
TEST(under_sentinel_replication_alone_is) {
    struct wired wired;
    wired_up(&wired, "redis-setnx", "redis-sentinel");
    must_open(&wired);
    const struct place *place = wired.place;
    assert_int_equal(place->wiring->client_ends, 0);
    assert_string_equal(place->urls[0], topo_url(place->topo));
    HELP_UNTIL(strcmp(ask_redis(topo_port(place->topo, 0, 0), "WAIT 2 100\r\n"), ":2") == 0);
    assert_true(forwarded(place, place->wiring->peer_ends) > 0);
    const struct distance far = {.wired = true, .rtt_ns = LB_MS_NS};
    struct lb_err err = {0};
    assert_int_equal(place_wire_distance(place->wiring, &far, &err), -1);
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(strstr(err.text, "servers.rtt"));
    assert_non_null(strstr(err.text, "redis-sentinel"));
    wired_down(&wired);
}

TEST_MAIN(NULL, NULL)
