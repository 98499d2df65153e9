/* The figures that a run shows while it goes on (`run --metrics`): the format, over HTTP and in a file,
 * on real runs of drivers without a server; what is refused; and the page of names,
 * results/METRICS.md (UPDATE_GOLDEN=1 writes it). */
#define _GNU_SOURCE
#include <math.h>
#include <sys/socket.h>

#include "bench/run/exposition.h"
#include "bench/run/scrape.h"
#include "bench/tests/cli_help.h"
#include "bench/tests/loopback.h"

#define LINES_MAX 2000

/* --- the format --- */

/* Cuts the labels and the value off; "lockbench_x_sum" stays. */
static void name_of(const char *line, char *name, size_t size) {
    snprintf(name, size, "%.*s", (int)strcspn(line, "{ "), line);
}

/* Whether a sample may stand below this TYPE line: "# TYPE lockbench_x summary". */
static bool belongs(const char *name, const char *type_line) {
    char family[100] = "", type[40] = "";
    sscanf(type_line, "# TYPE %99s %39s", family, type);
    size_t length = strlen(family);
    if (strncmp(name, family, length) != 0) return false;
    const char *rest = name + length;
    return !*rest || (strcmp(type, "summary") == 0 &&
                      (strcmp(rest, "_sum") == 0 || strcmp(rest, "_count") == 0));
}

/* Every sample has a HELP and a TYPE line above it, a value, and labels of its own; every family is
 * there once. Returns the number of samples. */
static int check_format(const char *text) {
    char *copy = strdup(text), *rest = copy, *lines[LINES_MAX];
    const char *type = "", *help = "";
    int samples = 0, count = 0;
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char name[200], *end;
        if (strncmp(line, "# HELP ", 7) == 0) {
            help = line + 7;
            continue;
        }
        if (strncmp(line, "# TYPE ", 7) == 0) {
            type = line;
            if (strncmp(help, line + 7, strcspn(line + 7, " ") + 1) != 0)
                fail_msg("'%s' has not its HELP line above it", line);
        } else {
            name_of(line, name, sizeof name);
            if (!belongs(name, type)) fail_msg("'%s' stands below '%s'", line, type);
            char *value = strrchr(line, ' ');
            strtod(value + 1, &end);
            if (*end || end == value + 1) fail_msg("no value: %s", line);
            *value = '\0';
            samples++;
        }
        for (int i = 0; i < count; i++) {
            if (strcmp(lines[i], line) == 0) fail_msg("twice: %s", line);
        }
        assert_true(count < LINES_MAX);
        lines[count++] = line;
    }
    free(copy);
    return samples;
}

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

/* --- over HTTP --- */

static int connect_to(int port) {
    return loopback_connect(port, 30);
}

/* All until the other end closes; "" = nothing came. The caller frees. */
static char *read_answer(int fd) {
    char *answer = calloc(1, 200000);
    size_t used = 0;
    ssize_t got;
    while (used < 199999) {
        got = recv(fd, answer + used, 199999 - used, 0);
        if (got < 0 && errno == EINTR) continue; /* this process was stopped */
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(fd);
    return answer;
}

static char *ask_for(int port, const char *request) {
    int fd = connect_to(port);
    if (fd < 0) return strdup("");
    assert_true(send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request));
    return read_answer(fd);
}

