/* test_trend: histories whose changes are known: lines made from a seed, and the output that they must give; the
 * outputs against stored ones (UPDATE_GOLDEN=1 writes them; read the diff). test_trend_gate tests the gate,
 * test_trend_file the appending to a history and the reading of one. */
#define _GNU_SOURCE
#include "report/tests/trend_help.h"

#define GOLDEN "report/tests/golden/trend/"

TEST(a_change_is_found_where_it_was) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 15);
    assert_int_equal(trend->count, 45);
    assert_int_equal(view->count, 3); /* redis-setnx on two kinds of machine, zk-lock */
    const struct trend_series *series = &view->series[0];
    const struct trend_figure *figure = &series->figure[0];
    char also[100];
    assert_string_equal(series->lines[0]->text[TREND_DURABILITY], "in memory, not \"durable\"");
    assert_int_equal(series->count, 40);
    assert_int_equal(figure->change_count, 1);
    assert_int_equal(figure->changes[0].index, 30);
    assert_true(figure->shift < -0.09 && figure->shift > -0.15 && figure->worse);
    assert_string_equal(trend_also(series, figure, &figure->changes[0], also, sizeof also),
                        "kernel");
    assert_true(series->figure[1].worse); /* acquire p50: greater is worse */
    assert_int_equal(series->figure[3].count, 0);
    assert_int_equal(view->series[1].count, 1);
    assert_int_equal(trend_exit(view), LB_EXIT_REGRESSION);
    trend_view_free(view);
    trend_free(trend);
}

/* From 10 ms to never: a change for the worse, found and told. */
TEST(never_is_worse_than_any_number) {
    struct lines lines;
    struct lb_rng rng;
    rng_seed(&rng, 4, 1);
    lines_begin(&lines, COLUMNS "acquire_p99,acquire_due_p99\n");
    for (int day = 0; day < 28; day++) {
        put_day(lines.out, day);
        fputs("1000,", lines.out);
        if (day < 20) fprintf(lines.out, "%.6g\n", 1e7 * around(&rng, 0.05));
        if (day >= 20) fputs("never\n", lines.out);
    }
    struct trend *trend = lines_parse(&lines);
    struct trend_view *view = look(trend, -1, 10);
    const struct trend_figure *figure = &view->series[0].figure[metric_of("acquire_due_p99")];
    assert_int_equal(figure->change_count, 1);
    assert_int_equal(figure->changes[0].index, 20);
    assert_true(figure->changes[0].after == INFINITY && figure->latest == INFINITY);
    assert_true(figure->worse);
    assert_int_equal(view->series[0].figure[metric_of("acquire_p99")].count, 0);
    assert_int_equal(trend_exit(view), LB_EXIT_REGRESSION);
    char *json = text_of(view, FORM_JSON), *lines_text = text_of(view, FORM_LINES);
    has(json, "\"after\": \"never\"");
    has(lines_text, "-> never");
    free(json);
    free(lines_text);
    trend_view_free(view);
    trend_free(trend);
}

/* The file has 0 to 1, as run.json; people read per cent, as in a report. */
TEST(a_share_is_told_in_per_cent) {
    struct lines lines;
    lines_begin(&lines, COLUMNS "not_granted\n");
    for (int day = 0; day < 20; day++) {
        put_day(lines.out, day);
        fprintf(lines.out, "%g\n", day < 10 ? 0.012 : 0.3 + day / 1e4);
    }
    struct trend *trend = lines_parse(&lines);
    struct trend_view *view = look(trend, -1, 0);
    char *text = text_of(view, FORM_MD), *json = text_of(view, FORM_JSON);
    has(text, "| 30.2 % |");
    has(text, "1.20 % -> 30.1 %");
    has(json, "\"is_share\": true");
    free(text);
    free(json);
    trend_view_free(view);
    trend_free(trend);
}

/* One outlier on either side of a change is in no level that is shown. */
TEST(a_level_is_a_median) {
    struct lines lines;
    lines_begin(&lines, HEADER);
    for (int day = 0; day < 40; day++) {
        double rate = day < 20 ? 1000 + day % 3 : 600 + day % 3;
        put_line(lines.out, day, &(struct made){.rate = day == 5 ? 700 : day == 30 ? 900 : rate});
    }
    struct trend *trend = lines_parse(&lines);
    struct trend_view *view = look(trend, 0, 25);
    const struct trend_figure *figure = &view->series[0].figure[0];
    assert_int_equal(figure->change_count, 1);
    assert_true(figure->changes[0].before == 1001 && figure->changes[0].after == 601);
    near(figure->shift, 601.0 / 1001 - 1, 1e-9);
    trend_view_free(view);
    trend_free(trend);
}

