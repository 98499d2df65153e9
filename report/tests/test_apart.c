/* test_apart: how many times slower locks of servers are than those of one machine, in a sentence of each report that
 * has both. */
#include "bench/tests/hdr_texts.h"
#include "report/doc/doc.h"
#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

#define STAGE(lock, class, guarantee, clients, rate, p50)                                          \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"" class                      \
        "\",\"guarantee\":\"" guarantee "\",\"clients\":" #clients                                 \
        ",\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":" #rate                           \
        ",\"latency_ns\":{\"acquire\":{\"count\":500,\"hdr\":\"" HDR_500 "\",\"p50\":" #p50        \
        "}},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"

#define MEM STAGE("mem", "none", "host", 1, 5000000, 100)
#define FILE_LOCK STAGE("file", "none", "host", 1, 900000, 800)
#define ONE STAGE("one", "memory", "node", 1, 20000, 40000)
#define LATE STAGE("late", "memory", "node", 1, 9000, 90000)
#define MANY STAGE("many", "disk", "majority", 1, 250, 3000000)
#define CROWDED STAGE("mem", "none", "host", 8, 30000, 100000)
#define CROWDED_ONE STAGE("one", "memory", "node", 8, 6000, 200000)

#define OPEN(lock, class, guarantee, p50)                                                          \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"" class                      \
        "\",\"guarantee\":\"" guarantee                                                            \
        "\",\"clients\":1,\"keys\":1,\"arrival\":\"poisson:9/s\",\"response_ns\":{\"p50\":" #p50   \
        "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"
#define TICKED(lock, class, guarantee)                                                                 \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"" class                          \
        "\",\"guarantee\":\"" guarantee                                                                \
        "\",\"clients\":8,\"keys\":1,\"arrival\":\"closed\",\"tick_ns\":1000000,\"ticks\":{\"count\":" \
        "20,\"once\":20},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"

/* The document of the sentences, on one line; the caller frees it. */
static char *sentences_of(const char *stages) {
    struct report *report = report_of(stages, "");
    struct answers answers;
    struct doc doc = {0};
    answer_make(report, &answers);
    run_apart(report, &answers, &doc);
    char *text = written(&doc, DOC_MARKDOWN);
    report_free(report);
    for (char *c = text; *c; c++) *c = *c == '\n' ? ' ' : *c;
    return text;
}

static void assert_says(const char *text, const char *words) {
    if (!strstr(text, words)) fail_msg("\"%s\" does not say \"%s\"", text, words);
}

/* The fastest of each class against the fastest of one host, the nearest first, whatever the order of the run. */
TEST(the_fastest_of_each_class_stands_beside_the_fastest_of_one_host) {
    char *text = sentences_of(MANY "," LATE "," FILE_LOCK "," ONE "," MEM);
    assert_says(
        text,
        "From one machine to many, by acquire p50 with 1 client: beside **mem** (one host, 100 ns) "
        "one is **400 times** slower (in memory, one server), many **30,000 times** (on disk "
        "first, a majority).");
    assert_null(strstr(text, "late"));
    assert_null(strstr(text, "file"));
    assert_null(strstr(text, "grants/s")); /* nothing was contended */
    free(text);
}

/* Of grants a second more is better. */
TEST(contended_locks_are_compared_by_their_grants) {
    char *text = sentences_of(CROWDED "," CROWDED_ONE);
    assert_says(text, "by grants/s with 8 clients: beside **mem**");
    assert_says(text, "one is **5.00 times** slower (in memory, one server)");
    assert_null(strstr(text, "acquire p50"));
    free(text);
}

/* A lock of one machine may be the slower one: it then flushes to disk, or a few clients pass a server's lock around. */
TEST(a_lock_of_a_server_may_be_faster) {
    char *text = sentences_of(STAGE("file", "none", "host", 8, 3000, 1) "," CROWDED_ONE "," STAGE(
        "two", "disk", "node", 8, 4500, 1) "," STAGE("many", "disk", "majority", 8, 250, 1));
    assert_says(text,
                "one is **2.00 times** faster (in memory, one server), two **1.50 times** (on "
                "disk first, one server), many **12.0 times** slower (on disk first");
    free(text);
}

/* The figure is named by what it is: in an open loop the wait counts from when a request was due, and ticks are no
 * speed. */
TEST(the_figure_has_its_own_name) {
    char *text =
        sentences_of(OPEN("mem", "none", "host", 100) "," OPEN("one", "memory", "node", 40000));
    assert_says(text, "From one machine to many, by p50 from due with 1 client: beside **mem**");
    assert_null(strstr(text, "acquire p50"));
    free(text);
    text = sentences_of(TICKED("mem", "none", "host") "," TICKED("one", "memory", "node"));
    assert_string_equal(text, "");
    free(text);
}

TEST(nothing_is_said_where_one_of_both_kinds_is_missing) {
    char *text = sentences_of(MEM "," FILE_LOCK);
    assert_null(strstr(text, "machine"));
    free(text);
    text = sentences_of(ONE "," MANY);
    assert_null(strstr(text, "machine"));
    free(text);
}

TEST_MAIN(NULL, NULL)
