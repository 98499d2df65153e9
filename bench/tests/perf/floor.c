/* floor: a bare epoll loop that sends a server the commands of one of lockbench's locks, for `make bench`. It shows the
 * rate that this machine reaches with one thread and one connection for each client. It measures no latency, and checks
 * only that each answer begins as expected.
 *
 *   floor reads                      four reads of the clock: 0, and the ns that they take
 *   floor redis PORT CLIENTS SHA1    redis-setnx: SET NX PX and EVALSHA; password in REDISCLI_AUTH
 *   floor postgres PORT CLIENTS USER DATABASE    pg-advisory: its two prepared statements; password in PGPASSWORD
 *
 * Prints commands a second and the loop's processor time for each, in ns. Exit code 1 with a line on standard error. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#define HAVE_LIBPQ 1
#endif

#define EVENTS 512 /* of one epoll_wait */
#define WARMUP_NS 200000000
#define WINDOW_NS 2000000000
#define TOKEN "0123456789abcdef0123456789abcdef01234567"

/* A client: takes and frees a key of its own, over and over. */
struct client {
    int fd;     /* connected and logged in */
    bool takes; /* the next answer belongs to `take`; false: to `free` */
    size_t take_len, free_len;
    char take[256], free[256];
};

/* The clients, and the beginnings of the answers to their two commands. */
struct loop {
    struct client *clients;
    int count, epoll_fd;
    const char *taken, *freed;
    size_t answer_len;
    uint64_t commands;
};

static int64_t now_ns(clockid_t clock) {
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int fail(const char *what, const char *why) {
    fprintf(stderr, "bare loop: %s: %s\n", what, why);
    return -1;
}

static int send_next(struct client *client) {
    const char *command = client->takes ? client->take : client->free;
    size_t len = client->takes ? client->take_len : client->free_len;
    if (write(client->fd, command, len) == (ssize_t)len) return 0;
    return fail("a command was not sent", strerror(errno));
}

/* Reads the answer of a client, which comes whole since it is small, and sends its next command. */
static int step(struct loop *loop, struct client *client) {
    const char *wanted = client->takes ? loop->taken : loop->freed;
    char text[512];
    ssize_t got = read(client->fd, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    if (got < (ssize_t)loop->answer_len || memcmp(text, wanted, loop->answer_len) != 0)
        return fail("the server answered", text);
    loop->commands++;
    client->takes = !client->takes;
    return send_next(client);
}

/* Sends the first command of each client, in a random order; each further command follows an answer, so the order stays.
 * In the order in which the connections were made, the processor would predict what memory the server and the kernel
 * read next. The clients of a service do not send in that order, nor do lockbench's. */
static int begin(struct loop *loop) {
    int *order = calloc((size_t)loop->count, sizeof *order);
    int failed = order ? 0 : fail("no memory", strerror(errno));
    srandom(1);
    for (int i = 0; i < loop->count && !failed; i++) {
        int place = (int)(random() % (i + 1));
        order[i] = order[place];
        order[place] = i;
    }
    for (int i = 0; i < loop->count && !failed; i++) {
        loop->clients[order[i]].takes = true;
        failed = send_next(&loop->clients[order[i]]);
    }
    free(order);
    return failed;
}

static int run_until(struct loop *loop, int64_t end_ns) {
    struct epoll_event events[EVENTS];
    while (now_ns(CLOCK_MONOTONIC) < end_ns) {
        int count = epoll_wait(loop->epoll_fd, events, EVENTS, 100);
        for (int i = 0; i < count; i++) {
            if (step(loop, events[i].data.ptr) != 0) return -1;
        }
    }
    return 0;
}

static int measure(struct loop *loop) {
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < loop->count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop->clients[i]};
        if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->clients[i].fd, &event) != 0)
            return fail("epoll", strerror(errno));
    }
    if (begin(loop) != 0) return -1;
    if (run_until(loop, now_ns(CLOCK_MONOTONIC) + WARMUP_NS) != 0) return -1;
    uint64_t before = loop->commands;
    int64_t begin_ns = now_ns(CLOCK_MONOTONIC), begin_cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (run_until(loop, begin_ns + WINDOW_NS) != 0) return -1;
    double cpu_ns = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns);
    double took_ns = (double)(now_ns(CLOCK_MONOTONIC) - begin_ns);
    double done = (double)(loop->commands - before);
    if (done <= 0) return fail("no command was answered", "is the server busy?");
    printf("%.0f %.1f\n", done * 1e9 / took_ns, cpu_ns / done);
    return 0;
}

static int reads(void) {
    enum { TIMES = 4000000 };
    int64_t begin_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 4 * TIMES; i++) now_ns(CLOCK_MONOTONIC);
    printf("0 %.1f\n", (double)(now_ns(CLOCK_MONOTONIC) - begin_ns) / TIMES);
    return 0;
}

/* --- Redis --- */

