/* acts_help: code that is shared by the tests of acts on real servers. Header only, since each test
 * is one program. */
#ifndef BENCH_TESTS_ACTS_HELP_H
#define BENCH_TESTS_ACTS_HELP_H

#include "bench/tests/servers_help.h"

/* Starts a topology and waits for the ports of all nodes. */
static inline struct topo *started(const char *name, struct topo_ask wanted) {
    struct topo_info info;
    struct lb_err err = {0};
    if (topo_info("compose/local", name, &info, &err) != 0) fail_msg("%s", err.text);
    if (*info.missing) skip_for("%s: %s is missing: install %s", name, info.missing, info.install);
    wanted.info = &info;
    struct topo *topo = topo_start(&wanted, &err);
    if (!topo ||
        topo_ready(topo, &(struct topo_wait){.deadline_ns = lb_now() + 90 * LB_S_NS}, &err) != 0) {
        topo_stop(topo);
        fail_msg("%s", err.text);
    }
    topo_login(topo);
    return topo;
}

/* Waits, up to 60 s, until a node's answer to `words` has `sign` in it. */
static inline void until_says(const struct topo *topo, int node, const char *words,
                              const char *sign) {
    for (int64_t until_ns = lb_now() + 60 * LB_S_NS; lb_now() < until_ns; help_nap_ms(50)) {
        int port = topo_port(topo, node, 0);
        const char *said = strncmp(topo_about(topo)->name, "redis", 5) == 0
                               ? help_ask_redis(port, words, sign)
                               : help_ask(port, words, sign);
        if (*said) return;
    }
    fail_msg("node %d never said \"%s\"", node, sign);
}

static inline void until_ready(struct topo *topo) {
    struct lb_err err = {0};
    if (topo_ready(topo, &(struct topo_wait){.deadline_ns = lb_now() + 60 * LB_S_NS}, &err) != 0)
        fail_msg("%s", err.text);
}

static inline char *act(struct topo *topo, const char *name, const char *arg, char *text,
                        size_t size) {
    struct lb_err err = {0};
    if (topo_act(topo, name, arg, text, size, &err) != 0) fail_msg("%s", err.text);
    return text;
}

/* The leader, asked again while there is none, up to 60 s; not `but`. */
static inline int leader(struct topo *topo, int but) {
    struct lb_err err = {0};
    for (int64_t until_ns = lb_now() + 60 * LB_S_NS; lb_now() < until_ns; help_nap_ms(100)) {
        err = (struct lb_err){0};
        int node = topo_leader(topo, &err);
        if (node >= 0 && node != but) return node;
    }
    fail_msg("no leader: %s", err.text);
    return -1;
}

static inline void must(int result, const struct lb_err *err) {
    if (result != 0) fail_msg("%s", err->text);
}

#endif
