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

TEST(the_json_has_every_lock_backend_and_workload) {
    static const char *const of_lock[] = {"name",    "backend", "primitive",  "available",
                                          "reason",  "summary", "caps",       "claims",
                                          "options", "about",   "topologies", "expected"};
    static const char *const of_backend[] = {"name", "available", "reason", "install"};
    struct list list = make_list();
    json_t *root = list_json(&list), *entry;
    size_t index, locks = 0, backends = 0;
    assert_non_null(root);
    while (registry_locks()[locks]) locks++;
    while (registry_backends()[backends]) backends++;
    assert_int_equal(json_array_size(json_object_get(root, "locks")), locks);
    assert_int_equal(json_array_size(json_object_get(root, "backends")), backends);
    assert_int_equal(json_array_size(json_object_get(root, "workloads")), list.workloads.count);
    json_array_foreach(json_object_get(root, "locks"), index, entry) {
        for (size_t i = 0; i < sizeof of_lock / sizeof *of_lock; i++) {
            if (!json_object_get(entry, of_lock[i]))
                fail_msg("lock %zu has no %s", index, of_lock[i]);
        }
        assert_string_equal(json_string_value(json_object_get(entry, "name")),
                            registry_locks()[index]->name);
        /* A reason stands if and only if the lock can't run. */
        assert_int_equal(json_is_true(json_object_get(entry, "available")),
                         json_is_null(json_object_get(entry, "reason")));
        if (strcmp(registry_locks()[index]->name, "null") == 0) {
            char *caps = json_dumps(json_object_get(entry, "caps"), JSON_COMPACT);
            assert_string_equal(caps, "[\"try\",\"wait\",\"baseline\"]");
            free(caps);
        }
    }
    json_array_foreach(json_object_get(root, "backends"), index, entry) {
        for (size_t i = 0; i < sizeof of_backend / sizeof *of_backend; i++) {
            if (!json_object_get(entry, of_backend[i]))
                fail_msg("backend %zu has no %s", index, of_backend[i]);
        }
    }
    json_decref(root);
    free_list(&list);
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
