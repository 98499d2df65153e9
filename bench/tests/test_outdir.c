/* test_outdir: what a run writes into its folder. */
#include "bench/oplog/oplog.h"
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
