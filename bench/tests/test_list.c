/* test_list: what `lockbench list` says, without topologies. bench/cli
 * is not linked with tests, so its files are included. */

#include <limits.h>

#include "bench/base/home.h"
#include "bench/tests/unit.h"

#include "bench/cli/available.c"
#include "bench/tools/list/cmd_list_views.c"

static char folder[] = "/tmp/lockbench-test-XXXXXX";

static struct list make_list(void) {
    struct list list = {0};
    struct lb_err err = {0};
    char workloads[PATH_MAX];
    assert_int_equal(home_path("workloads", workloads, sizeof workloads, &err), 0);
    assert_int_equal(available_init(&list.available, folder, &err), 0);
    assert_int_equal(workloads_find(workloads, &list.workloads, &err), 0);
    return list;
}

static void free_list(struct list *list) {
    workloads_done(&list->workloads);
    available_done(&list->available);
}

/* The text of a document as a terminal shows it; malloced. */
static char *shown(struct list *list) {
    char *text = NULL;
    size_t size = 0;
    struct doc doc = {0};
    struct lb_err err = {0};
    FILE *out = open_memstream(&text, &size);
    if (!list->only)
        list_names(list, &doc);
    else if (list_details(list, &doc, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(doc_write_and_free(&doc, DOC_TERMINAL, false, out, &err), 0);
    fclose(out);
    return text;
}

/* The names of all locks are on one screen; a table of each kind has a row for each. */
TEST(every_lock_and_workload_is_listed_and_fits_a_terminal) {
    struct list list = make_list();
    static const char *const names[] = {NULL, "redis", "controls", "workloads", "faults"};
    char *text[5];
    for (size_t n = 0; n < 5; n++) {
        list.only = names[n];
        text[n] = shown(&list);
        int lines = 0;
        char *copy = strdup(text[n]), *rest = copy;
        for (char *line; (line = strsep(&rest, "\n")); lines++)
            assert_in_range(screen_width(line), 0, SCREEN_WIDTH);
        free(copy);
        if (n < 2) assert_in_range(lines, 20, n == 0 ? 40 : 50);
    }
    for (int i = 0; registry_locks()[i]; i++) {
        char line[80];
        bool control = is_control(registry_locks()[i]);
        snprintf(line, sizeof line, "%s%s", registry_locks()[i]->name, control ? ": " : "");
        assert_non_null(strstr(text[control ? 2 : 0], line));
    }
    assert_non_null(strstr(text[3], "\nzipf "));
    assert_non_null(strstr(text[4], "\ncheck/pause "));
    for (size_t n = 0; n < 5; n++) free(text[n]);
    free_list(&list);
}

FIXTURE(make_folder) {
    return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
    return rmdir(folder);
}

TEST_MAIN(make_folder, remove_folder)
