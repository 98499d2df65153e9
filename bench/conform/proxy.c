/* proxy: see proxy.h. */
#include "bench/conform/proxy.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/servers/wire.h"

struct proxy {
    struct wire *wire;
    int fault; /* of the wire; -1 = none */
};

struct proxy *proxy_over(struct wire *wire, struct lb_err *err) {
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    *proxy = (struct proxy){.wire = wire, .fault = -1};
    return proxy;
}

void proxy_stop(struct proxy *proxy) {
    free(proxy);
}

static int set(struct proxy *proxy, struct wire_fault fault) {
    struct lb_err err = {0};
    fault.ends = WIRE_ALL_ENDS;
    int number = wire_set(proxy->wire, &fault, &err);
    if (number >= 0) return number;
    fprintf(stderr, "proxy: %s\n", err.text);
    abort();
}

void proxy_arm(struct proxy *proxy, enum proxy_fault fault, uint64_t bytes) {
    proxy_heal(proxy);
    struct wire_fault midway = {.kind = WIRE_MIDWAY, .bytes = bytes};
    struct wire_fault deaf = {.kind = WIRE_SWALLOW, .way = WIRE_REQUESTS};
    midway.then = fault == PROXY_RESET          ? WIRE_THEN_RESET
                  : fault == PROXY_LOSE_ANSWERS ? WIRE_THEN_SWALLOW
                                                : WIRE_THEN_CUT;
    proxy->fault = set(proxy, fault == PROXY_LOSE_REQUESTS ? deaf : midway);
}

void proxy_delay(struct proxy *proxy, int64_t by_ns) {
    proxy_heal(proxy);
    proxy->fault =
        set(proxy, (struct wire_fault){.kind = WIRE_DELAY, .way = WIRE_ANSWERS, .by_ns = by_ns});
}

void proxy_cut(struct proxy *proxy) {
    proxy_heal(proxy);
    proxy->fault = set(proxy, (struct wire_fault){.kind = WIRE_REFUSE});
    set(proxy, (struct wire_fault){.kind = WIRE_CUT});
}

void proxy_heal(struct proxy *proxy) {
    struct lb_err err = {0};
    proxy->fault = -1;
    if (wire_heal(proxy->wire, &err) == 0) return;
    fprintf(stderr, "proxy: %s\n", err.text);
    abort();
}

bool proxy_struck(const struct proxy *proxy) {
    struct wire_sign sign;
    wire_sign(proxy->wire, proxy->fault, &sign);
    return sign.struck > 0;
}
