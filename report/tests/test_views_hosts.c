/* test_views_hosts: what the report says of runs on several hosts. */

#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

#define TWO_HOSTS                                                                                  \
    "\"hosts\":[{\"name\":\"east\",\"clients\":3,\"grants\":70,\"clock_offset_ns\":0,"             \
    "\"clock_error_ns\":400000},{\"name\":\"west\",\"clients\":2,\"grants\":30,"                   \
    "\"clock_offset_ns\":1000000000,\"clock_error_ns\":600000,\"lost\":\"nothing came from it for 10 s\"}]"

/* Which hosts had the clients, which one was lost, and what their clocks hide: twice the greatest error. */
TEST(test_load_hosts_have_a_table) {
    struct report *report = report_of(
        "{\"lock\":\"a\",\"clients\":5,\"claims\":[\"excludes\"],\"grants\":100,\"exclusion\":{\"verdict\":"
        "\"clean\",\"checked_grants\":100}," TWO_HOSTS "}",
        "");
    char *text = render(report, REPORT_MD, false);
    has(text, "Load hosts");
    has(text, "1 east");
    has(text, "600 us");
    has(text, "nothing came from it for 10 s");
    has(text, "The record of host 2 (west) is missing: an overlap with its clients can't be seen.");
    /* What did not come from it is not 0. */
    assert_null(strstr(text, "| 0 %"));
    has(text, "Two holders on different hosts are surely seen if both held for more than 2.40 ms");
    free(text);
    report_free(report);
}

#define FAST "{\"cpu_model\":\"Fast\",\"cpus\":8,\"kernel\":\"Linux 6\"}"
#define SLOW "{\"cpu_model\":\"Slow\",\"cpus\":2,\"kernel\":\"Linux 6\"}"

#define HOST(error_ns) "{\"name\":\"h\",\"clients\":1,\"clock_error_ns\":" #error_ns "}"
#define APART(clients, verdict, tested, ops, hosts)                                                \
    "{\"lock\":\"a\",\"clients\":" #clients                                                        \
    ",\"keys\":1,\"claims\":[\"excludes\"],\"exclusion\":{\"verdict\":\"" verdict                  \
    "\",\"grants\":100,\"tested\":" #tested "},\"history\":{\"ops\":" #ops "},\"hosts\":[" hosts   \
    "]}"

/* The first stage of a sweep has one client, on one host, and the error of the clocks grows with the load. */
TEST(test_the_clocks_of_a_locks_worst_stage_count) {
    struct report *report =
        report_of(APART(1, "untested", 0, 10, HOST(1000)) "," APART(
                      2, "clean", 50, 300,
                      HOST(1000) "," HOST(100000)) "," APART(4, "clean", 50, 600,
                                                             HOST(1000) "," HOST(900000)),
                  "");
    char *text = render(report, REPORT_MD, false);
    has(text, "Between hosts, overlaps shorter than 3.60 ms may go unseen");
    free(text);
    report_free(report);
}

TEST(test_an_error_of_clocks_that_is_not_known_is_no_zero) {
    struct report *report = report_of(APART(2, "clean", 50, 300, HOST(null) "," HOST(null)), "");
    char *text = render(report, REPORT_MD, false);
    has(text, "Load hosts");
    lacks(text, "0 ns");
    free(text);
    report_free(report);
}

/* A table ranks the locks of all runs. */
TEST(test_runs_whose_clients_were_elsewhere_say_so) {
    static const char *const texts[] = {
        "{\"schema\":\"lockbench.run/2\",\"stages\":[{\"lock\":\"a\",\"clients\":5}]}",
        "{\"schema\":\"lockbench.run/2\",\"stages\":[{\"lock\":\"a\",\"clients\":5," TWO_HOSTS
        "}]}"};
    struct lb_err err = {0};
    struct run **runs = calloc(2, sizeof *runs);
    assert_non_null(runs);
    for (int i = 0; i < 2; i++) runs[i] = run_parse(texts[i], strlen(texts[i]), "run.json", &err);
    struct report *report = report_make(runs, 2, &err);
    assert_non_null(report);
    char *text = render(report, REPORT_MD, false);
    has(text, "The clients of run A were on one machine, those of run B on 2 load hosts");
    free(text);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
