/* wire: see wire.h. The part that runs in the program: it starts and ends the proxy's process,
 * passes requests to it through a shared mapping, and reads its counters there. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/process.h"
#include "bench/servers/janitor.h"
#include "bench/servers/ports.h"
#include "bench/servers/wire_impl.h"

#define ANSWER_MS 10000
#define BINDS_MAX 20

struct wire {
    struct wire_shared *shared;
    pid_t pid;
    int control_fd;
    uint64_t orders;
    int ends;
    struct listener listeners[WIRE_ENDS_MAX]; /* their sockets belong to the child */
    bool on[WIRE_FAULTS_MAX];                 /* of each slot */
    /* a fault's slot is its number modulo WIRE_FAULTS_MAX */
    int next_fault;
};

/* --- the child --- */

static _Noreturn void become_wire(const struct wire *wire, int control_fd, pid_t parent) {
    int keep[1 + WIRE_ENDS_MAX], kept = 0;
    setpgid(0, 0); /* Ctrl-C at the terminal must reach the program alone */
    janitor_group(JANITOR_ADD, getpid());
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    prctl(PR_SET_TIMERSLACK, 1UL);
    keep[kept++] = control_fd;
    for (int i = 0; i < wire->ends; i++) keep[kept++] = wire->listeners[i].fd;
    helper_begin("lockbench-wire", keep, kept);
    wire_main(wire->shared, control_fd, wire->listeners, wire->ends);
}

/* --- starting and ending --- */

/* An explicitly bound socket keeps its port when it stops listening. With SO_REUSEADDR it may
 * listen again while connections to it are alive: see update_ports in wire_fault.c. */