/* The median of the newer runs is lower by 2.8 %, their mean by 3.2 %, since a third of them is lower still. What is
 * printed decides: a change of 2.8 % is none of 3 %, and is one of 2 %. */
TEST(the_levels_that_are_printed_decide) {
    static const struct {
        double min_effect;
        int changes;
    } cases[] = {{0.03, 0}, {0.02, 1}};
    struct lines lines;
    struct lb_err err = {0};
    lines_begin(&lines, HEADER);
    for (int day = 0; day < 40; day++) {
        double rate = day < 20 ? 897 : day % 3 == 2 ? 861 : 872;
        put_line(lines.out, day, &(struct made){.rate = rate + (day % 2 ? 0.5 : -0.5)});
    }
    struct trend *trend = lines_parse(&lines);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct trend_ask ask = {.metrics = choice_with(0, metric_of("throughput")),
                                      .last = 10,
                                      .gate = 25,
                                      .min_effect = cases[i].min_effect};
        struct trend_view *view = trend_look(trend, &ask, &err);
        const struct trend_figure *figure = &view->series[0].figure[metric_of("throughput")];
        assert_int_equal(figure->change_count, cases[i].changes);
        assert_int_equal(view->worse, cases[i].changes);
        if (cases[i].changes) near(figure->shift, -0.028, 0.03);
        trend_view_free(view);
    }
    trend_free(trend);
}

/* Levels that go down by 2 % three times: those that are left are all as far apart as was asked. */
TEST(small_steps_are_one_change) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct lines lines;
        struct lb_rng rng;
        rng_seed(&rng, seed, 7);
        lines_begin(&lines, HEADER);
        for (int day = 0; day < 48; day++) {
            double level = 1000 - 20 * (day / 12);
            put_line(lines.out, day, &(struct made){.rate = level * around(&rng, 0.005)});
        }
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, 0, 0);
        const struct trend_figure *figure = &view->series[0].figure[0];
        assert_in_range(figure->change_count, 1, 2);
        for (int c = 0; c < figure->change_count; c++) {
            const struct change_point *change = &figure->changes[c];
            if (1 - change->after / change->before < 0.03)
                fail_msg("seed %d: %g -> %g", (int)seed, change->before, change->after);
            if (c > 0) assert_true(change->before == change[-1].after);
        }
        trend_view_free(view);
        trend_free(trend);
    }
}

/* A figure that is 0 in most runs may have changed nevertheless. */
TEST(levels_with_one_median_are_told_by_means) {
    struct lines lines;
    lines_begin(&lines, COLUMNS "not_granted\n");
    for (int day = 0; day < 50; day++) {
        put_day(lines.out, day);
        fputs(day >= 30 && day % 5 < 2 ? "0.1\n" : "0\n", lines.out);
    }
    struct trend *trend = lines_parse(&lines);
    struct trend_view *view = look(trend, -1, 25);
    assert_int_equal(trend_exit(view), LB_EXIT_REGRESSION);
    trend_view_free(view);
    trend_free(trend);
}

/* 40 runs that scatter by 2 %, slower by a factor from run 28 on; `every` runs have a "never" among them,
 * from `first` on. */
static struct trend *with_never(uint64_t seed, double factor, int first, int every) {
    struct lines lines;
    struct lb_rng rng;
    rng_seed(&rng, seed, 1);
    lines_begin(&lines, COLUMNS "acquire_p99\n");
    for (int day = 0; day < 40; day++) {
        put_day(lines.out, day);
        double value = 1e7 * around(&rng, 0.02) * (day < 28 ? 1 : factor);
        if (day >= first && (day - first) % every == 0) {
            fputs("never\n", lines.out);
        } else {
            fprintf(lines.out, "%.6g\n", value);
        }
    }
    struct trend *trend = lines_parse(&lines);
    return trend;
}

