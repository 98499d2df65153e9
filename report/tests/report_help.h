/* report_help: what the report's tests share: reports of a few lines of JSON, programs to run, and a
 * folder of the test's own. Each function ends the test when it can't do its work, unless it says
 * otherwise. Header only, since each test is one program. */
#ifndef REPORT_TESTS_REPORT_HELP_H
#define REPORT_TESTS_REPORT_HELP_H

#include <sys/wait.h>

#include "bench/tests/unit.h"
#include "report/check/check_doc.h"
#include "report/page/assets.h"
#include "report/page/html_parts.h"

/* The test's folder: make_folder, a group's setup, makes it, and remove_folder, the teardown,
 * removes it with its contents. */
static char folder[] = "/tmp/lockbench-report-XXXXXX";

FIXTURE(make_folder) {
    return mkdtemp(folder) ? 0 : -1;
}

/* Runs argv (ends with NULL) with these extra "NAME=VALUE" (ends with NULL; may be NULL), output to
 * the test's own. The exit code; 127 when it could not be started, 128 + signal when it was
 * killed. */
static inline int run_command(const char *const *argv, const char *const *env) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return 127;
    if (pid == 0) {
        for (; env && *env; env++) putenv((char *)*env);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Skips a test that looks at pages, if the charts, node or Chromium are missing; in CI the test
 * fails. */
static inline void need_browser(void) {
    need(*asset_bundle, "a build with charts", "nodejs and npm, then make clean all");
    need_program("node", "nodejs");
    need(system("{ command -v chromium-headless-shell || command -v chromium || command -v "
                "google-chrome; } >/dev/null") == 0,
         "Chromium", "chromium-headless-shell");
}

FIXTURE(remove_folder) {
    const char *const argv[] = {"rm", "-rf", folder, NULL};
    return run_command(argv, NULL);
}

/* A report of one run with these stages: JSON objects, comma between. more: further members of the
 * root, with a comma before each; "" for none. */
static inline struct report *report_of(const char *stages, const char *more) {
    struct lb_err err = {0};
    size_t size = strlen(stages) + strlen(more) + 100;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "{\"schema\":\"lockbench.run/2\"%s,\"stages\":[%s]}", more, stages);
    struct run *run = run_parse(text, strlen(text), "run.json", &err);
    assert_string_equal(err.text, "");
    free(text);
    struct report *report = report_make(run, &err);
    assert_non_null(report);
    return report;
}

/* The report rendered; malloced. */
static inline char *render(const struct report *report, enum report_format format, bool color) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_write(report, format, color, out, &err), 0);
    fclose(out);
    return text;
}

/* The same of a check; without colours. */
static inline char *render_check(const struct check *check, enum report_format format) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_check_write(check, format, false, out, &err), 0);
    fclose(out);
    return text;
}

/* The text as one line with single spaces, since a terminal's sentences are wrapped; in place. */
static inline char *one_line(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\n' || *from == ' ') {
            if (to > text && to[-1] != ' ') *to++ = ' ';
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return text;
}

/* The text must be there and have this part. */
static inline void has(const char *text, const char *part) {
    if (!text || !strstr(text, part)) fail_msg("'%s' is not in: %s", part, text ? text : "(null)");
}

static inline void lacks(const char *text, const char *part) {
    if (strstr(text, part)) fail_msg("'%s' is in: %s", part, text);
}

/* No line of a terminal's text may be wider than SCREEN_WIDTH, but for commands, which stay whole to be copied. */
static inline void assert_lines_fit(const char *text) {
    char line[4096];
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        bool is_command = strncmp(line, "  lockbench ", 12) == 0;
        if (!is_command && screen_width(line) > SCREEN_WIDTH)
            fail_msg("%d columns: %s", screen_width(line), line);
    }
}

/* How often a part is in a text. */
static inline int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

/* A file's content; malloced. NULL when there is none. */
static inline char *read_whole(const char *path) {
    char *text = NULL;
    size_t size;
    FILE *in = fopen(path, "r");
    if (!in) return NULL;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int c; (c = fgetc(in)) != EOF;) fputc(c, out);
    fclose(in);
    fclose(out);
    return text;
}

/* The path of a file in the test's folder; malloced. */
static inline char *path_of(const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static inline void store(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Fails with the first line that differs. */
static inline void same_text(const char *file, const char *text, const char *expected) {
    int line = 1;
    const char *a = text, *b = expected;
    while (*a && *a == *b) {
        line += *a == '\n';
        a++;
        b++;
    }
    if (*a == *b) return;
    while (a > text && a[-1] != '\n') a--, b--;
    fail_msg("%s:%d: is \"%.*s\", not \"%.*s\"", file, line, (int)strcspn(a, "\n"), a,
             (int)strcspn(b, "\n"), b);
}

/* After a wanted change: UPDATE_GOLDEN=1 <the program>, then read the diff before it is kept. */
static inline void same_as_stored(const char *path, const char *text) {
    if (getenv("UPDATE_GOLDEN")) store(path, text);
    char *expected = read_whole(path);
    if (!expected) fail_msg("%s is missing; UPDATE_GOLDEN=1 writes it", path);
    if (expected) same_text(path, text, expected);
    free(expected);
}

/* Runs `lockbench <command> <words>` in a shell, where $D is the test's folder and $G the stored files; output and
 * errors go to $D/out and $D/err. The exit code. */
static inline int run_lockbench(const char *command, const char *words) {
    const char *program = getenv("LOCKBENCH_PROGRAM");
    char line[1024];
    if (!program) skip_for("LOCKBENCH_PROGRAM is not set; `make test` sets it");
    snprintf(line, sizeof line, "D=%s; G=report/tests/golden; %s %s %s >$D/out 2>$D/err", folder,
             program, command, words);
    const char *const argv[] = {"sh", "-c", line, NULL};
    return run_command(argv, NULL);
}

/* What is in a file of the test's folder; malloced. "" when there is none. */
static inline char *content_of(const char *name) {
    char *path = path_of(name), *text = read_whole(path);
    free(path);
    return text ? text : strdup("");
}

#endif
