/* The program's words about itself and the machine: help, version, exit codes, doctor. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

TEST(the_version_has_the_commit_and_each_library) {
    struct cli cli = cli_ends(0, ARGS("--version"));
    assert_int_equal(strncmp(cli.out, "lockbench ", 10), 0);
    assert_has(cli.out, "(commit ");
    assert_has(cli.out, "jansson ");
    assert_has(cli.out, "zlib ");
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        char line[140];
        snprintf(line, sizeof line, "\n  %s: ", backend->name);
        if (!backend->connector || backend->connector->library) assert_has(cli.out, line);
        if (!backend->connector) assert_has(cli.out, backend->missing);
    }
    const struct lb_connector *redis = registry_backend("redis")->connector;
    if (redis) assert_non_null(redis->library);
}

/* A folder with the tools that the scripts of servers need to say what is missing, and no server. */
static const char *make_bare_path(void) {
    static const char *const tools[] = {"basename", "cat", "dirname", "grep", "head",
                                        "ls",       "sed", "sort",    "tail", "tr"};
    char *folder = cli_path("bare");
    mkdir(folder, 0755);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        char tool[40];
        snprintf(tool, sizeof tool, "/bin/%s", tools[i]);
        if (access(tool, X_OK) != 0) snprintf(tool, sizeof tool, "/usr/bin/%s", tools[i]);
        assert_int_equal(symlink(tool, cli_path("bare/%s", tools[i])), 0);
    }
    return folder;
}

/* In a PATH without servers: each finding in doctor's JSON is also in its text, and no command to type is broken into
 * lines. */
TEST(doctor_says_the_same_to_people_and_machines) {
    char path[200];
    snprintf(path, sizeof path, "PATH=%s", make_bare_path());
    const struct cli_how how = {.env = {path}};
    struct cli machines = cli_run(&how, ARGS("doctor", "--json"));
    struct cli people = cli_run(&how, ARGS("doctor", "--full")),
               brief = cli_run(&how, ARGS("doctor"));
    assert_in_range(cli_lines(brief.out), 10, 40);
    assert_code(&machines, 2);
    assert_code(&people, 2);
    assert_has(people.out, "locks can run here");
    json_t *json = json_loads(machines.out, 0, NULL), *check;
    assert_true(json_is_false(cli_get(json, "ok")));
    size_t index, missing = 0;
    json_array_foreach(cli_get(json, "checks"), index, check) {
        char line[300];
        assert_has(people.out, cli_text_at(check, "name"));
        bool is_missing = strcmp(cli_text_at(check, "status"), "missing") == 0;
        if (!is_missing || json_is_null(cli_get(check, "fix"))) continue;
        snprintf(line, sizeof line, "\n    do: %s\n", cli_text_at(check, "fix"));
        assert_has(people.out, line);
        missing++;
    }
    assert_true(missing > 0);
    json_decref(json);
}

TEST_MAIN(cli_setup, cli_teardown)
