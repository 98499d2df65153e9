/* test_outdir: the folder of a run belongs to one program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>

#include "bench/oplog/oplog.h"
#include "bench/run/outdir.h"
#include "bench/servers/jobs.h"
#include "bench/tests/unit.h"

static char folder[] = "/tmp/lockbench-test-XXXXXX";

FIXTURE(make_folder) {
    return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
    return rmdir(folder); /* fails if a test left anything */
}

static const char *inside(const char *name) {
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Another process, which has made the folder and waits before it writes a result. */
struct other {
    pid_t pid;
    int end; /* writing a byte: it writes run.json, and says so */
    int news;
};

static void live_other(int from, int to) {
    struct outdir out;
    struct lb_err err = {0};
    char byte = 0;
    bool made = outdir_make(&out, folder, NULL, "w", &err) == 0;
    if (write(to, made ? "y" : "n", 1) != 1 || read(from, &byte, 1) != 1) _exit(1);
    json_t *run = json_pack("{s:[i]}", "stages", 1);
    made = outdir_write(&out, run, &err) == 0;
    outdir_claimed(&out);
    if (write(to, made ? "y" : "n", 1) != 1) _exit(1);
    _exit(read(from, &byte, 1) < 0);
}

static char read_news(const struct other *other) {
    char byte = 0;
    assert_int_equal(read(other->news, &byte, 1), 1);
    return byte;
}

static struct other start_other(void) {
    int to[2], from[2];
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    struct other other = {.pid = fork(), .end = to[1], .news = from[0]};
    if (other.pid == 0) {
        close(to[1]);
        live_other(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    assert_int_equal(read_news(&other), 'y');
    return other;
}

static void end_other(struct other *other) {
    close(other->end);
    close(other->news);
    assert_int_equal(waitpid(other->pid, NULL, 0), other->pid);
}

static void refused(const char *words) {
    struct outdir out;
    struct lb_err err = {0};
    assert_int_equal(outdir_make(&out, folder, NULL, "w", &err), -1);
    assert_int_equal(err.code, LB_EXIT_USAGE);
    if (!strstr(err.text, words)) fail_msg("%s", err.text);
}

TEST(two_that_find_a_folder_empty_do_not_both_write_there) {
    struct other other = start_other();
    refused("another lockbench begins to write there; name a new folder");
    assert_int_equal(write(other.end, "", 1), 1);
    assert_int_equal(read_news(&other), 'y');
    assert_int_not_equal(access(inside(".try"), F_OK), 0);
    refused("there is a run.json already");
    end_other(&other);
    assert_int_equal(unlink(inside("run.json")), 0);
    assert_int_not_equal(access(inside(".try"), F_OK), 0);
}

/* A program that was killed leaves its file, and no claim. */
TEST(a_claim_ends_with_its_program) {
    struct other other = start_other();
    end_other(&other);
    assert_int_equal(access(inside(".try"), F_OK), 0);
    struct outdir out;
    struct lb_err err = {0};
    assert_int_equal(outdir_make(&out, folder, NULL, "w", &err), 0);
    outdir_claimed(&out);
    assert_int_not_equal(access(inside(".try"), F_OK), 0);
}

/* The folder may be another account's, and its links may lead to files of this one. */
TEST(a_folder_with_a_link_is_refused) {
    static const char *const names[] = {"run.json.new", "report.html", "cells"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(symlink("/nowhere", inside(names[i])), 0);
        refused("is a link; name a new folder");
        assert_int_equal(unlink(inside(names[i])), 0);
    }
}

/* A link that was made after the run began. */
TEST(no_file_of_a_run_is_a_link) {
    struct lb_err err = {0};
    assert_int_equal(symlink("/tmp", inside("a")), 0);
    assert_int_equal(jobs_make_folder(inside("a"), &err), -1);
    assert_int_equal(unlink(inside("a")), 0);
    assert_int_equal(symlink("theirs", inside("a")), 0);
    err.code = 0;
    void *memory = calloc(1, oplog_bytes(1, true));
    struct oplog *history = oplog_init(memory, 1, true);
    assert_null(oplog_writer_start(history, inside("a"), &(struct oplog_rules){0}, "sim", &err));
    assert_int_not_equal(access(inside("theirs"), F_OK), 0);
    free(memory);
    assert_int_equal(unlink(inside("a")), 0);
}

TEST_MAIN(make_folder, remove_folder)
