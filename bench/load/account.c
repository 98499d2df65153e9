/* account: see account.h. */
#include "bench/load/account.h"

#include <linux/tcp.h> /* the kernel's struct: glibc's lacks the byte counts */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

void client_failed(struct client *client, int64_t waited_ns) {
    recorder_add(&client->worker->stats->recorder, METRIC_WAIT_FAILED, waited_ns);
}

/* Processor time of the calling thread, user and system, in ns. */
static int64_t thread_cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void mark_span(struct cpu_span *span, int64_t now_ns, int64_t begin_ns, int64_t end_ns) {
    if (!span->began && now_ns >= begin_ns) {
        span->begin_ns = now_ns;
        span->begin_cpu_ns = thread_cpu_ns();
        span->began = true;
    }
    if (span->began && !span->ended && now_ns >= end_ns) {
        span->end_ns = now_ns;
        span->end_cpu_ns = thread_cpu_ns();
        span->ended = true;
    }
}

void worker_mark(struct worker *worker, int64_t now_ns) {
    struct shared *shared = worker->shared;
    mark_span(&worker->stats->cpu, now_ns, stage_begin_ns(shared), stage_end_ns(shared));
}

void worker_mark_idle(struct worker *worker, int64_t now_ns) {
    struct shared *shared = worker->shared;
    mark_span(&worker->stats->idle_cpu, now_ns,
              atomic_load_explicit(&shared->idle_begin_ns, memory_order_relaxed),
              atomic_load_explicit(&shared->idle_end_ns, memory_order_relaxed));
}

uint64_t traffic_bytes(int fd) {
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) return 0;
    if (len < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent) return 0;
    return info.tcpi_bytes_sent + info.tcpi_bytes_received;
}
