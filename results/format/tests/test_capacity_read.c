/* The reader of capacity.json: a sound file as structs, and files that are wrong in one place
 * each. */

#include <math.h>

#include "bench/tests/unit.h"
#include "results/format/capacity_read.h"

/* The text of a sound file. */
static const char sound[] =
    "{\"schema\":\"lockbench.capacity/2\",\"tool\":{\"name\":\"lockbench\",\"version\":\"0.1\"},"
    "\"command\":\"lockbench capacity "
    "x\",\"started_at\":\"2026-01-02T03:04:05Z\",\"ended_at\":null,\"partial\":true,"
    "\"partial_reason\":\"interrupted\",\"environment\":{\"cpus\":2},\"locks\":[{\"lock\":\"x\",\"backend\":"
    "\"b\","
    "\"primitive\":\"mutex\",\"topology\":\"t\",\"durability\":\"d\",\"guarantee\":\"node\",\"server\":\"s "
    "1\","
    "\"executor\":{\"threads\":1,\"processes\":2},\"slo\":{\"text\":\"acquire_due.p99<=20ms\",\"metric\":"
    "\"acquire_due\","
    "\"quantile\":0.99,\"limit_ns\":20000000},\"by\":\"rate\",\"hold\":\"1ms\",\"think\":\"0\",\"keys\":"
    "\"1\","
    "\"key_distribution\":\"uniform\",\"clients\":64,\"violated\":true,\"answer\":{\"value\":500,\"low\":480,"
    "\"high\":520,"
    "\"level\":0.95},"
    "\"limited_by\":\"slo\",\"why\":null,\"bound\":{\"handoff_ns\":200000,\"hold_ns\":1000000,\"per_s\":833},"
    "\"probes\":["
    "{\"stage\":\"001-x\",\"value\":480,\"verdict\":\"kept\",\"quantile_ns\":1,\"low_ns\":1,\"high_ns\":2,"
    "\"samples\":2400,"
    "\"missed\":0,\"over_share\":0.001,\"limited_by\":null},"
    "{\"stage\":\"002-x\",\"value\":600,\"verdict\":\"unsure\",\"quantile_ns\":null,\"low_ns\":null,\"high_"
    "ns\":null,"
    "\"samples\":600,\"missed\":9,\"over_share\":0.5,\"limited_by\":\"generator\"}]}]}";

static struct capacity *parse(const char *text, struct lb_err *err) {
    return capacity_parse(text, strlen(text), "dir/capacity.json", err);
}

TEST(a_sound_file_is_read) {
    struct lb_err err = {0};
    struct capacity *capacity = parse(sound, &err);
    if (!capacity) fail_msg("%s", err.text);
    assert_string_equal(capacity->dir, "dir");
    assert_string_equal(capacity->partial_reason, "interrupted");
    assert_true(capacity->partial);
    assert_null(capacity->ended_at);
    assert_int_equal(capacity->lock_count, 1);
    const struct capacity_lock *lock = &capacity->locks[0];
    assert_string_equal(lock->lock, "x");
    assert_string_equal(lock->guarantee, "node");
    assert_true(lock->violated);
    assert_int_equal(lock->by, CAPACITY_BY_RATE);
    assert_int_equal(lock->limited_by, CAPACITY_LIMIT_SLO);
    assert_true(lock->answered && lock->value == 500 && lock->low == 480 && lock->high == 520 &&
                lock->level == 0.95);
    assert_true(lock->quantile == 0.99 && lock->limit_ns == 20e6 && lock->clients == 64 &&
                lock->processes == 2);
    assert_true(lock->bound_per_s == 833);
    assert_null(lock->why);
    assert_int_equal(lock->probe_count, 2);
    assert_int_equal(lock->probes[0].verdict, PROMISE_KEPT);
    assert_int_equal(lock->probes[1].verdict, PROMISE_UNSURE);
    assert_true(isnan(lock->probes[1].high_ns) && lock->probes[1].missed == 9 &&
                lock->probes[1].over_share == 0.5);
    assert_string_equal(lock->probes[1].limited_by, "generator");
    capacity_free(capacity);
}

/* The sound text with one part replaced by another; the caller frees. */
static char *with(const char *old, const char *new) {
    const char *at = strstr(sound, old);
    if (!at) fail_msg("the text has no %s", old);
    char *text = malloc(sizeof sound + strlen(new));
    sprintf(text, "%.*s%s%s", (int)(at - sound), sound, new, at + strlen(old));
    return text;
}

