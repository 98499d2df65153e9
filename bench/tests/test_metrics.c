/* The file of `run --prometheus`, which has the figures of a run while it goes on, on real runs of drivers without a
 * server; Prometheus' own parser reads it; and what is refused. */
#define _GNU_SOURCE
#include <math.h>

#include "bench/tests/cli_help.h"

/* The sum over the samples whose line begins with `name`, followed by labels or the value, and has
 * `part`. NAN = there is none. */
static double sum_of(const char *text, const char *name, const char *part) {
    double sum = NAN;
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char one[1000];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
        if (strncmp(one, name, length) != 0 || !strchr("{ ", one[length])) continue;
        if (!strstr(one, part)) continue;
        sum = (isnan(sum) ? 0 : sum) + strtod(strrchr(one, ' '), NULL);
    }
    return sum;
}

/* Some client of the stage has been granted more than before, and often enough for a p99. */
struct watched {
    const char *path;
    double grants;
};

static bool has_more(void *arg) {
    struct watched *watched = arg;
    char *text = cli_read(watched->path);
    double grants = sum_of(text, "lockbench_outcomes_total", "outcome=\"ok\"");
    bool known = !isnan(sum_of(text, "lockbench_acquire_seconds", "quantile=\"0.99\""));
    bool more = grants >= watched->grants + 1000 && known;
    if (more) watched->grants = grants;
    free(text);
    return more;
}

static const char *const counters[] = {
    "lockbench_outcomes_total",        "lockbench_acquire_seconds_count",
    "lockbench_acquire_seconds_sum",   "lockbench_hiccup_seconds_count",
    "lockbench_handoff_seconds_count", "lockbench_release_seconds_sum"};

TEST(figures_only_grow_and_an_interrupted_run_says_so) {
    struct watched watched = {.path = cli_path("growing.prom")};
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "mem-mutex", "--set", "load.clients=3", "--set",
                   "run.duration=1h", "--prometheus", watched.path));
    cli_until(&cli, has_more, &watched, "grants");
    char *first = cli_text(watched.path);
    cli_until(&cli, has_more, &watched, "more grants");
    char *second = cli_text(watched.path);
    const char *stage = "{stage=\"000\",lock=\"mem-mutex\",clients=\"3\",outcome=\"ok\"}";
    assert_true(sum_of(first, "lockbench_outcomes_total", stage) > 0);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        double before = sum_of(first, counters[i], ""), after = sum_of(second, counters[i], "");
        if (!(before >= 0 && after >= before))
            fail_msg("%s: %g, then %g", counters[i], before, after);
    }
    assert_true(sum_of(second, "lockbench_up", "") == 1);
    assert_true(sum_of(second, "lockbench_stage_window_seconds", "") == 3600);
    double p50 = sum_of(second, "lockbench_acquire_seconds", "quantile=\"0.5\"");
    double p99 = sum_of(second, "lockbench_acquire_seconds", "quantile=\"0.99\"");
    assert_true(p50 > 0 && p99 >= p50 && p99 < 3600);
    cli_signal(&cli, SIGINT, 130);
    char *last = cli_text(watched.path);
    assert_true(sum_of(last, "lockbench_up", "") == 0);
}

/* Each family was declared once with its type, no sample is there twice, and none of the text is dropped. */
static const char parser[] =
    "import sys\n"
    "from prometheus_client.parser import text_string_to_metric_families as parse\n"
    "text = open(sys.argv[1]).read()\n"
    "families = list(parse(text))\n"
    "names = [f.name for f in families]\n"
    "assert len(set(names)) == len(names), 'a family twice: %s' % names\n"
    "for f in families:\n"
    "    assert f.type != 'unknown', 'no type of ' + f.name\n"
    "    assert f.documentation, 'no help of ' + f.name\n"
    "    keys = [(s.name, tuple(sorted(s.labels.items()))) for s in f.samples]\n"
    "    assert keys and len(set(keys)) == len(keys), 'samples of ' + f.name\n"
    "lines = [l for l in text.splitlines() if l and l[0] != '#']\n"
    "assert sum(len(f.samples) for f in families) == len(lines) > 25, 'samples were dropped'\n";

TEST(the_file_is_whole_at_any_time_and_a_foreign_parser_reads_the_last_one) {
    const char *path = cli_path("figures.prom"), *script = cli_path("parse.py");
    struct cli cli;
    bool up = false;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=1,2", "--set",
                   "run.duration=300ms", "--prometheus", path));
    for (siginfo_t ended = {0}; ended.si_pid == 0;) {
        waitid(P_PID, (id_t)cli.pid, &ended, WEXITED | WNOHANG | WNOWAIT);
        char *text = cli_read(path);
        if (strstr(text, "lockbench_stage_")) {
            assert_false(isnan(sum_of(text, "lockbench_hiccup_seconds_count", ""))); /* the last */
            up |= sum_of(text, "lockbench_up", "") == 1;
        }
        free(text);
        cli_nap_ms(2);
    }
    cli_wait(&cli);
    assert_code(&cli, 0);
    assert_true(up);
    char *text = cli_text(path);
    assert_true(sum_of(text, "lockbench_outcomes_total", "clients=\"2\",outcome=\"ok\"") > 0);
    assert_int_equal(access(cli_path("figures.prom.%d.new", (int)cli.pid), F_OK), -1);
    need(access("/usr/lib/python3/dist-packages/prometheus_client/parser.py", F_OK) == 0,
         "Prometheus' parser for Python", "python3-prometheus-client");
    char command[600];
    cli_write(script, parser);
    snprintf(command, sizeof command, "/usr/bin/python3 '%s' '%s'", script, path);
    assert_int_equal(system(command), 0);
}

/* Before anything runs. */
static void refuses(const char *where, int code, const char *why) {
    char *out = cli_path("refused");
    struct cli cli =
        cli_ends(code, ARGS("run", "smoke", "--lock", "null", "--out", out, "--prometheus", where));
    assert_has(cli.err, why);
    assert_int_equal(cli_lines(cli.err), 1);
    assert_int_equal(access(out, F_OK), -1);
}

TEST(what_cannot_be_written_is_one_line_before_the_run) {
    refuses(cli_path("no-folder/figures.prom"), 2, "cannot be written: No such file or directory");
    refuses(cli_folder, 1, "is no regular file");
}

TEST_MAIN(cli_setup, cli_teardown)
