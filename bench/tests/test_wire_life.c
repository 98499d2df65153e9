/* test_wire_life: whose connections a fault is for; many connections and much data; and how the
 * wire's process ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/servers/proc.h"
#include "bench/tests/wire_help.h"

/* --- a client in a process of its own --- */

struct child {
    pid_t pid;
    int tell, hear;
};

/* 'f': goes on in a child of its own; 'c': connects; 's': sends an "x" on each connection; 'r': reads a byte of the last one and
 * answers with what came. */
static void child_main(int port, int tell, int hear) {
    int fds[8], count = 0;
    char command;
    while (read(hear, &command, 1) == 1) {
        char answer = command;
        pid_t below = command == 'f' ? fork() : 0;
        if (below > 0) {
            waitpid(below, NULL, 0);
            break;
        }
        if (command == 'c' && count < 8) {
            fds[count] = wire_connect(port);
            if (fds[count++] < 0) answer = 'E';
        }
        for (int i = 0; command == 's' && i < count; i++) (void)!send(fds[i], "x", 1, MSG_NOSIGNAL);
        if (command == 'r' && help_read(fds[count - 1], &answer, 1) != 1) answer = 'E';
        if (write(tell, &answer, 1) != 1) break;
    }
    _exit(0);
}

static struct child child_up(int port) {
    int to[2], from[2];
    struct child child;
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    child.pid = fork();
    if (child.pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close_range(3, ~0U, 0); /* or our connections were the child's as well */
        child_main(port, 1, 0);
    }
    close(to[0]);
    close(from[1]);
    child.tell = to[1];
    child.hear = from[0];
    return child;
}

static char child_does(const struct child *child, char command) {
    char answer = 0;
    assert_int_equal(write(child->tell, &command, 1), 1);
    assert_int_equal(read(child->hear, &answer, 1), 1);
    return answer;
}

static void child_down(struct child *child) {
    close(child->tell);
    close(child->hear);
    waitpid(child->pid, NULL, 0);
}

static int accept_one(void) {
    int fd = accept(rig.listen_fd, NULL, NULL);
    assert_true(fd >= 0);
    help_limit(fd, PATIENCE_MS);
    return fd;
}

/* A client may have its connection in a program that it has started. */
WIRED(strikes_what_is_below_a_given_process) {
    struct child child = child_up(wire_port(rig.wire, 0));
    struct pair ours = pair_up();
    assert_int_equal(child_does(&child, 'f'), 'f');
    assert_int_equal(child_does(&child, 'c'), 'c');
    int theirs = accept_one();
    int fault =
        help_set((struct wire_fault){.kind = WIRE_RESET, .pids = &child.pid, .pid_count = 1});
    assert_int_equal(help_sign(fault).struck, 1);
    char byte;
    assert_int_equal(help_read(theirs, &byte, 1), -ECONNRESET);
    help_pass(ours.client, ours.server, "untouched");
    child_down(&child);
    close(theirs);
}

WIRED(strikes_only_given_processes) {
    struct child child = child_up(wire_port(rig.wire, 0)), other = child_up(wire_port(rig.wire, 0));
    struct pair ours = pair_up();
    assert_int_equal(child_does(&child, 'c'), 'c');
    int theirs = accept_one();
    assert_int_equal(child_does(&other, 'c'), 'c');
    int others = accept_one();

    int fault = help_set((struct wire_fault){
        .kind = WIRE_SWALLOW, .way = WIRE_REQUESTS, .pids = &child.pid, .pid_count = 1});
    assert_int_equal(help_sign(fault).matched, 1);
    child_does(&child, 's');
    child_does(&other, 's');
    help_comes(others, "x");
    help_pass(ours.client, ours.server, "ours");
    HELP_UNTIL(help_sign(fault).bytes == 1);
    help_silent(theirs);
    assert_int_equal(help_count(WIRE_REQUESTS).swallowed_bytes, 1);
    /* New connections, too: of the child they are swallowed, of others not. */
    assert_int_equal(child_does(&child, 'c'), 'c');
    HELP_UNTIL(help_sign(fault).matched == 2);
    assert_int_equal(child_does(&other, 'c'), 'c');
    int more = accept_one();
    child_does(&child, 's');
    child_does(&other, 's');
    help_comes(more, "x");
    HELP_UNTIL(help_sign(fault).bytes == 3);
    help_lift(fault);
    char byte;
    assert_int_equal(help_read(theirs, &byte, 1), -ECONNRESET);

    /* Of two processes at once; a fault that is for nobody strikes nobody. */
    pid_t both[] = {child.pid, other.pid}, nobody = wire_pid(rig.wire);
    assert_int_equal(child_does(&child, 'c'), 'c');
    int again = accept_one();
    fault = help_set((struct wire_fault){.kind = WIRE_RESET, .pids = &nobody, .pid_count = 1});
    assert_int_equal(help_sign(fault).struck, 0);
    fault = help_set((struct wire_fault){.kind = WIRE_RESET, .pids = both, .pid_count = 2});
    assert_int_equal(help_sign(fault).struck, 3);
    assert_int_equal(help_read(again, &byte, 1), -ECONNRESET);
    help_pass(ours.server, ours.client, "untouched");

    /* Refused: accepted and reset, as there is one port for all. */
    fault = help_set((struct wire_fault){.kind = WIRE_REFUSE, .pids = &child.pid, .pid_count = 1});
    child_does(&child, 'c');
    assert_int_equal(child_does(&child, 'r'), 'E');
    assert_int_equal(help_sign(fault).struck, 1);
    struct pair later = pair_up();
    help_pass(later.client, later.server, "welcome");

    child_down(&child);
    child_down(&other);
    close(theirs);
    close(others);
    close(more);
    close(again);
}

