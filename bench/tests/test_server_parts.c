/* The small parts of bench/servers: ports, folders, URLs, last words, processes, the janitor. Starts no
 * server. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "bench/servers/folder.h"
#include "bench/servers/janitor.h"
#include "bench/servers/ports.h"
#include "bench/servers/proc.h"
#include "bench/servers/shm.h"
#include "bench/servers/spawn.h"
#include "bench/servers/topo_node.h"
#include "bench/stage/machine.h"
#include "bench/tests/servers_help.h"

/* A disk that fills up takes a part of what is written, which is no error by itself. */
TEST(a_copy_without_room_says_why) {
    char dir[512], to[600];
    struct lb_err err = {0};
    struct rlimit old;
    assert_int_equal(folder_make(NULL, "room", dir, sizeof dir, &err), 0);
    snprintf(to, sizeof to, "%s/copy", dir);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, old.rlim_max}), 0);
    errno = EINVAL;
    int failed = file_copy("/proc/self/exe", to, 0755, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    folder_remove(dir);
    assert_int_equal(failed, -1);
    if (!strstr(err.text, "cannot copy ") ||
        !strstr(err.text, "copy: File too large; set TMPDIR to a folder with room"))
        fail_msg("%s", err.text);
}

TEST(ports_are_free_and_different) {
    int ports[64];
    struct lb_err err = {0};
    assert_int_equal(ports_pick(ports, 64, &err), 0);
    for (int i = 0; i < 64; i++) {
        assert_in_range(ports[i], 1024, 65535);
        assert_false(port_answers(ports[i]));
        for (int j = 0; j < i; j++) assert_int_not_equal(ports[i], ports[j]);
    }
    assert_int_equal(ports_pick(ports, 65, &err), -1);
}

TEST(folder_is_removed_but_not_what_it_links_to) {
    char outside[512], inside[512], path[600], target[600];
    struct lb_err err = {0};
    assert_int_equal(folder_make(NULL, "outside", outside, sizeof outside, &err), 0);
    assert_int_equal(folder_make(NULL, "inside", inside, sizeof inside, &err), 0);
    snprintf(target, sizeof target, "%s/precious", outside);
    assert_int_equal(mkdir(target, 0755), 0);
    snprintf(path, sizeof path, "%s/link", inside);
    assert_int_equal(symlink(outside, path), 0);
    snprintf(path, sizeof path, "%s/deep", inside);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/deep/file", inside);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(folder_remove(inside), 0);
    assert_true(access(inside, F_OK) != 0);
    assert_int_equal(access(target, F_OK), 0);
    assert_int_equal(folder_remove(inside), 0); /* not there: fine */

    /* Nor is the folder itself a link. */
    assert_int_equal(symlink(outside, inside), 0);
    assert_int_equal(folder_remove(inside), -1);
    assert_int_equal(access(target, F_OK), 0);
    unlink(inside);
    assert_int_equal(folder_remove(outside), 0);
}

TEST(last_words_are_the_last_lines) {
    static const struct {
        const char *log, *words;
        bool port;
    } cases[] = {
        {"", "", false},
        {"one\n", "one", false},
        {"one\ntwo\n\n three \r\nfour", "two / three  / four", false},
        {"java.net.BindException: Address already in use\n\tat a.b(C.java:1)\n\tat d.e(F.java:2)\n",
         "java.net.BindException: Address already in use", true},
        {"ADDRESS ALREADY IN USE\na\nb\nc\nd\n", "b / c / d", true},
    };
    char dir[512], path[600], words[320];
    struct lb_err err = {0};
    assert_int_equal(folder_make(NULL, "words", dir, sizeof dir, &err), 0);
    assert_string_equal(last_words(dir, words, sizeof words), "");
    snprintf(path, sizeof path, "%s.log", dir);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen(path, "w");
        fputs(cases[i].log, file);
        fclose(file);
        assert_string_equal(last_words(dir, words, sizeof words), cases[i].words);
        assert_int_equal(last_words_blame_port(dir), cases[i].port);
    }
    /* A long log: its end, and no more than fits. */
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 5000; i++) fprintf(file, "line %d\n", i);
    fclose(file);
    assert_string_equal(last_words(dir, words, sizeof words), "line 4997 / line 4998 / line 4999");
    char few[8];
    assert_string_equal(last_words(dir, few, sizeof few), "line 49");
    folder_remove(dir);
    unlink(path);
}

