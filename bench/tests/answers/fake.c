/* fake: the server's loop: connections, the script's times, keys and who waits for them. See
 * fake.h. Times are absolute deadlines of one timer, so that lateness does not add up. */
#define _GNU_SOURCE
#include "bench/tests/answers/fake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/heap.h"
#include "bench/base/rng.h"
#include "bench/tests/answers/fake_inside.h"
#include "bench/tests/answers/program.h"

#define CONNECTIONS_MAX 4096
#define KEYS_MAX (1 << 16) /* a power of two */
#define EVENTS_MAX 8192
#define TEXT_MAX 4096
#define LATE_NS (300 * LB_MS_NS) /* a client that a pattern names has left after this */

struct connection {
    int fd, client; /* fd: -1 = closed; client: -1 before its first acquire */
    int pending;    /* requests without an answer yet: they point to it */
    bool greeted;
    size_t used;
    char text[TEXT_MAX];
};

struct request {
    struct connection *connection;
    struct fake_command command;
    struct fake_record *record;
    struct request *next; /* in its key's queue */
};

struct key {
    char name[FAKE_KEY_MAX];
    int holders;
    int64_t grant_ns; /* of its next waiter; 0 = it is held, or nobody waits */
    struct request *first, **end;
};

/* What is to be done at a time: a request; or, with none, the grant of a key. */
struct event {
    struct timer timer; /* first, so that the heap's entry is the event */
    struct request *request;
    struct key *key;
};

struct server {
    const struct fake_script *script;
    const struct fake_speech *speech;
    struct fake_log *log;
    int epoll_fd, listen_fd, timer_fd, clients;
    struct connection *connections[CONNECTIONS_MAX]; /* by their fd */
    struct heap heap;
    struct key keys[KEYS_MAX];
    int key_count;
    int64_t first_ns, free_ns; /* the first acquire; when a serial server is free again */
    uint64_t asked, acquires, releases, grants, chosen;
    struct lb_rng rng;
};

static void add_event(struct server *server, int64_t due_ns, struct request *request,
                      struct key *key) {
    struct event *event = calloc(1, sizeof *event);
    if (!event || server->heap.count >= EVENTS_MAX) abort();
    event->request = request;
    event->key = key;
    heap_add(&server->heap, &event->timer, due_ns);
}

/* The key of the name, which is new if there is none. The table is open; hash: FNV-1a. */
static struct key *find_key(struct server *server, const char *name) {
    uint32_t hash = 2166136261;
    for (const char *at = name; *at; at++) hash = (hash ^ (uint8_t)*at) * 16777619;
    struct key *key;
    for (;; hash++) {
        key = &server->keys[hash % KEYS_MAX];
        if (!key->name[0]) break;
        if (strcmp(key->name, name) == 0) return key;
    }
    if (++server->key_count > KEYS_MAX / 2) abort();
    memcpy(key->name, name, strlen(name) + 1);
    key->end = &key->first;
    return key;
}

static void free_connection_if_done(struct connection *connection) {
    if (connection->fd < 0 && connection->pending == 0) free(connection);
}

/* Sends the answer, notes its time, and frees the request. */
static void answer(struct server *server, struct request *request, enum fake_outcome outcome) {
    char text[FAKE_ANSWER_MAX];
    struct fake_record *record = request->record;
    if (outcome == FAKE_GRANTED) server->grants++;
    record->outcome = (uint8_t)outcome;
    if (outcome != FAKE_UNSENT) {
        size_t len = server->speech->answer(&request->command, outcome, server->grants + 1, text);
        record->bytes_out = (uint16_t)len;
        (void)!send(request->connection->fd, text, len, MSG_NOSIGNAL);
        record->sent_ns = lb_now();
    }
    request->connection->pending--;
    free_connection_if_done(request->connection);
    free(request);
}

static bool is_each(int every, uint64_t number) {
    return every > 0 && number % (uint64_t)every == 0;
}

/* ---- keys ---- */

/* The waiter to be granted next: the first that came, or the client that the pattern names. NULL:
 * that client has not come yet. */
static struct request **next_waiter(const struct server *server, struct key *key) {
    const char *pattern = server->script->pattern;
    if (!pattern || lb_now() > key->grant_ns + LATE_NS) return &key->first;
    int wanted = pattern[server->chosen % strlen(pattern)] - '0';
    for (struct request **at = &key->first; *at; at = &(*at)->next) {
        if ((*at)->connection->client == wanted) return at;
    }
    return NULL;
}

static void schedule_grant(struct server *server, struct key *key) {
    if (key->holders > 0 || key->grant_ns || !key->first) return;
    key->grant_ns = lb_now() + server->script->handoff_ns;
    add_event(server, key->grant_ns, NULL, key);
}