/* The keys of a run are its own, since the last ones stay until their time to live ends. */
static void write_redis_commands(struct client *client, const char *sha1, int index) {
    char key[64];
    int len = snprintf(key, sizeof key, "lockbench-floor-%d-%d", (int)getpid(), index);
    client->take_len = (size_t)snprintf(client->take, sizeof client->take,
                                        "*6\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$40\r\n" TOKEN
                                        "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n",
                                        len, key);
    client->free_len = (size_t)snprintf(
        client->free, sizeof client->free,
        "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$%d\r\n%s\r\n$40\r\n" TOKEN "\r\n", sha1,
        len, key);
}

static int open_redis(struct client *client, int port, const char *password) {
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[256];
    int on = 1;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 || connect(client->fd, (const struct sockaddr *)&at, sizeof at) != 0)
        return fail("no connection", strerror(errno));
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int len = snprintf(text, sizeof text, "AUTH %s\r\n", password);
    if (write(client->fd, text, (size_t)len) == len && read(client->fd, text, sizeof text) > 3 &&
        strncmp(text, "+OK", 3) == 0)
        return 0;
    return fail("Redis does not let a client in", "is REDISCLI_AUTH its password?");
}

static int redis(struct loop *loop, int port, const char *sha1) {
    loop->taken = "+O", loop->freed = ":1", loop->answer_len = 2;
    const char *password = getenv("REDISCLI_AUTH");
    for (int i = 0; i < loop->count; i++) {
        write_redis_commands(&loop->clients[i], sha1, i);
        if (open_redis(&loop->clients[i], port, password ? password : "") != 0) return -1;
    }
    return measure(loop);
}

/* --- PostgreSQL: libpq connects and prepares; then the loop sends what PQsendQueryPrepared() would send --- */

#ifdef HAVE_LIBPQ
/* The answer begins with BindComplete and the description of the row; an error has 'E' in its place. */
#define ANSWER "2\0\0\0\4T"

/* A message with its length, which counts itself and all that follows it. Returns the bytes. */
static size_t put_message(char *to, char type, const void *body, size_t len) {
    to[0] = type;
    to[1] = to[2] = to[3] = 0;
    to[4] = (char)(len + 4); /* below 128 */
    memcpy(to + 5, body, len);
    return len + 5;
}

/* Bind, Describe, Execute and Sync of a statement with one parameter of a few bytes, as text. Returns the bytes. */
static size_t put_command(char *to, const char *statement, const char *parameter) {
    /* formats: all text; one parameter; three of the four bytes of its length */
    static const char before[7] = {0, 0, 0, 1, 0, 0, 0};
    char body[64] = ""; /* the unnamed portal */
    size_t len = 1, parameter_len = strlen(parameter);
    len += strlen(strcpy(body + len, statement)) + 1;
    memcpy(body + len, before, sizeof before);
    len += sizeof before;
    body[len++] = (char)parameter_len;
    memcpy(body + len, parameter, parameter_len);
    len += parameter_len + 2; /* formats of the results: all text */
    size_t used = put_message(to, 'B', body, len);
    used += put_message(to + used, 'D', "P", 2);
    used += put_message(to + used, 'E', "\0\0\0\0", 5); /* all rows of the unnamed portal */
    return used + put_message(to + used, 'S', "", 0);
}

static int prepare(PGconn *conn, const char *name, const char *text) {
    PGresult *result = PQprepare(conn, name, text, 0, NULL);
    int failed = PQresultStatus(result) != PGRES_COMMAND_OK;
    PQclear(result);
    return failed;
}

static int postgres(struct loop *loop, const char *port, const char *user, const char *database) {
    loop->taken = loop->freed = ANSWER, loop->answer_len = sizeof ANSWER - 1;
    for (int i = 0; i < loop->count; i++) {
        struct client *client = &loop->clients[i];
        char key[12];
        snprintf(key, sizeof key, "%d", i);
        PGconn *conn = PQsetdbLogin("127.0.0.1", port, NULL, NULL, database, user, NULL);
        if (PQstatus(conn) != CONNECTION_OK ||
            prepare(conn, "take", "SELECT pg_advisory_lock($1)") != 0 ||
            prepare(conn, "free", "SELECT pg_advisory_unlock($1)") != 0)
            return fail("PostgreSQL", PQerrorMessage(conn));
        client->fd = PQsocket(conn); /* open until this program ends */
        client->take_len = put_command(client->take, "take", key);
        client->free_len = put_command(client->free, "free", key);
    }
    return measure(loop);
}
#else
static int postgres(struct loop *loop, const char *port, const char *user, const char *database) {
    (void)loop, (void)port, (void)user, (void)database;
    return fail("PostgreSQL", "libpq was missing when this program was built");
}
#endif

int main(int argc, char **argv) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (argc == 2 && strcmp(argv[1], "reads") == 0) return reads() != 0;
    struct loop loop = {.count = argc > 3 ? atoi(argv[3]) : 0};
    loop.clients = calloc((size_t)loop.count + 1, sizeof *loop.clients);
    if (loop.clients && argc == 5 && strcmp(argv[1], "redis") == 0)
        return redis(&loop, atoi(argv[2]), argv[4]) != 0;
    if (loop.clients && argc == 6 && strcmp(argv[1], "postgres") == 0)
        return postgres(&loop, argv[2], argv[4], argv[5]) != 0;
    return fail("no such arguments", "see the beginning of its source") != 0;
}
