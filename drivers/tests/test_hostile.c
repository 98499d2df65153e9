/* test_hostile: for each backend a peer that is no such server: silent, endless, of random bytes, of absurd lengths,
 * nested deeply, slow, closing. A session must end with one clear line within the limit of its connect, in little
 * memory. Each try has a process of its own, whose memory is known and whose crash is seen. */
#define _GNU_SOURCE
#include "drivers/tests/fake_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/tests/loopback.h"
#include "drivers/registry.h"

#define CONNECT_NS (500 * LB_MS_NS)
#define HANG_S 60              /* a session that lasts so long hangs, on a slow machine too */
#define MEMORY_KB (200 * 1024) /* of one try */
#define BYTES(text) text, sizeof(text) - 1

/* What a server says: the first bytes once, then others again and again. */
struct speech {
    const char *name;
    const char *first;
    size_t first_len;
    const char *again;
    size_t again_len;
    bool random;
    bool slow;   /* a byte at a time */
    bool closes; /* when it has said the first bytes */
};

#define COMMON                                                                                     \
    {.name = "silent"}, {.name = "closing", .closes = true}, {.name = "random", .random = true},   \
        {.name = "slow", .again = "x", .again_len = 1, .slow = true},                              \
        {.name = "an endless line", .again = BYTES("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")}, { \
        .name = "zeros", .again = BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")                        \
    }

static const struct speech redis[] = {
    COMMON,
    {.name = "an endless status", .first = BYTES("+"), .again = BYTES("PONGPONGPONGPONG")},
    {.name = "an endless bulk",
     .first = BYTES("$9223372036854775807\r\n"),
     .again = BYTES("xxxxxxxx")},
    {.name = "a bulk of negative length", .again = BYTES("$-9223372036854775808\r\n")},
    {.name = "an endless array",
     .first = BYTES("*9223372036854775807\r\n"),
     .again = BYTES(":1\r\n")},
    {.name = "nesting", .again = BYTES("*1\r\n")},
    {.name = "errors", .again = BYTES("-ERR no\r\n")},
    {0},
};
static const struct speech memcached[] = {
    COMMON,
    {.name = "an endless value",
     .first = BYTES("VA 18446744073709551615 c1\r\n"),
     .again = BYTES("xxxxxxxx")},
    {.name = "endless statistics", .again = BYTES("STAT a b\r\n")},
    {0},
};
static const struct speech nats[] = {
    COMMON,
    {.name = "an INFO without end", .first = BYTES("INFO {\"a\":\""), .again = BYTES("xxxxxxxx")},
    {.name = "nesting", .first = BYTES("INFO "), .again = BYTES("[[[[[[[[")},
    {.name = "an endless message",
     .first = BYTES("INFO {}\r\nMSG a 1 18446744073709551615\r\n"),
     .again = BYTES("xxxxxxxx")},
    {.name = "endless pings", .first = BYTES("INFO {}\r\n"), .again = BYTES("PING\r\n")},
    {.name = "endless oks", .first = BYTES("INFO {}\r\n"), .again = BYTES("+OK\r\n")},
    {0},
};
static const struct speech etcd[] = {
    COMMON,
    {.name = "a frame of 16 MB", .again = BYTES("\xff\xff\xff\0\0\0\0\0\1")},
    {.name = "endless settings", .again = BYTES("\0\0\0\4\0\0\0\0\0")},
    {.name = "HTTP/1", .first = BYTES("HTTP/1.1 200 OK\r\n"), .again = BYTES("X: y\r\n")},
    {0},
};
static const struct speech postgres[] = {
    COMMON,
    {.name = "an endless error", .first = BYTES("E\x7f\xff\xff\xff"), .again = BYTES("xxxxxxxx")},
    {.name = "endless parameters",
     .again = BYTES("S\0\0\0\x8"
                    "a\0b\0")},
    {.name = "endless notices",
     .first = BYTES("R\0\0\0\x8\0\0\0\0Z\0\0\0\x5I"),
     .again = BYTES("N\0\0\0\x5\0")},
    {.name = "a wanted for data", .first = BYTES("R\0\0\0\x8\0\0\0\0Z\0\0\0\x5IG\0\0\0\x7\0\0\0")},
    {.name = "endless rows",
     .first = BYTES("R\0\0\0\x8\0\0\0\0Z\0\0\0\x5I"
                    "T\0\0\0\x6\0\0"),
     .again = BYTES("D\0\0\0\x6\0\0")},
    {.name = "endless answers",
     .first = BYTES("R\0\0\0\x8\0\0\0\0Z\0\0\0\x5I"),
     .again = BYTES("C\0\0\0\x6x\0")},
    {.name = "a long row",
     .first = BYTES("R\0\0\0\x8\0\0\0\0Z\0\0\0\x5I"
                    "T\0\0\0\x6\0\0D\x7f\xff\xff\xff"),
     .again = BYTES("xxxxxxxx")},
    {0},
};
static const struct speech mysql[] = {
    COMMON,
    {.name = "packets of 16 MB", .first = BYTES("\xff\xff\xff\0\xa"), .again = BYTES("xxxxxxxx")},
    {.name = "an error without text", .first = BYTES("\3\0\0\0\xff\0\0")},
    {0},
};
/* Over TLS: a record that takes longer than any limit, once the client has said what it wants. */
#define SLOW_RECORD .again = BYTES("\x16\x03\x03\x40\0"), .slow = true
static const struct speech tls[] = {COMMON, {.name = "a slow record", SLOW_RECORD}, {0}};
static const struct speech tls_nats[] = {
    {.name = "a slow record", .first = BYTES("INFO {\"tls_required\":true}\r\n"), SLOW_RECORD},
    {0}};
static const struct speech tls_postgres[] = {
    {.name = "a slow record", .first = BYTES("S"), SLOW_RECORD}, {0}};
static const struct speech tls_mysql[] = {
    {.name = "a slow record",
     .first = BYTES("\x49\0\0\0\xa"
                    "10.11\0\1\0\0\0"
                    "12345678\0\1\x8a\x8\2\0\x8\0\x15\0\0\0\0\0\0\0\0\0\0"
                    "123456789012\0"
                    "mysql_native_password\0"),
     SLOW_RECORD},
    {0}};
static const struct speech zookeeper[] = {
    COMMON,
    {.name = "an absurd length", .first = BYTES("\x7f\xff\xff\xff"), .again = BYTES("xxxxxxxx")},
    {.name = "a negative length", .again = BYTES("\xff\xff\xff\xff")},
    {.name = "answers to nothing",
     .first = BYTES("\0\0\0\x25\0\0\0\0\0\0\x75\x30\0\0\0\0\0\0\0\1\0\0\0\x10"
                    "0123456789abcdef\0"),
     .again = BYTES("\0\0\0\x10\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0")},
    {0},
};

static const struct {
    const char *scheme, *lock, *path;
    const struct speech *speeches;
} backends[] = {
    {"redis", "redis-setnx", "", redis},
    {"memcached", "memcached-add", "", memcached},
    {"nats", "nats-kv", "", nats},
    {"http", "etcd-mutex", "", etcd},
    {"postgres", "pg-advisory", "/base?sslmode=disable", postgres},
    {"mysql", "mysql-getlock", "/base", mysql},
    {"zookeeper", "zk-lock", "", zookeeper},
    {"rediss", "redis-setnx", "", tls},
    {"memcacheds", "memcached-add", "", tls},
    {"https", "etcd-mutex", "", tls},
    {"tls", "nats-kv", "", tls_nats},
    {"postgres", "pg-advisory", "/base?sslmode=require", tls_postgres},
    {"mysqls", "mysql-getlock", "/base", tls_mysql},
};

static bool tell(int fd, const char *bytes, size_t len, bool slow) {
    for (size_t at = 0, step = slow ? 1 : len; at < len; at += step) {
        if (send(fd, bytes + at, step, MSG_NOSIGNAL) != (ssize_t)step) return false;
        if (slow) usleep(100000);
    }
    return true;
}

/* One connection, until its client ends it. */
static void give_speech(int fd, const struct speech *speech) {
    static char block[64 * 1024];
    struct lb_rng rng;
    rng_seed(&rng, 7, 7);
    size_t used = 0;
    for (size_t i = 0; speech->random && i + 32 <= sizeof block; i += 32)
        rng_bytes(&rng, block + i, 32);
    if (speech->random) used = sizeof block - 32;
    for (; speech->again && used + speech->again_len <= sizeof block && !(speech->slow && used > 0);
         used += speech->again_len)
        memcpy(block + used, speech->again, speech->again_len);
    if (speech->first && !tell(fd, speech->first, speech->first_len, false)) return;
    if (speech->closes) return;
    if (speech->first && speech->slow) usleep(200000); /* till that has been read alone */
    while (used > 0 && tell(fd, block, used, speech->slow)) {
    }
    while (recv(fd, block, sizeof block, 0) > 0) {
    }
}

/* A server that gives the speech to everyone, in a process group of its own. */
static pid_t start_server(const struct speech *speech, int *ret_port) {
    int listener = loopback_listen(ret_port);
    pid_t parent = getpid(), pid = fork();
    if (pid != 0) {
        setpgid(pid, pid);
        close(listener);
        return pid;
    }
    setpgid(0, 0);
    signal(SIGCHLD, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(2 * HANG_S);
    for (int fd; getppid() == parent && (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        if (fork() != 0) continue;
        alarm(2 * HANG_S);
        give_speech(fd, speech);
        _exit(0);
    }
    _exit(1);
}

struct hostile_try {
    pid_t server, client;
    int said; /* a pipe: the line that the client ends with */
};

/* The client's process: what it has to say goes to fd. */
static void talk_to(const char *url, const char *lock, int fd) {
    struct fake_session fake = {.lock = registry_lock(lock),
                                .key = "k",
                                .lease_ns = 10 * LB_S_NS,
                                .connect_ns = CONNECT_NS};
    struct lb_err err = {0};
    snprintf(fake.url, sizeof fake.url, "%.120s", url);
    alarm(HANG_S);
    if (loop_once("hostile", fake_talk, &fake, &err) != 0) _exit(1);
    dprintf(fd, "%s", fake.connected != 0 || fake.err.code ? fake.err.text : "connected");
    _exit(0);
}

static struct hostile_try begin_try(const char *scheme, const char *lock, const char *path,
                                    const struct speech *speech) {
    struct hostile_try begun;
    int ends[2], port;
    char url[200];
    begun.server = start_server(speech, &port);
    snprintf(url, sizeof url, "%s://%s127.0.0.1:%d%s", scheme, *path ? "me:word@" : "", port, path);
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    begun.client = fork();
    if (begun.client == 0) talk_to(url, lock, ends[1]);
    close(ends[1]);
    begun.said = ends[0];
    return begun;
}

/* Ends it, and looks at what came of it. Returns whether all was well. */
static bool end_try(const struct hostile_try *begun, const char *lock, const char *name) {
    char line[1200];
    size_t used = 0;
    int status = 0;
    struct rusage usage;
    for (ssize_t got; used < sizeof line - 1 &&
                      (got = read(begun->said, line + used, sizeof line - 1 - used)) > 0;)
        used += (size_t)got;
    line[used] = '\0';
    close(begun->said);
    wait4(begun->client, &status, 0, &usage);
    kill(-begun->server, SIGKILL);
    waitpid(begun->server, NULL, 0);
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && used > 0 && !strchr(line, '\n') &&
                strcmp(line, "connected") != 0 && usage.ru_maxrss < MEMORY_KB;
    if (!well || getenv("HOSTILE_SHOW"))
        print_message("%s, %s: status %x, %ld KB: '%s'\n", lock, name, status, usage.ru_maxrss,
                      line);
    return well;
}

TEST(every_hostile_server_leaves_one_line) {
    int bad = 0;
    const char *missing = NULL;
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
        struct hostile_try begun[24];
        const struct speech *speeches = backends[b].speeches;
        if (registry_lock(backends[b].lock)->backend->missing &&
            !registry_lock(backends[b].lock)->backend->connector) {
            missing = backends[b].lock;
            continue;
        }
        for (int i = 0; speeches[i].name; i++)
            begun[i] =
                begin_try(backends[b].scheme, backends[b].lock, backends[b].path, &speeches[i]);
        for (int i = 0; speeches[i].name; i++)
            bad += !end_try(&begun[i], backends[b].lock, speeches[i].name);
    }
    assert_int_equal(bad, 0);
    if (missing) skip_for("%s is not in this build", missing);
}

/* The system's certificates, which nobody here has, would take each try longer to read than all else. */
FIXTURE(no_certificates) {
    return setenv("SSL_CERT_FILE", "/dev/null", 1);
}

TEST_MAIN(no_certificates, NULL)