/* --- much --- */

#define MANY 300

WIRED(many_connections) {
    static struct pair pairs[MANY];
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    for (int i = 0; i < MANY; i++) pairs[i] = pair_up();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) help_send(pairs[i].client, "question");
        for (int i = 0; i < MANY; i++) {
            help_comes(pairs[i].server, "question");
            help_send(pairs[i].server, "answer");
        }
        for (int i = 0; i < MANY; i++) help_comes(pairs[i].client, "answer");
    }
    /* All delayed, all come. */
    int fault = help_set((struct wire_fault){.kind = WIRE_DELAY, .by_ns = 20 * LB_MS_NS});
    for (int i = 0; i < MANY; i++) help_send(pairs[i].client, "question");
    for (int i = 0; i < MANY; i++) help_comes(pairs[i].server, "question");
    assert_int_equal(help_sign(fault).matched, MANY);
    fault = help_set((struct wire_fault){.kind = WIRE_RESET});
    assert_int_equal(help_sign(fault).struck, MANY);
}

static char pattern(uint64_t at) {
    return (char)(at * 2654435761U >> 13);
}

/* Sends as much as goes, of `total` bytes. */
static void send_some(int to, uint64_t total, uint64_t *sent) {
    static char data[65536];
    while (*sent < total) {
        size_t len = total - *sent < sizeof data ? (size_t)(total - *sent) : sizeof data;
        for (size_t i = 0; i < len; i++) data[i] = pattern(*sent + i);
        ssize_t passed = send(to, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (passed <= 0) break;
        *sent += (uint64_t)passed;
    }
}

/* Reads as much as comes, which must be the pattern. */
static void read_some(int from, uint64_t *got) {
    static char data[65536];
    for (;;) {
        ssize_t came = recv(from, data, sizeof data, MSG_DONTWAIT);
        if (came <= 0) break;
        for (ssize_t i = 0; i < came; i++) {
            if (data[i] != pattern(*got + (uint64_t)i))
                fail_msg("byte %llu is wrong", (unsigned long long)*got + (unsigned)i);
        }
        *got += (uint64_t)came;
    }
}

/* No kernel's socket buffers take so much. */
#define MUCH (UINT64_C(2) << 30)

/* The two counts are not of one moment, so that more may have been forwarded than read. */
static void assert_bounded(void) {
    struct wire_count count = help_count(WIRE_ANSWERS);
    assert_true((int64_t)(count.read_bytes - count.forwarded_bytes) <= 512 << 10);
}

/* What waits for a slow reader is bounded, by the kernel's buffers and the wire's own: the sender has to wait. Then all
 * of it comes, whole, and so does what is sent later. */
TEST(a_slow_reader) {
    for (int delayed = 0; delayed < 2; delayed++) {
        rig_up();
        struct pair pair = pair_up();
        uint64_t sent = 0, got = 0, before = 0;
        if (delayed) help_set((struct wire_fault){.kind = WIRE_DELAY, .by_ns = LB_MS_NS});
        /* Until nothing more goes for a while. */
        for (int idle = 0; idle < 20; idle = sent == before ? idle + 1 : 0) {
            before = sent;
            send_some(pair.server, MUCH, &sent);
            assert_bounded();
            usleep(5000);
        }
        assert_true(sent < MUCH);
        const uint64_t total = sent + (1 << 20);
        for (int64_t last_ns = lb_now(); got < total;) {
            uint64_t was = got;
            send_some(pair.server, total, &sent);
            read_some(pair.client, &got);
            if (got > was) {
                last_ns = lb_now();
                continue;
            }
            if (lb_now() - last_ns > PATIENCE_MS * LB_MS_NS)
                fail_msg("%llu bytes of %llu came", (unsigned long long)got,
                         (unsigned long long)total);
            usleep(200);
        }
        assert_int_equal(got, total);
        rig_down();
    }
}

/* --- its process --- */

/* Somebody may wait for the end of what the program wrote. */
WIRED(it_holds_nothing_of_the_program_open) {
    int ours[2];
    char byte;
    assert_int_equal(pipe(ours), 0);
    close(ours[1]);
    struct pollfd ends = {.fd = ours[0], .events = POLLIN};
    assert_int_equal(poll(&ends, 1, PATIENCE_MS), 1);
    assert_int_equal(read(ours[0], &byte, 1), 0);
    close(ours[0]);
}

WIRED(an_ended_wire_is_an_error) {
    struct lb_err err = {0};
    char byte;
    struct pair pair = pair_up();
    kill(wire_pid(rig.wire), SIGKILL);
    assert_true(help_read(pair.client, &byte, 1) <= 0);
    assert_int_equal(
        wire_set(rig.wire, &(struct wire_fault){.kind = WIRE_SWALLOW, .ends = 1}, &err), -1);
    assert_int_equal(err.code, LB_EXIT_MACHINE);
    assert_int_equal(wire_heal(rig.wire, &err), 0); /* nothing was on */
}

TEST_MAIN(NULL, NULL)