/* The text of /metrics. The caller frees. */
static char *scrape_once(int port) {
    char *answer = ask_for(port, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    const char *body = strstr(answer, "\r\n\r\n"), *length = strstr(answer, "Content-Length: ");
    if (strncmp(answer, "HTTP/1.1 200 OK\r\n", 17) != 0 || !body || !length)
        fail_msg("not an answer: %s", answer);
    assert_has(answer, "Content-Type: text/plain; version=0.0.4");
    assert_int_equal(strlen(body + 4), strtoul(length + 16, NULL, 10));
    char *text = strdup(body + 4);
    free(answer);
    return text;
}

struct watched {
    struct cli *cli;
    int port;
    double grants;
};

/* The program has said where it listens. */
static bool has_port(void *arg) {
    struct watched *watched = arg;
    char *said = cli_read(watched->cli->err_path), *at = strstr(said, "metrics: http://127.0.0.1:");
    if (at && strchr(at, '\n')) watched->port = atoi(at + strlen("metrics: http://127.0.0.1:"));
    free(said);
    return watched->port > 0;
}

/* Some client of the stage has been granted more than before. */
static bool has_more(void *arg) {
    struct watched *watched = arg;
    char *text = scrape_once(watched->port);
    double grants = sum_of(text, "lockbench_grants_total", "");
    bool more = grants >= watched->grants + 1000; /* enough for a p99 */
    if (more) watched->grants = grants;
    free(text);
    return more;
}

static void start_watched(struct watched *watched, struct cli *cli, const char *const *args) {
    cli_start(cli, NULL, args);
    *watched = (struct watched){.cli = cli};
    cli_until(cli, has_port, watched, "the address of the figures");
}

static const char *const counters[] = {
    "lockbench_attempts_total",        "lockbench_grants_total",
    "lockbench_outcomes_total",        "lockbench_acquire_seconds_count",
    "lockbench_acquire_seconds_sum",   "lockbench_hiccup_seconds_count",
    "lockbench_handoff_seconds_count", "lockbench_release_seconds_sum",
    "lockbench_stages_begun_total"};

TEST(a_run_shows_its_figures_and_they_only_grow) {
    struct cli cli;
    struct watched watched;
    start_watched(&watched, &cli,
                  ARGS("run", "smoke", "--lock", "mem-mutex", "--set", "load.clients=3", "--set",
                       "run.duration=1h", "--metrics", ":0"));
    cli_until(&cli, has_more, &watched, "a grant");
    char *first = scrape_once(watched.port);
    cli_until(&cli, has_more, &watched, "more grants");
    char *second = scrape_once(watched.port);
    assert_true(check_format(first) > 50);
    assert_int_equal(check_format(first), check_format(second));
    const char *stage =
        "{stage=\"000\",lock=\"mem-mutex\",backend=\"memory\",topology=\"embedded\","
        "clients=\"3\"}";
    assert_true(sum_of(first, "lockbench_grants_total", stage) > 0);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        double before = sum_of(first, counters[i], ""), after = sum_of(second, counters[i], "");
        if (!(before >= 0 && after >= before))
            fail_msg("%s: %g, then %g", counters[i], before, after);
    }
    assert_true(sum_of(second, "lockbench_up", "") == 1);
    assert_true(sum_of(second, "lockbench_stage_window_seconds", "") == 3600);
    assert_true(sum_of(second, "lockbench_attempts_total", "") ==
                sum_of(second, "lockbench_outcomes_total", ""));
    double p50 = sum_of(second, "lockbench_acquire_seconds", "quantile=\"0.5\"");
    double p99 = sum_of(second, "lockbench_acquire_seconds", "quantile=\"0.99\"");
    assert_true(p50 > 0 && p99 >= p50 && p99 < 3600);
    free(first);
    free(second);
    kill(cli.pid, SIGINT);
    cli_wait(&cli);
    assert_code(&cli, 130);
    assert_int_equal(connect_to(watched.port), -1); /* the server has ended with the run */
    cli_free(&cli);
}