/* A single "never", wherever it is, or one of ten runs hides no change. */
TEST(never_hides_no_change) {
    static const double factors[] = {1.1, 1.5, 4};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        for (int first = 0; first < 40; first++) {
            struct trend *trend = with_never(11, factors[f], first, first < 10 ? 10 : 40);
            struct trend_view *view = look(trend, -1, 15);
            const struct trend_figure *figure = &view->series[0].figure[metric_of("acquire_p99")];
            if (trend_exit(view) != LB_EXIT_REGRESSION)
                fail_msg("%.3g times from run 28, never in run %d: exit code %d, p = %g",
                         factors[f], first, trend_exit(view), figure->p);
            trend_view_free(view);
            trend_free(trend);
        }
    }
}

/* 400 histories that only scatter, with a "never" in one of ten runs. */
TEST(scatter_with_never_shuts_no_gate) {
    int alarms = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct trend *trend = with_never(seed, 1, (int)(seed % 10), 10);
        struct trend_view *view = look(trend, -1, 10);
        alarms += trend_exit(view) != LB_EXIT_OK;
        trend_view_free(view);
        trend_free(trend);
    }
    if (alarms > 20) fail_msg("%d of 400", alarms);
}

/* Takes the runs and the values out of the JSON of a history, where they must be those of the view. The rest; the caller
 * frees. */
static char *without_values(const char *text, const struct trend_view *view) {
    static const enum trend_text names[] = {TREND_TIME, TREND_COMMIT, TREND_RUN};
    static const char *const members[] = {"time", "commit", "run"};
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *json, *figure, *line;
    size_t s, i;
    const char *name;
    json_array_foreach(json_object_get(root, "series"), s, json) {
        const struct trend_series *series = &view->series[s];
        json_t *lines = json_object_get(json, "lines");
        assert_int_equal(json_array_size(lines), series->count);
        json_array_foreach(lines, i, line) {
            for (int m = 0; m < 3; m++)
                assert_string_equal(json_string_value(json_object_get(line, members[m])),
                                    series->lines[i]->text[names[m]]);
        }
        json_object_del(json, "lines");
        json_object_foreach(json_object_get(json, "figures"), name, figure) {
            const struct trend_figure *of = &series->figure[metric_of(name)];
            json_t *values = json_object_get(figure, "values");
            lines = json_object_get(figure, "lines");
            assert_int_equal(json_array_size(values), of->count);
            assert_int_equal(json_array_size(lines), of->count);
            for (int v = 0; v < of->count; v++) {
                assert_true(json_number_value(json_array_get(values, (size_t)v)) == of->values[v]);
                assert_int_equal(json_integer_value(json_array_get(lines, (size_t)v)),
                                 of->lines[v]);
            }
            json_object_del(figure, "values");
            json_object_del(figure, "lines");
        }
    }
    char *rest = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    return rest;
}

TEST(outputs_are_as_stored) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 15);
    static const char *const names[] = {"slower.table", "slower.lines", "slower.md", "slower.json"};
    for (enum form i = 0; i <= FORM_JSON; i++) {
        char path[256], *text = text_of(view, i);
        if (i == FORM_JSON) {
            char *whole = text;
            text = without_values(whole, view);
            free(whole);
        }
        snprintf(path, sizeof path, GOLDEN "%s", names[i]);
        same_as_stored(path, text);
        free(text);
    }
    trend_view_free(view);
    trend_free(trend);
}

/* Otava's CSV wants a number in each cell, and one series a file. */
TEST(otava_gets_a_file_a_series) {
    struct lb_err err = {0};
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 0);
    char *otava = path_of("otava"), *yaml = path_of("otava/otava.yaml"),
         *series = path_of("otava/redis-setnx.c16.1.csv");
    struct trend_otava wrote;
    assert_int_equal(trend_write_otava(view, otava, &wrote, &err), 0);
    assert_int_equal(wrote.tests, 3);
    assert_string_equal(wrote.left_out, "");
    free(wrote.left_out);
    char *text = read_whole(yaml);
    has(text, "  redis-setnx.c16.1:\n    type: csv\n");
    has(text, "      throughput: {column: throughput, direction: 1}\n");
    has(text, "      acquire_p99: {column: acquire_p99, direction: -1}\n");
    assert_null(strstr(text, "handoff_p50"));
    free(text);
    text = read_whole(series);
    has(text,
        "time,commit,run,throughput,acquire_p50,acquire_p99,release_p99,client_cpu_net,commands\n"
        "2026-01-01T12:00:00Z,c000,2026-run-000,");
    assert_null(strstr(text, ",,"));
    free(text);
    trend_view_free(view);
    trend_free(trend);
    free(otava);
    free(yaml);
    free(series);
}

