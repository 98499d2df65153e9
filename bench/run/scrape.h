/* scrape: answers GET /metrics over HTTP/1.1, one request a connection.
 *
 * No function blocks: the caller polls. A request is at most 4 KiB; any other request is refused. A connection ends
 * after half a minute in any case, and earlier if it is the oldest one and a new connection needs its place. Time in
 * which this process stood still does not count, because no client could be served then. There is no TLS and no
 * password; so the listener is on the loopback interface unless the user names a host. */
#ifndef BENCH_RUN_SCRAPE_H
#define BENCH_RUN_SCRAPE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"

#define SCRAPE_PEERS 8 /* connections at a time */
#define SCRAPE_FDS (SCRAPE_PEERS + 1)
#define SCRAPE_REQUEST_BYTES 4096
#define SCRAPE_AGE_NS (30 * LB_S_NS)
#define SCRAPE_TURN_NS (LB_S_NS / 2)

struct scrape_peer {
    int fd;          /* -1 = free */
    int64_t age_ns;  /* of the time in which this process was polling */
    uint64_t number; /* of all connections so far: the least is the oldest */
    char request[SCRAPE_REQUEST_BYTES + 1];
    size_t got;
    char *answer; /* NULL = the request is not complete */
    size_t length, sent;
};

struct scrape {
    int listener; /* -1 = nobody listens */
    struct scrape_peer peer[SCRAPE_PEERS];
    uint64_t accepted;
    int64_t turned_ns; /* when scrape_turn was called last; 0 = never */
};

/* Whether the text is an address, [HOST]:PORT, and not a file. "./a:1" is a file. */
bool scrape_is_address(const char *text);

/* Listens on an address; port 0 takes a free one. Writes where into ret_url:
 * "http://127.0.0.1:9464/metrics". Returns the listening socket, which the caller closes; or -1 with
 * err. */
int scrape_listen(const char *address, char *ret_url, size_t size, struct lb_err *err);

/* Takes over the listener (-1 = none). */
void scrape_init(struct scrape *scrape, int listener);

/* Fills SCRAPE_FDS entries with what to poll for; an unused one has fd -1. */
void scrape_poll(const struct scrape *scrape, struct pollfd *fds);

/* Does what the poll found possible, and ends connections that are over their time. text: what
 * /metrics is now. now_ns: of lb_now. To be called every SCRAPE_TURN_NS at least. */
void scrape_turn(struct scrape *scrape, const struct pollfd *fds, const char *text, size_t length,
                 int64_t now_ns);

#endif
