/* traffic: see traffic.h. */
#include "bench/load/traffic.h"

#include <linux/tcp.h> /* the kernel's struct: glibc's lacks the byte counts */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

uint64_t traffic_bytes(int fd) {
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) return 0;
    if (len < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent) return 0;
    return info.tcpi_bytes_sent + info.tcpi_bytes_received;
}

int64_t thread_cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