static int listen_on(int port) {
    struct sockaddr_in address = loopback_address(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, WIRE_BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_ends(struct wire *wire, int count, struct lb_err *err) {
    for (int i = 0; i < count; i++) {
        struct listener *listener = &wire->listeners[i];
        int port = 0, fd = -1;
        for (int tries = 0; fd < 0 && tries < BINDS_MAX; tries++) {
            if (ports_pick(&port, 1, err) != 0) return -1;
            fd = listen_on(port); /* another program may have taken it first */
        }
        if (fd < 0) return err_set(err, LB_EXIT_MACHINE, "no port for a wire: %s", strerror(errno));
        *listener = (struct listener){.watched = WATCH_LISTENER, .end = i, .fd = fd, .port = port};
        wire->ends++;
    }
    return 0;
}

static void wire_free(struct wire *wire) {
    if (wire->control_fd >= 0) close(wire->control_fd);
    if (wire->shared) munmap(wire->shared, sizeof *wire->shared);
    free(wire);
}

static int fork_wire(struct wire *wire, struct lb_err *err) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set(err, LB_EXIT_MACHINE, "wire: %s", strerror(errno));
    pid_t parent = getpid();
    janitor_fork_begin();
    wire->pid = fork();
    if (wire->pid == 0) become_wire(wire, pair[1], parent);
    janitor_fork_end();
    close(pair[1]);
    wire->control_fd = pair[0];
    if (wire->pid < 0)
        return err_set(err, LB_EXIT_MACHINE, "no process for the wire: %s%s", strerror(errno),
                       too_many_remedy(errno));
    janitor_group(JANITOR_ADD, wire->pid); /* also here, in case the child does not get that far */
    return 0;
}

struct wire *wire_start(int ends, struct lb_err *err) {
    struct wire *wire = calloc(1, sizeof *wire);
    if (!wire) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    wire->control_fd = -1;
    wire->shared =
        mmap(NULL, sizeof *wire->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (wire->shared == MAP_FAILED) {
        wire->shared = NULL;
        err_set(err, LB_EXIT_MACHINE, "memory for a wire: %s", strerror(errno));
        wire_free(wire);
        return NULL;
    }
    for (int i = 0; i < WIRE_FAULTS_MAX; i++) atomic_store(&wire->shared->signs[i].fault, -1);
    int failed =
        janitor_start(err) != 0 || open_ends(wire, ends, err) != 0 || fork_wire(wire, err) != 0;
    for (int i = 0; i < wire->ends; i++) close(wire->listeners[i].fd);
    if (!failed) return wire;
    wire_free(wire);
    return NULL;
}

void wire_stop(struct wire *wire) {
    if (!wire) return;
    kill(wire->pid, SIGKILL);
    while (waitpid(wire->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    janitor_group(JANITOR_DROP, wire->pid);
    wire_free(wire);
}

int wire_ends(const struct wire *wire) {
    return wire->ends;
}

int wire_port(const struct wire *wire, int end) {
    return wire->listeners[end].port;
}

pid_t wire_pid(const struct wire *wire) {
    return wire->pid;
}

/* --- orders --- */

/* Lets the proxy carry out the request in the mapping. */
static int send_order(struct wire *wire, struct lb_err *err) {
    uint64_t number = ++wire->orders, answer = 0;
    while (send(wire->control_fd, &number, sizeof number, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return err_set(err, LB_EXIT_MACHINE, "the wire's process has ended");
    }
    for (int64_t until_ns = lb_now() + ANSWER_MS * LB_MS_NS; answer != number;) {
        struct pollfd ready = {.fd = wire->control_fd, .events = POLLIN};
        int64_t left_ns = until_ns - lb_now();
        if (left_ns <= 0)
            return err_set(err, LB_EXIT_MACHINE, "the wire's process does not answer");
        if (poll(&ready, 1, (int)(left_ns / LB_MS_NS) + 1) <= 0) continue;
        ssize_t got = recv(wire->control_fd, &answer, sizeof answer, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return err_set(err, LB_EXIT_MACHINE, "the wire's process has ended");
    }
    return 0;
}

int wire_aim_at(struct wire *wire, int end, const struct sockaddr_storage *server,
                struct lb_err *err) {
    wire->shared->order = (struct order){.verb = ORDER_AIM, .end = end, .server = *server};
    return send_order(wire, err);
}

int wire_aim(struct wire *wire, int end, int server_port, struct lb_err *err) {
    struct sockaddr_storage server = {0};
    *(struct sockaddr_in *)&server = loopback_address(server_port);
    return wire_aim_at(wire, end, &server, err);
}

/* The next number with a free slot; -1 = none. */
static int free_number(const struct wire *wire) {
    for (int i = 0; i < WIRE_FAULTS_MAX; i++) {
        if (!wire->on[(wire->next_fault + i) % WIRE_FAULTS_MAX]) return wire->next_fault + i;
    }
    return -1;
}

int wire_set(struct wire *wire, const struct wire_fault *fault, struct lb_err *err) {
    int number = free_number(wire);
    if (number < 0)
        return err_set(err, LB_EXIT_USAGE, "more than %d faults of the wire at once",
                       WIRE_FAULTS_MAX);
    int slot = number % WIRE_FAULTS_MAX;
    struct order *order = &wire->shared->order;
    struct sign_counts *sign = &wire->shared->signs[slot];
    *order = (struct order){.verb = ORDER_SET, .slot = slot, .fault = *fault};
    if (!fault->way) order->fault.way = WIRE_BOTH;
    if (!fault->pids) order->fault.pid_count = 0;
    for (int i = 0; i < order->fault.pid_count; i++) order->pids[i] = fault->pids[i];
    order->fault.pids = NULL;
    atomic_store(&sign->fault, -1);
    sign->seen = (struct wire_sign){0};
    atomic_store(&sign->fault, number);
    if (send_order(wire, err) != 0) return -1;
    wire->next_fault = number + 1;
    wire->on[slot] = fault->kind != WIRE_RESET && fault->kind != WIRE_CUT;
    return number;
}

int wire_lift(struct wire *wire, int fault, struct lb_err *err) {
    int slot = fault < 0 ? 0 : fault % WIRE_FAULTS_MAX;
    if (fault < 0 || !wire->on[slot] || atomic_load(&wire->shared->signs[slot].fault) != fault)
        return 0;
    wire->shared->order = (struct order){.verb = ORDER_LIFT, .slot = slot};
    if (send_order(wire, err) != 0) return -1;
    wire->on[slot] = false;
    return 0;
}

int wire_heal(struct wire *wire, struct lb_err *err) {
    for (int i = 0; i < WIRE_FAULTS_MAX; i++) {
        if (wire->on[i] && wire_lift(wire, atomic_load(&wire->shared->signs[i].fault), err) != 0)
            return -1;
    }
    return 0;
}

/* --- what it did --- */

void wire_sign(const struct wire *wire, int fault, struct wire_sign *ret_sign) {
    const struct sign_counts *sign = &wire->shared->signs[fault < 0 ? 0 : fault % WIRE_FAULTS_MAX];
    bool kept = fault >= 0 && atomic_load(&sign->fault) == fault;
    *ret_sign = kept ? sign->seen : (struct wire_sign){0};
}

void wire_count(const struct wire *wire, int end, enum wire_way way, struct wire_count *ret_count) {
    *ret_count = (struct wire_count){0};
    for (int i = 0; i < 2; i++) {
        const struct wire_count *count = &wire->shared->ends[end][i];
        if (!(way & (i == 0 ? WIRE_REQUESTS : WIRE_ANSWERS))) continue;
        ret_count->read_bytes += count->read_bytes;
        ret_count->forwarded_bytes += count->forwarded_bytes;
        ret_count->swallowed_bytes += count->swallowed_bytes;
        ret_count->chunks += count->chunks;
    }
}
