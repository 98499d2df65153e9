/* test_bundle: the build without node: no charts, no failure, nothing built twice; in CI a
 * failure. */

#include <sys/stat.h>

#include "report/page/assets.h"
#include "report/tests/report_help.h"

/* A PATH with what the script calls, and no node. */
static int make_tools(void **state) {
    static const char *const tools[] = {"sh", "dirname", "mkdir", "touch", "rm"};
    char command[512];
    if (make_folder(state) != 0) return -1;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        snprintf(command, sizeof command, "mkdir -p %s/bin && ln -s \"$(command -v %s)\" %s/bin/",
                 folder, tools[i], folder);
        if (system(command)) return -1;
    }
    return 0;
}

static int bundle(const char *ci) {
    char out[128], path[128];
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(path, sizeof path, "PATH=%s/bin", folder);
    const char *const argv[] = {"/bin/sh", "report/bundle.sh", out, NULL}, *const env[] = {path, ci,
                                                                                           NULL};
    return run_command(argv, env);
}

TEST(test_without_node) {
    static const char *const files[] = {"bundle.js", "licences.txt"};
    struct stat status;
    char path[128];
    for (int again = 0; again < 2; again++) {
        assert_int_equal(bundle(again ? "CI=false" : "CI="), 0);
        for (size_t i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/out/%s", folder, files[i]);
            assert_int_equal(stat(path, &status), 0);
            assert_int_equal(status.st_size, 0);
            assert_true(status.st_mtime < 1000000000); /* older than anything made from it */
        }
    }
}

TEST(test_in_ci_charts_are_a_must) {
    assert_int_equal(bundle("CI=true"), 1);
}

/* What is in the page must be allowed to be there. */
TEST(test_licences_are_with_the_bundle) {
    assert_int_equal(*asset_bundle == '\0', *asset_licences == '\0');
    if (!*asset_bundle)
        skip_for("this build has no charts: install nodejs, and report/bundle.sh makes them");
    assert_non_null(strstr(asset_licences, "Apache License"));
    assert_non_null(strstr(asset_licences, "Apache ECharts"));
    assert_non_null(strstr(asset_licences, "Baidu")); /* zrender's */
    assert_null(strstr(asset_bundle, "</script"));
    struct report *report = report_of("{\"lock\":\"a\",\"clients\":2}", "");
    char *text = render(report, REPORT_HTML, false);
    assert_non_null(strstr(text, "Apache License"));
    free(text);
    report_free(report);
}

/* Lock files name no registry: whoever builds uses the one that is set up. Their only addresses are
 * those of "url": where a package's authors ask for money. */
TEST(test_the_lock_file_names_no_host) {
    char *text = read_whole("report/package-lock.json");
    assert_non_null(text);
    assert_null(strstr(text, "\"resolved\""));
    for (const char *at = text; (at = strstr(at, "://")); at++)
        assert_memory_equal(at - strlen("\"url\": \"https"), "\"url\": \"", strlen("\"url\": \""));
    free(text);
}

TEST_MAIN(make_tools, remove_folder)