TEST(only_get_of_metrics_is_answered_and_nobody_can_hold_up_the_others) {
    static char large[9000];
    struct cli cli;
    struct watched watched;
    int idle[SCRAPE_PEERS];
    start_watched(&watched, &cli,
                  ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=1", "--set",
                       "run.duration=1h", "--metrics", "localhost:0"));
    const struct {
        const char *request, *answer;
    } rows[] = {{"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
                {"GET /metricsx HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
                {"GET /metrics?a=b HTTP/1.0\r\n\r\n", "HTTP/1.1 200 "},
                {"POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 "},
                {"GET /metrics\r\n\r\n", "HTTP/1.1 400 "},
                {"\r\n\r\n", "HTTP/1.1 400 "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *answer = ask_for(watched.port, rows[i].request);
        if (strncmp(answer, rows[i].answer, strlen(rows[i].answer)) != 0)
            fail_msg("%s was answered by %s", rows[i].request, answer);
        free(answer);
    }
    memset(large, 'x', sizeof large - 1);
    char *answer = ask_for(watched.port, large);
    assert_has(answer, "HTTP/1.1 431 ");
    free(answer);
    /* The greatest number of connections, all of them silent: the next connection takes the place of the oldest one. */
    for (int i = 0; i < SCRAPE_PEERS; i++) {
        idle[i] = connect_to(watched.port);
        assert_true(idle[i] >= 0);
    }
    free(scrape_once(watched.port));
    answer = read_answer(idle[0]);
    assert_string_equal(answer, "");
    free(answer);
    for (int i = 1; i < SCRAPE_PEERS; i++) close(idle[i]);
    kill(cli.pid, SIGINT);
    cli_wait(&cli);
    assert_code(&cli, 130);
    cli_free(&cli);
}

/* A server in this process, whose time is the test's, and one connection to it. */
struct served {
    struct scrape scrape;
    int listener, client;
    int64_t now_ns;
};

static void serve_turn(struct served *served, int64_t passed_ns) {
    struct pollfd fds[SCRAPE_FDS];
    scrape_poll(&served->scrape, fds);
    assert_true(poll(fds, SCRAPE_FDS, passed_ns == 0 ? 10000 : 0) >= 0);
    served->now_ns += passed_ns;
    scrape_turn(&served->scrape, fds, "x 1\n", 4, served->now_ns);
}

static void serve_one(struct served *served) {
    struct lb_err err = {0};
    char url[100];
    *served = (struct served){.now_ns = LB_S_NS};
    served->listener = scrape_listen(":0", url, sizeof url, &err);
    assert_true(served->listener >= 0);
    scrape_init(&served->scrape, served->listener);
    served->client = connect_to(atoi(strrchr(url, ':') + 1));
    serve_turn(served, 0);
    assert_true(served->scrape.peer[0].fd >= 0);
}

/* The process stood still for an hour between the request and the answer. */
TEST(an_answer_outlasts_a_server_that_stood_still) {
    struct served served;
    serve_one(&served);
    const char *request = "GET /metrics HTTP/1.1\r\n\r\n";
    assert_true(send(served.client, request, strlen(request), 0) == (ssize_t)strlen(request));
    serve_turn(&served, 3600 * LB_S_NS);
    serve_turn(&served, 3600 * LB_S_NS);
    serve_turn(&served, 0);
    char *answer = read_answer(served.client);
    assert_has(answer, "x 1");
    free(answer);
    while (served.scrape.peer[0].fd >= 0) serve_turn(&served, 0); /* it sees the other end close */
    close(served.listener);
}

/* Half a minute of turns, and no more. */
TEST(a_connection_that_says_nothing_ends) {
    struct served served;
    int turns = 0;
    serve_one(&served);
    for (; served.scrape.peer[0].fd >= 0 && turns < 1000; turns++)
        serve_turn(&served, SCRAPE_TURN_NS / 2);
    assert_int_equal(turns, 2 * SCRAPE_AGE_NS / SCRAPE_TURN_NS + 1);
    close(served.listener);
    char *answer = read_answer(served.client);
    assert_string_equal(answer, "");
    free(answer);
}

static bool serves_no_more(void *arg) {
    int fd = connect_to(*(int *)arg);
    if (fd >= 0) close(fd);
    return fd < 0;
}

TEST(the_server_ends_with_a_program_that_is_killed) {
    struct cli cli;
    struct watched watched;
    start_watched(&watched, &cli,
                  ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=2", "--set",
                       "load.processes=2", "--set", "run.duration=1h", "--metrics", ":0"));
    kill(cli.pid, SIGKILL);
    cli_wait(&cli);
    for (int64_t until_ns = lb_now() + 60 * LB_S_NS; !serves_no_more(&watched.port);) {
        if (lb_now() > until_ns) fail_msg("it still listens");
        cli_nap_ms(10);
    }
    cli_free(&cli);
}

/* --- in a file --- */

TEST(a_file_is_whole_at_any_time_and_says_in_the_end_that_the_run_is_over) {
    const char *path = cli_path("figures.prom");
    struct cli cli;
    bool up = false;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=1,2", "--set",
                   "run.duration=300ms", "--metrics", path));
    for (siginfo_t ended = {0}; ended.si_pid == 0;) {
        waitid(P_PID, (id_t)cli.pid, &ended, WEXITED | WNOHANG | WNOWAIT);
        char *text = cli_read(path);
        if (*text && ended.si_pid == 0) {
            check_format(text);
            up |= sum_of(text, "lockbench_up", "") == 1;
        }
        free(text);
        cli_nap_ms(2);
    }
    cli_wait(&cli);
    assert_code(&cli, 0);
    assert_true(up);
    char *text = cli_read(path);
    check_format(text);
    assert_true(sum_of(text, "lockbench_up", "") == 0);
    assert_true(sum_of(text, "lockbench_stages", "") == 2);
    assert_true(sum_of(text, "lockbench_stages_begun_total", "") == 2);
    assert_true(sum_of(text, "lockbench_grants_total", "clients=\"2\"") > 0);
    assert_has(text, "lockbench_end_info{exit_code=\"0\",reason=\"\"} 1");
    assert_int_equal(access(cli_path("figures.prom.new"), F_OK), -1);
    free(text);
    cli_free(&cli);
}