TEST(numbers_of_proc_are_read_by_their_names) {
    static const char io[] = "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\n"
                             "read_bytes: 0\nwrite_bytes: 323932160\ncancelled_write_bytes: 4096\n";
    static const char rollup[] =
        "5596bd8a3000-7ffd7a1f6000 ---p 00000000 00:00 0                          [rollup]\n"
        "Rss:               14132 kB\nPss:                9331 kB\nPss_Dirty:          8012 kB\n";
    assert_int_equal(proc_number_of(io, "write_bytes"), 323932160);
    assert_int_equal(proc_number_of(io, "rchar"), 323934931);
    assert_int_equal(proc_number_of(rollup, "Pss"), 9331 * 1024);
    assert_int_equal(proc_number_of(io, "bytes"), -1); /* the end of a name is none */
    assert_int_equal(proc_number_of(io, "write"), -1); /* nor is its beginning */
    assert_int_equal(proc_number_of("Pss_Dirty: 8 kB\nPss: 9 kB\n", "Pss"), 9 * 1024);
    assert_int_equal(proc_number_of("Pss:\n", "Pss"), -1);
    assert_int_equal(proc_number_of("", "Pss"), -1);
}

/* A child that leads its own group and waits for its end. pid: the pid that it must get; 0 = any. Returns -1 where this
 * account may not choose a pid. */
static pid_t group_leader(pid_t pid) {
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = pid ? (uintptr_t)&pid : 0, .set_tid_size = pid ? 1 : 0};
    int fds[2];
    char led;
    assert_int_equal(pipe(fds), 0);
    pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (child == 0) {
        setpgid(0, 0);
        close(fds[1]);
        for (;;) pause();
    }
    close(fds[1]);
    if (child > 0) assert_int_equal(read(fds[0], &led, 1), 0);
    close(fds[0]);
    return child;
}

/* Whether the janitor has read all that it was sent. A message wakes it at once, so while it sleeps
 * there is none. */
static bool janitor_idle(void) {
    const pid_t janitor = janitor_pid();
    int count = 0;
    struct proc *tree = proc_tree(&janitor, 1, &count);
    bool idle = count == 1 && tree[0].state == 'S';
    free(tree);
    return idle;
}

/* The janitor ends the group that it was told of, and spares a later one whose leader got the same
 * pid. */
TEST(janitor_knows_its_groups) {
    struct lb_err err = {0};
    assert_int_equal(janitor_start(&err), 0);
    pid_t known = group_leader(0), ended = group_leader(0);
    assert_true(known > 0 && ended > 0);
    janitor_group(JANITOR_ADD, known);
    janitor_group(JANITOR_ADD, ended);
    bool idle = false; /* it has read both messages */
    for (int i = 0; i < 10000 && !idle; i++) {
        help_nap_ms(1);
        idle = janitor_idle();
    }
    assert_true(idle);
    kill(ended, SIGKILL);
    waitpid(ended, NULL, 0);
    help_nap_ms(20); /* a clock tick: a start is known to 10 ms */
    pid_t later = group_leader(ended);
    if (later < 0) print_message("a group of the same pid: this account can't choose a pid\n");
    janitor_finish();
    int status = 0;
    assert_int_equal(waitpid(known, &status, 0), known);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (later < 0) return;
    assert_int_equal(waitpid(later, NULL, WNOHANG), 0);
    kill(later, SIGKILL);
    waitpid(later, NULL, 0);
}

TEST_MAIN(NULL, NULL)