TEST(what_is_wrong_is_named) {
    static const char *const bad[][3] = {
        {"capacity/2", "capacity/1", "lockbench 0.1 wrote it (schema lockbench.capacity/1)"},
        {"lockbench.capacity/2", "lockbench.run/2", "is not a result of lockbench capacity"},
        {"\"locks\":[", "\"lokcs\":[", "has no .locks"},
        {"\"lock\":\"x\",", "", ".locks[0].lock is missing"},
        {"\"violated\":true", "\"violated\":1", "violated is not true or false"},
        {"\"by\":\"rate\",", "\"by\":\"guess\",", ".locks[0].by is \"guess\""},
        {"\"by\":\"rate\",", "", ".locks[0].by is missing"},
        {"\"quantile\":0.99", "\"quantile\":1", ".slo.quantile is not between"},
        {"\"limit_ns\":20000000", "\"limit_ns\":0", ".slo.limit_ns is not a time"},
        {"\"value\":500", "\"value\":0", ".answer.value is not a load"},
        {"\"value\":500", "\"value\":-1", "is negative"},
        {"\"value\":500", "\"value\":\"many\"", "is not a number"},
        {"\"limited_by\":\"slo\"", "\"limited_by\":\"fate\"", ".limited_by is \"fate\""},
        {"\"limited_by\":\"slo\"", "\"limited_by\":null", ".limited_by is missing"},
        {"\"verdict\":\"unsure\"", "\"verdict\":\"maybe\"", ".probes[1].verdict is \"maybe\""},
        {"\"value\":600", "\"value\":null", ".probes[1].value"},
        {"\"probes\":[", "\"probes\":[7,", "probes[0] is not an object"},
        {"\"partial\":true", "\"partial\":1", "partial is not true or false"},
        {"\"quantile\":0.99", "\"quantile\":NaN", "is not sound JSON"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        char *text = with(bad[i][0], bad[i][1]);
        assert_null(parse(text, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        if (!strstr(err.text, bad[i][2])) fail_msg("%s -> %s: %s", bad[i][0], bad[i][1], err.text);
        assert_null(strchr(err.text, '\n'));
        free(text);
    }
}

TEST(an_answer_may_be_open_or_missing) {
    struct lb_err err = {0};
    char *text = with("\"high\":520,\"level\":0.95},\"limited_by\":\"slo\"",
                      "\"high\":null,\"level\":0.95},\"limited_by\":\"generator\"");
    struct capacity *capacity = parse(text, &err);
    if (!capacity) fail_msg("%s", err.text);
    assert_true(isnan(capacity->locks[0].high));
    assert_int_equal(capacity->locks[0].limited_by, CAPACITY_LIMIT_GENERATOR);
    capacity_free(capacity);
    free(text);
    text = with(
        "\"answer\":{\"value\":500,\"low\":480,\"high\":520,\"level\":0.95},\"limited_by\":\"slo\"",
        "\"answer\":null,\"limited_by\":null");
    capacity = parse(text, &err);
    if (!capacity) fail_msg("%s", err.text);
    assert_false(capacity->locks[0].answered);
    assert_true(isnan(capacity->locks[0].value));
    capacity_free(capacity);
    free(text);
}

/* The sound text, cut off at every length: each cut is refused with an error, and none crashes the
 * reader. */
TEST(a_cut_file_is_told_so) {
    for (size_t length = 0; length < sizeof sound - 1; length++) {
        struct lb_err err = {0};
        assert_null(capacity_parse(sound, length, "cut", &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
    }
}

TEST(files_are_found) {
    char folder[] = "/tmp/lockbench-test-XXXXXX", path[100];
    struct lb_err err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/" CAPACITY_FILE, folder);
    assert_false(capacity_is(folder));
    assert_null(capacity_read(folder, &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(strstr(err.text, folder));
    FILE *file = fopen(path, "w");
    fputs(sound, file);
    fclose(file);
    assert_true(capacity_is(folder) && capacity_is(path));
    err = (struct lb_err){0};
    struct capacity *capacity = capacity_read(folder, &err);
    if (!capacity) fail_msg("%s", err.text);
    assert_string_equal(capacity->dir, folder);
    capacity_free(capacity);
    unlink(path);
    rmdir(folder);
    assert_false(capacity_is("/dev/null"));
}

TEST_MAIN(NULL, NULL)
