/* test_html_hist: which histograms the page carries, and that a page of very many stays small. */
#define _GNU_SOURCE

#include <math.h>

#include "bench/base/rng.h"
#include "report/page/html_parts.h"
#include "report/tests/report_help.h"
#include "results/format/hdr.h"

#define VALUES 20000

/* A latency object of run.json whose text takes some 8 KB; malloced. */
static char *make_latency(void) {
    struct lb_err err = {0};
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    struct lb_rng rng;
    char *text = NULL;
    rng_seed(&rng, 7, 0);
    for (int i = 0; i < VALUES; i++) hist_record(hist, (int64_t)exp(rng_unit(&rng) * 20));
    char *hdr = hdr_encode(hist, &err);
    assert_non_null(hdr);
    assert_in_range(strlen(hdr), 7000, 20000);
    assert_true(asprintf(&text, "{\"count\":%d,\"max\":%lld,\"hdr\":\"%s\"}", VALUES,
                         (long long)hist->max, hdr) > 0);
    free(hdr);
    hist_free(hist);
    return text;
}

/* "histograms" of a run of so many locks with two repeats and these metrics; json_decref it. */
static json_t *hists_of(int locks, const char *const *metrics, const char *arrival) {
    struct lb_err err = {0};
    char *latency = make_latency(), *stages = NULL;
    size_t size;
    FILE *out = open_memstream(&stages, &size);
    assert_non_null(out);
    for (int i = 0; i < 2 * locks; i++) {
        fprintf(out,
                "%s{\"lock\":\"l%d\",\"clients\":2,\"keys\":1,\"arrival\":\"%s\",\"repeat\":%d,"
                "\"throughput_per_s\":%d,\"latency_ns\":{",
                i ? "," : "", i / 2, arrival, i % 2, 100 + i % 2);
        for (int m = 0; metrics[m]; m++)
            fprintf(out, "%s\"%s\":%s", m ? "," : "", metrics[m], latency);
        fputs("}}", out);
    }
    fclose(out);
    free(latency);
    struct report *report = report_of(stages, "");
    json_t *root = json_object();
    assert_int_equal(html_hists(report, root, &err), 0);
    json_t *hists = json_object_get(root, "histograms");
    json_incref(hists);
    json_decref(root);
    report_free(report);
    free(stages);
    return hists;
}

static const json_t *repeats_of(const json_t *hists, size_t row) {
    return json_array_get(json_array_get(json_object_get(hists, "groups"), 0), row);
}

TEST(test_all_where_there_is_room) {
    static const char *const metrics[] = {"acquire", "acquire_due", "release", "handoff",
                                          "hold",    "lag",         NULL};
    json_t *hists = hists_of(2, metrics, "closed");
    assert_string_equal(json_string_value(json_object_get(hists, "carried")), "all");
    assert_int_equal(json_array_size(repeats_of(hists, 1)), 2);
    const json_t *repeat = json_array_get(repeats_of(hists, 1), 1);
    assert_int_equal(json_object_size(repeat),
                     3); /* due and lag say nothing of a closed loop, hold is the plan's */
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(repeat, "handoff"), "count")), VALUES);
    assert_null(json_object_get(repeat, "acquire_due"));
    json_decref(hists);
    hists = hists_of(2, metrics, "poisson:10/s");
    assert_int_equal(json_object_size(json_array_get(repeats_of(hists, 0), 0)), 5);
    json_decref(hists);
}

TEST(test_less_where_there_is_not) {
    static const char *const one[] = {"acquire", NULL}, *const three[] = {"acquire", "release",
                                                                          "handoff", NULL};
    json_t *hists = hists_of(160, one, "closed");
    assert_string_equal(json_string_value(json_object_get(hists, "carried")), "typical");
    assert_int_equal(json_array_size(repeats_of(hists, 159)), 1);
    json_decref(hists);
    hists = hists_of(160, three, "closed");
    assert_string_equal(json_string_value(json_object_get(hists, "carried")), "core");
    const json_t *repeat = json_array_get(repeats_of(hists, 0), 0);
    assert_int_equal(json_object_size(repeat), 2);
    assert_null(json_object_get(repeat, "release"));
    json_decref(hists);
}

TEST_MAIN(NULL, NULL)