static void grant_waiter(struct server *server, struct key *key) {
    struct request **at = next_waiter(server, key);
    if (!at) { /* it looks again soon */
        add_event(server, lb_now() + LB_MS_NS / 4, NULL, key);
        return;
    }
    struct request *request = *at;
    *at = request->next;
    if (!*at) key->end = at;
    server->chosen++;
    key->grant_ns = 0;
    key->holders++;
    answer(server, request, FAKE_GRANTED);
}

static void do_acquire(struct server *server, struct request *request) {
    const struct fake_script *script = server->script;
    struct key *key = find_key(server, request->command.key);
    uint64_t number = ++server->acquires;
    bool is_free = key->holders == 0 && !key->grant_ns && !script->pattern;
    if (is_each(script->silent_every, number)) {
        answer(server, request, FAKE_UNSENT);
    } else if (is_each(script->busy_every, number) ||
               (script->stop_after && server->grants >= script->stop_after)) {
        answer(server, request, FAKE_BUSY);
    } else if (is_free || (key->holders > 0 && rng_unit(&server->rng) < script->double_chance)) {
        request->record->doubled = !is_free;
        key->holders++;
        answer(server, request, FAKE_GRANTED);
    } else if (script->queue) {
        *key->end = request;
        key->end = &request->next;
        schedule_grant(server, key);
    } else {
        answer(server, request, FAKE_BUSY);
    }
}

static void do_release(struct server *server, struct request *request) {
    struct key *key = find_key(server, request->command.key);
    bool is_lost = is_each(server->script->lose_every, ++server->releases);
    if (key->holders > 0) key->holders--;
    answer(server, request, is_lost ? FAKE_LOST : FAKE_RELEASED);
    schedule_grant(server, key);
}

static void do_event(struct server *server, struct event *event) {
    struct request *request = event->request;
    if (!request)
        grant_waiter(server, event->key);
    else if (request->command.kind == FAKE_ACQUIRE)
        do_acquire(server, request);
    else if (request->command.kind == FAKE_RELEASE)
        do_release(server, request);
    else
        answer(server, request, FAKE_DONE);
    free(event);
}

/* ---- times ---- */

static int64_t service_time(struct server *server, const struct request *request) {
    const struct fake_script *script = server->script;
    const struct connection *connection = request->connection;
    if (request->command.kind == FAKE_RELEASE) return script->release_ns;
    if (request->command.kind != FAKE_ACQUIRE) return connection->greeted ? 0 : script->greeting_ns;
    double mean = (double)script->acquire_ns;
    int64_t ns = script->exponential ? (int64_t)(-mean * log(1 - rng_unit(&server->rng)))
                                     : script->acquire_ns;
    return ns + (is_each(script->slow_every, ++server->asked) ? script->slow_ns : 0);
}

/* When a service that may begin at start_ns is done, the freeze included. */
static int64_t done_at(const struct server *server, int64_t start_ns, int64_t service_ns) {
    int64_t from_ns = server->first_ns + server->script->freeze_after_ns;
    int64_t freeze_ns = server->script->freeze_ns;
    if (freeze_ns == 0 || server->first_ns == 0 || start_ns >= from_ns + freeze_ns ||
        start_ns + service_ns <= from_ns)
        return start_ns + service_ns;
    return start_ns < from_ns ? start_ns + service_ns + freeze_ns
                              : from_ns + freeze_ns + service_ns;
}

static void schedule_request(struct server *server, struct request *request) {
    struct fake_record *record = request->record;
    bool is_serial = server->script->serial && request->command.kind == FAKE_ACQUIRE;
    int64_t start_ns = record->received_ns;
    if (is_serial && server->free_ns > start_ns) start_ns = server->free_ns;
    record->service_ns = service_time(server, request);
    int64_t due_ns = done_at(server, start_ns, record->service_ns);
    if (is_serial) server->free_ns = due_ns;
    request->connection->greeted = true;
    add_event(server, due_ns, request, NULL);
}

/* ---- connections ---- */

static void take_command(struct server *server, struct connection *connection,
                         const struct fake_command *command, size_t bytes, int64_t now_ns) {
    struct request *request = calloc(1, sizeof *request);
    size_t number = atomic_load(&server->log->count);
    if (!request || number == FAKE_RECORDS_MAX) abort();
    if (command->kind == FAKE_ACQUIRE && connection->client < 0)
        connection->client = server->clients++;
    if (command->kind == FAKE_ACQUIRE && server->first_ns == 0) server->first_ns = now_ns;
    struct fake_record *record = &server->log->record[number];
    *record = (struct fake_record){.received_ns = now_ns,
                                   .client = connection->client,
                                   .kind = (uint8_t)command->kind,
                                   .outcome = FAKE_UNSENT,
                                   .bytes_in = (uint16_t)bytes};
    connection->pending++;
    *request = (struct request){.connection = connection, .command = *command, .record = record};
    atomic_store(&server->log->count, number + 1);
    schedule_request(server, request);
}