/* A run without figures is no row, a figure that some run lacks is no column, a series without a column is no test; all
 * of them are named. */
TEST(otava_is_told_what_it_does_not_get) {
    static const char lines[] = COLUMNS
        "throughput,acquire_p50,handoff_p50\n"
        "2026-01-01T12:00:00Z,,r1,e,h,k,s,a,4,load,t,d,1 x 1,1,clean,900,11,5\n"
        "2026-01-02T12:00:00Z,,r2,e,h,k,s,a,4,load,t,d,1 x 1,0,clean,,,\n" /* generator-limited */
        "2026-01-03T12:00:00Z,,r3,e,h,k,s,a,4,load,t,d,1 x 1,1,clean,901,12,\n"
        "2026-01-01T12:00:00Z,,r1,e,h,k,s,b,4,load,t,d,1 x 1,0,clean,,,\n"
        "2026-01-01T12:00:00Z,,r1,e,h,k,s,c,4,load,t,d,1 x 1,1,clean,7,,\n"
        "2026-01-02T12:00:00Z,,r2,e,h,k,s,c,4,load,t,d,1 x 1,1,clean,,8,\n";
    struct lb_err err = {0};
    struct trend_otava wrote;
    struct trend *trend = trend_parse(strdup(lines), "x.csv", &err);
    assert_string_equal(err.text, "");
    struct trend_view *view = look(trend, -1, 0);
    char *otava = path_of("left"), *yaml = path_of("left/otava.yaml"),
         *rows = path_of("left/a.c4.1.csv");
    assert_int_equal(trend_write_otava(view, otava, &wrote, &err), 0);
    assert_int_equal(wrote.tests, 1);
    assert_string_equal(wrote.left_out,
                        "a.c4.1: 1 run without figures, handoff_p50; b.c4.2: all of "
                        "it; c.c4.3: all of it");
    free(wrote.left_out);
    char *text = read_whole(rows);
    assert_string_equal(text, "time,commit,run,throughput,acquire_p50\n"
                              "2026-01-01T12:00:00Z,,r1,900,11\n2026-01-03T12:00:00Z,,r3,901,12\n");
    free(text);
    text = read_whole(yaml);
    has(text, "      acquire_p50: {column: acquire_p50, direction: -1}\n");
    assert_null(strstr(text, "handoff_p50"));
    assert_int_equal(count_of(text, "type: csv"), 1);
    free(text);
    trend_view_free(view);
    /* Nothing is left: a document without tests is YAML too. */
    view = look(trend, metric_of("release_p99"), 0);
    assert_int_equal(trend_write_otava(view, otava, &wrote, &err), 0);
    assert_int_equal(wrote.tests, 0);
    free(wrote.left_out);
    text = read_whole(yaml);
    assert_string_equal(text, "tests: {}\n");
    free(text);
    trend_view_free(view);
    trend_free(trend);
    free(otava);
    free(yaml);
    free(rows);
}

/* Names and loads from elsewhere stay what they are: a comment of one line, a path. */
TEST(otavas_yaml_is_not_written_by_a_name) {
    struct lb_err err = {0};
    char *csv = NULL, *folder_of = path_of("a: b #c"), *yaml = path_of("a: b #c/otava.yaml"),
         *file = NULL;
    size_t size;
    FILE *out = open_memstream(&csv, &size);
    fputs(HEADER, out);
    put_line(out, 0, &(struct made){.rate = 5, .load = "one\nevil: \"\"yes\"\""});
    fclose(out);
    struct trend *trend = trend_parse(csv, "x.csv", &err);
    assert_string_equal(err.text, "");
    struct trend_view *view = look(trend, -1, 0);
    struct trend_otava wrote;
    assert_int_equal(trend_write_otava(view, folder_of, &wrote, &err), 0);
    free(wrote.left_out);
    char *text = read_whole(yaml);
    has(text, "  # \"16 clients, one\\nevil: \\\"yes\\\"\"\n");
    assert_true(asprintf(&file, "    file: \"%s/redis-setnx.c16.1.csv\"\n", folder_of) > 0);
    has(text, file);
    free(text);
    free(file);
    free(yaml);
    yaml = path_of("\xff");
    assert_int_equal(trend_write_otava(view, yaml, &wrote, &err), -1);
    has(err.text, "is no UTF-8");
    trend_view_free(view);
    trend_free(trend);
    free(folder_of);
    free(yaml);
}

TEST_MAIN(make_folder, remove_folder)