/* For cli_until: whether the file at this path shows this value. */
struct awaited {
    const char *path, *name;
    double value;
};

static bool is_shown(void *arg) {
    const struct awaited *awaited = arg;
    char *text = cli_read(awaited->path);
    bool shown = sum_of(text, awaited->name, "") == awaited->value;
    free(text);
    return shown;
}

/* Whoever finds the file later learns that the figures are not those of a whole run. */
TEST(a_file_says_that_its_run_was_interrupted_or_killed) {
    static const struct {
        int signal;
        const char *end;
    } ends[] = {{SIGINT, "lockbench_end_info{exit_code=\"130\",reason=\"interrupted"},
                {SIGKILL, "lockbench_end_info{exit_code=\"\",reason=\"the run was cut off\"} 1"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct awaited awaited = {cli_path("ended-%zu.prom", i), "lockbench_stages_begun_total", 1};
        struct cli cli;
        cli_start(&cli, NULL,
                  ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=1", "--set",
                       "run.duration=1h", "--metrics", awaited.path));
        cli_until(&cli, is_shown, &awaited, "the file");
        char *text = cli_read(awaited.path);
        assert_null(strstr(text, "lockbench_end_info"));
        free(text);
        kill(cli.pid, ends[i].signal);
        cli_wait(&cli);
        awaited.name = "lockbench_up";
        awaited.value = 0;
        for (int64_t until_ns = lb_now() + 60 * LB_S_NS; !is_shown(&awaited); cli_nap_ms(5)) {
            if (lb_now() > until_ns) fail_msg("the file says that the run goes on");
        }
        text = cli_read(awaited.path);
        check_format(text);
        assert_has(text, ends[i].end);
        free(text);
        cli_free(&cli);
    }
}

/* Prometheus' own parser for Python reads it: each sample belongs to a family that was declared with its type, and none
 * of the text is dropped. */
TEST(a_foreign_parser_reads_all_of_it) {
    static const char program[] =
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
        "assert sum(len(f.samples) for f in families) == len(lines) > 50, 'samples were dropped'\n";
    const char *path = cli_path("parsed.prom"), *script = cli_path("parse.py");
    char command[600];
    need(access("/usr/lib/python3/dist-packages/prometheus_client/parser.py", F_OK) == 0,
         "Prometheus' parser for Python", "python3-prometheus-client");
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "null", "--metrics", path));
    assert_code(&cli, 0);
    cli_write(script, program);
    snprintf(command, sizeof command, "/usr/bin/python3 '%s' '%s'", script, path);
    assert_int_equal(system(command), 0);
    cli_free(&cli);
}

/* --- what is refused, before anything runs --- */

static void refuses(const char *where, int code, const char *why) {
    char *out = cli_path("refused");
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "null", "--out", out, "--metrics", where));
    assert_code(&cli, code);
    assert_has(cli.err, why);
    assert_int_equal(cli_lines(cli.err), 1);
    assert_int_equal(access(out, F_OK), -1);
    cli_free(&cli);
}

TEST(what_cannot_be_shown_is_one_line_before_the_run) {
    int port, taken = loopback_listen(&port);
    char where[40];
    snprintf(where, sizeof where, ":%d", port);
    refuses(where, 2, "cannot listen there: Address already in use");
    close(taken);
    refuses(":99999", 1, "a port of at most 65535");
    refuses("[nowhere]:1", 2, "no such host");
    refuses(cli_path("no-folder/figures.prom"), 2, "cannot be written: No such file or directory");
    refuses("/dev/null", 1, "is no regular file");
    refuses(cli_folder, 1, "is no regular file");
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "null", "--repeat", "2", "--metrics", ":0"));
    assert_code(&cli, 1);
    assert_has(cli.err, "--metrics shows one run");
    cli_free(&cli);
}

/* --- the page --- */

TEST(the_page_has_every_name) {
    char path[PATH_MAX + 40], *text = NULL;
    size_t length;
    snprintf(path, sizeof path, "%s/results/METRICS.md", cli_root);
    FILE *out = open_memstream(&text, &length);
    exposition_reference(out);
    fclose(out);
    char *page = cli_read(path);
    char *table = strstr(page, "| name |");
    assert_non_null(table);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "we");
        fprintf(file, "%.*s%s", (int)(table - page), page, text);
        fclose(file);
    } else if (strcmp(table, text) != 0) {
        fail_msg("results/METRICS.md is old: UPDATE_GOLDEN=1 <this program> writes it");
    }
    free(page);
    free(text);
}

TEST_MAIN(cli_setup, cli_teardown)