static void read_connection(struct server *server, struct connection *connection) {
    size_t at = 0, used;
    int64_t now_ns = lb_now();
    ssize_t got = recv(connection->fd, connection->text + connection->used,
                       sizeof connection->text - 1 - connection->used, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        close(connection->fd);
        connection->fd = -1;
        free_connection_if_done(connection);
        return;
    }
    connection->used += (size_t)got;
    connection->text[connection->used] = '\0';
    for (;;) {
        struct fake_command command = {0};
        used = server->speech->parse(connection->text + at, connection->used - at, &command);
        if (used == 0) break;
        at += used;
        if (command.kind != FAKE_SILENT) take_command(server, connection, &command, used, now_ns);
    }
    connection->used -= at;
    memmove(connection->text, connection->text + at, connection->used);
}

static void accept_connection(struct server *server) {
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct connection *connection = fd < CONNECTIONS_MAX ? calloc(1, sizeof *connection) : NULL;
    if (!connection) abort();
    *connection = (struct connection){.fd = fd, .client = -1};
    server->connections[fd] = connection;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    const char *greeting = server->speech->greeting;
    if (greeting) (void)!send(fd, greeting, strlen(greeting), MSG_NOSIGNAL);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Does what is due, and sets the timer to what is next. */
static void do_what_is_due(struct server *server) {
    struct timer *timer;
    while ((timer = heap_first(&server->heap)) && timer->due_ns <= lb_now()) {
        heap_remove(&server->heap, timer);
        do_event(server, (struct event *)timer);
    }
    struct itimerspec next = {0};
    if (timer) {
        next.it_value.tv_sec = timer->due_ns / LB_S_NS;
        next.it_value.tv_nsec = timer->due_ns % LB_S_NS;
    }
    timerfd_settime(server->timer_fd, TFD_TIMER_ABSTIME, &next, NULL);
}

static _Noreturn void serve(struct server *server) {
    struct epoll_event events[64];
    for (;;) {
        int count = epoll_wait(server->epoll_fd, events, 64, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == server->listen_fd)
                accept_connection(server);
            else if (fd != server->timer_fd)
                read_connection(server, server->connections[fd]);
        }
        do_what_is_due(server);
    }
}

/* In the child. */
static _Noreturn void serve_script(const struct fake_script *script, int listen_fd,
                                   struct fake_log *log) {
    struct server *server = calloc(1, sizeof *server);
    if (!server || heap_reserve(&server->heap, EVENTS_MAX) != 0) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    program_be_urgent(); /* its times are the truth */
    server->script = script;
    server->speech = &fake_speeches[script->protocol];
    server->log = log;
    server->listen_fd = listen_fd;
    server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    rng_seed(&server->rng, script->seed, 1);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listen_fd};
    epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, listen_fd, &event);
    /* Edges: the timer is set again before it would be read. */
    event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.fd = server->timer_fd};
    epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, server->timer_fd, &event);
    serve(server);
}

int fake_start(struct fake *ret_fake, const struct fake_script *script, struct lb_err *err) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    struct fake fake = {.pid = -1};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fake.log =
        mmap(NULL, sizeof *fake.log, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd >= 0 && fake.log != MAP_FAILED && bind(fd, (struct sockaddr *)&address, len) == 0 &&
        listen(fd, 512) == 0 && getsockname(fd, (struct sockaddr *)&address, &len) == 0)
        fake.pid = fork();
    if (fake.pid == 0) serve_script(script, fd, fake.log);
    int why = errno;
    if (fd >= 0) close(fd);
    fake.port = ntohs(address.sin_port);
    if (fake.pid > 0) {
        *ret_fake = fake;
        return 0;
    }
    if (fake.log != MAP_FAILED) munmap(fake.log, sizeof *fake.log);
    return err_set(err, LB_EXIT_MACHINE, "the fake server does not start: %s", strerror(why));
}

void fake_stop(struct fake *fake) {
    if (fake->pid <= 0) return;
    kill(fake->pid, SIGKILL);
    waitpid(fake->pid, NULL, 0);
    fake->pid = 0;
}

void fake_free(struct fake *fake) {
    fake_stop(fake);
    if (fake->log) munmap(fake->log, sizeof *fake->log);
    fake->log = NULL;
}
