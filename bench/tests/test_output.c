/* test_output: a file takes its place as a whole, and no signal leaves the unfinished one. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench/base/output.h"
#include "bench/tests/unit.h"

static char folder[] = "/tmp/lockbench-test-XXXXXX", path[60];

FIXTURE(make_folder) {
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/it", folder);
    return 0;
}

FIXTURE(remove_folder) {
    return rmdir(folder); /* fails if a test left anything */
}

static void assert_text(const char *of, const char *text) {
    char got[20] = "";
    FILE *file = fopen(of, "r");
    assert_non_null(file);
    assert_non_null(fgets(got, sizeof got, file));
    fclose(file);
    assert_string_equal(got, text);
}

static bool write_text(const char *text, int signal, bool whole) {
    struct output_file file;
    FILE *out = output_begin(&file, path);
    if (!out) return false;
    fputs(text, out);
    if (signal) kill(getpid(), signal);
    return output_replace(&file, out, path, whole) == 0;
}

TEST(a_signal_waits_until_the_file_is_whole) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (int i = 0; i < 4; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) _exit(write_text("new", signals[i], true));
        waitpid(pid, &status, 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        assert_text(path, "new");
        assert_int_equal(unlink(path), 0);
    }
}

TEST(a_file_that_is_not_whole_leaves_the_old_one) {
    assert_true(write_text("old", 0, true));
    assert_false(write_text("new", 0, false));
    assert_text(path, "old");
    assert_int_equal(unlink(path), 0);
}

/* Another account may have made a link there. */
TEST(no_link_is_followed) {
    char theirs[60], fresh[80];
    snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    snprintf(fresh, sizeof fresh, "%s.%d.new", path, (int)getpid());
    assert_int_equal(symlink(theirs, fresh), 0);
    assert_int_equal(symlink(theirs, path), 0);
    assert_true(write_text("ours", 0, true));
    assert_text(path, "ours");
    assert_int_not_equal(access(theirs, F_OK), 0);
    assert_int_equal(unlink(path), 0);
}

TEST_MAIN(make_folder, remove_folder)
