/* transcripts: command lines of the program with their exit codes and what they say, from a text file. Header only, since
 * each test is one program. A file has lines of these kinds:
 *
 *   == TITLE     begins a test      # a comment
 *   needs NAME   servers of a topology, /PROGRAM, or mpi: lockbench-hosts
 *   up TOPOLOGY  runs while the test does; UP in a command line, and $UP in a script, is its BACKEND=URL
 *   with WORDS   stand behind those of each command line below the same title, or before each script
 *   $ WORDS      behind `lockbench`; '' may be around a word with blanks
 *   % SCRIPT     of bash: $PROGRAM is the program, $ROOT the project's folder; the next line may go on
 *   = CODE       the exit code
 *   ! WORDS      standard error has them    > WORDS   standard output has them    - WORDS   neither has them
 *   : PATH [+ PATH]... SIGN VALUE    the saved result has it
 *
 * With : a command line is that of a run or a check, is saved in a folder of its own, and SECTION.KEY=VALUE stands for --set and it.
 * A PATH is of the first stage, /PATH of the whole result, LOCK/PATH of the lock's first stage, LOCK:N/PATH of its stage N, from 0,
 * and LOCK:FAULT/PATH of a cell; granted@S is the number of grants in the window's seconds from S on. LOCK:FAULT/each = VERDICT: in
 * the run of each seed. The signs: < > >= of numbers; = and ! (is not) of numbers, texts, null, true and @PATH; ~ has the words;
 * # has so many items. In a sum null is 0. */
#ifndef BENCH_TESTS_TRANSCRIPTS_H
#define BENCH_TESTS_TRANSCRIPTS_H

#include <math.h>

#include "bench/tests/cli_help.h"

#define TRANSCRIPTS_MAX 400
#define SAYS_MAX 40

struct transcript {
    int line;                       /* of the file */
    const char *title, *needs, *up; /* NULL = none */
    bool is_script, has_figures;
    char *shown, *args[CLI_ARGS_MAX]; /* all of it, and the words of a command line */
    char *says[SAYS_MAX];             /* with the sign before them */
    int arg_count, say_count, code;   /* code: -1 = none is told */
};

static const char *transcripts_file;
static struct transcript transcripts[TRANSCRIPTS_MAX];
static int transcript_count;

/* The next word of a command line. NULL: there is none. */
static inline char *transcript_word(char **rest) {
    *rest += strspn(*rest, " \n");
    if (!**rest) return NULL;
    bool quoted = **rest == '\'';
    char *word = *rest + quoted, *end = word + strcspn(word, quoted ? "'" : " \n");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static inline char *transcript_join(const char *one, const char *between, const char *other) {
    char *text = NULL;
    assert_true(asprintf(&text, "%s%s%s", one, between, other) >= 0);
    return cli_keep(text);
}

/* below: what all have that stand below the same title. */
static inline void transcript_begin(const struct transcript *below, const char *line, int number,
                                    const char *with) {
    struct transcript *one = &transcripts[transcript_count++];
    assert_true(transcript_count < TRANSCRIPTS_MAX);
    *one = *below;
    one->line = number;
    one->is_script = *line == '%';
    one->shown = one->is_script ? transcript_join(with, "\n", line + 2)
                                : transcript_join(line + 2, " ", with);
    char *rest = transcript_join(one->shown, "", "");
    while (!one->is_script && (one->args[one->arg_count] = transcript_word(&rest)))
        one->arg_count++;
}

/* A command of which nothing is told, or a title without a command, is a text that was cut off. */
static inline void transcript_end(const struct transcript *below, const struct transcript *one,
                                  int number) {
    if (one ? one->code < 0 && !one->say_count : below->title != NULL)
        fail_msg("%s:%d: nothing is told of what stands above", transcripts_file, number);
}

/* The part of a line behind its sign and a blank. */
static inline char *transcript_words(char *line, int number) {
    if (line[1] != ' ' || !line[2]) fail_msg("%s:%d: %s", transcripts_file, number, line);
    return line + 2;
}

static inline void read_transcripts(const char *path) {
    struct transcript below = {.code = -1},
                      *one = NULL; /* one: the last command, while its lines come */
    const char *with = "";
    int number = 1;
    transcripts_file = path;
    char *rest = cli_text(path);
    assert_true(*rest && rest[strlen(rest) - 1] == '\n');
    for (char *line; (line = strsep(&rest, "\n")); number++) {
        bool goes_on = *line == '%' && one && one->is_script && one->code < 0 && !one->say_count;
        if (strncmp(line, "== ", 3) == 0) {
            transcript_end(&below, one, number);
            below = (struct transcript){.title = line + 3, .code = -1};
            one = NULL;
            with = "";
        } else if (!one && strncmp(line, "needs ", 6) == 0) {
            below.needs = line + 6;
        } else if (!one && strncmp(line, "up ", 3) == 0) {
            below.up = line + 3;
        } else if (strncmp(line, "with ", 5) == 0) {
            with = transcript_join(with, *with ? "\n" : "", line + 5);
        } else if (goes_on) {
            one->shown =
                transcript_join(one->shown, "\n", line[1] ? transcript_words(line, number) : "");
        } else if (*line == '$' || *line == '%') {
            if (one) transcript_end(&below, one, number);
            transcript_words(line, number);
            one = &transcripts[transcript_count];
            transcript_begin(&below, line, number, with);
        } else if (one && *line == '=') {
            char *end, *code = transcript_words(line, number);
            one->code = (int)strtol(code, &end, 10);
            if (*end) fail_msg("%s:%d: %s", path, number, line);
        } else if (one && *line && strchr("!>-:", *line)) {
            assert_true(one->say_count < SAYS_MAX);
            transcript_words(line, number);
            one->has_figures |= *line == ':';
            one->says[one->say_count++] = line;
        } else if (*line && *line != '#') {
            fail_msg("%s:%d: %s", path, number, line);
        }
    }
    transcript_end(&below, one, number);
}

/* ---- figures of results ---- */

/* A lock's stage N or cell of a fault, "LOCK", "LOCK:N" or "LOCK:FAULT"; "" = the first one. NULL: there is none. */
static inline const json_t *transcript_item(const json_t *result, const char *name) {
    const json_t *all = cli_get(result, "stages"), *item;
    const char *fault = cli_get(result, "cells") ? "" : NULL;
    size_t length = strcspn(name, ":"), i;
    int wanted = name[length] ? atoi(name + length + 1) : 0;
    if (fault) all = cli_get(result, "cells");
    if (fault && name[length]) fault = name + length + 1;
    json_array_foreach(all, i, item) {
        const char *lock = cli_text_at(item, "lock");
        if (length && (strlen(lock) != length || strncmp(lock, name, length) != 0)) continue;
        if (fault && *fault && strcmp(cli_text_at(item, "fault"), fault) != 0) continue;
        if (fault || wanted-- == 0) return item;
    }
    return NULL;
}

static inline const json_t *transcript_at(const json_t *result, const char *path) {
    char name[100] = "";
    const char *slash = strchr(path, '/');
    if (slash == path) return cli_get(result, path + 1);
    if (slash) snprintf(name, sizeof name, "%.*s", (int)(slash - path), path);
    return cli_get(transcript_item(result, name), slash ? slash + 1 : path);
}

static inline double transcript_number(const json_t *result, const char *path) {
    const json_t *value = transcript_at(result, path), *second;
    double from_s, sum = 0;
    size_t i;
    if (sscanf(path, "granted@%lf", &from_s) != 1)
        return json_is_number(value) ? json_number_value(value) : json_is_null(value) ? 0 : NAN;
    json_array_foreach(cli_get(result, "stages.0.series"), i, second) {
        if (cli_number_at(second, "t_s") >= from_s) sum += cli_number_at(second, "ok");
    }
    return sum;
}

/* Whether a stage of the run in this folder has the verdict. */
static inline bool transcript_run_shows(const char *folder, const char *verdict) {
    char path[600];
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (access(path, F_OK) != 0) return false;
    const json_t *stages = cli_get(cli_json(path), "stages"), *stage;
    size_t i;
    json_array_foreach(stages, i, stage) {
        if (strcmp(cli_text_at(stage, "exclusion.verdict"), verdict) == 0) return true;
    }
    return false;
}

/* Not just the worst of the seeds' runs has the verdict. A run that showed nothing was tried once more. */
static inline bool transcript_each_shows(const json_t *result, const char *cell, const char *out,
                                         const char *verdict) {
    const json_t *seeds = cli_get(transcript_item(result, cell), "seeds"), *seed;
    char folder[500], name[100];
    size_t i, shown = 0;
    snprintf(name, sizeof name, "%s", cell);
    name[strcspn(name, ":")] = '.';
    json_array_foreach(seeds, i, seed) {
        int used = snprintf(folder, sizeof folder, "%s/cells/%s.%d", out, name,
                            (int)json_integer_value(seed));
        bool shows = transcript_run_shows(folder, verdict);
        snprintf(folder + used, sizeof folder - (size_t)used, ".again");
        shown += shows || transcript_run_shows(folder, verdict);
    }
    return shown > 0 && shown == json_array_size(seeds);
}

static inline bool transcript_compare(double is, const char *sign, double value) {
    return *sign == '='     ? is == value
           : *sign == '!'   ? is != value
           : *sign == '<'   ? is < value
           : sign[1] == '=' ? is >= value
                            : is > value;
}

static inline bool transcript_holds(const json_t *result, const char *out, const char *figure) {
    char text[400], *rest = text, *end;
    snprintf(text, sizeof text, "%s", figure);
    char *path = strsep(&rest, " ");
    const char *sign = strsep(&rest, " "), *each = strstr(path, "/each");
    const json_t *is = transcript_at(result, path);
    double sum = transcript_number(result, path);
    bool is_null = json_is_null(is), is_sum = false;
    for (; sign && *sign == '+' && rest; sign = strsep(&rest, " "), is_sum = true)
        sum += transcript_number(result, strsep(&rest, " "));
    if (!sign || !rest) fail_msg("no figure: %s", figure);
    const char *word = json_is_string(is)  ? json_string_value(is)
                       : is_null           ? "null"
                       : json_is_true(is)  ? "true"
                       : json_is_false(is) ? "false"
                                           : "";
    double value = *rest == '@' ? transcript_number(result, rest + 1) : strtod(rest, &end);
    bool numbers = *rest == '@' || *end == '\0';
    if (each) {
        path[each - path] = '\0';
        return transcript_each_shows(result, path, out, rest);
    }
    if (*sign == '#') return json_is_array(is) && (double)json_array_size(is) == value;
    if (*sign == '~') return strstr(word, rest) != NULL;
    if (numbers)
        return (is_sum || !is_null) && !isnan(sum) && !isnan(value) &&
               transcript_compare(sum, sign, value);
    return is && (strcmp(word, rest) == 0) == (*sign == '=');
}

/* ---- what came of one ---- */

/* Whether it said and saved what its transcript tells. result: NULL = it saved none. */
static inline bool transcript_is_true(const struct transcript *one, const struct cli *cli,
                                      const json_t *result, const char *out) {
    bool good = (one->code < 0 || cli->code == one->code) && (result || !one->has_figures);
    for (int i = 0; i < one->say_count && good; i++) {
        const char *words = one->says[i] + 2;
        bool said = strstr(cli->err, words), printed = strstr(cli->out, words);
        good = *one->says[i] == '!'   ? said
               : *one->says[i] == '>' ? printed
               : *one->says[i] == '-' ? !said && !printed
                                      : transcript_holds(result, out, words);
        if (!good) print_message("not so: %s\n", one->says[i]);
    }
    return good;
}

/* Not by print_message, which cuts what is long. */
static inline void transcript_show(const struct transcript *one, const struct cli *cli) {
    printf("%s:%d: %s\n= %d\n%s%s", transcripts_file, one->line, one->shown, cli->code, cli->err,
           cli->out);
    if (one->code >= 0) printf("wanted: = %d\n", one->code);
    fflush(stdout);
}

#define TRANSCRIPT_TRIES 4

/* Whether the machine stood still for a tenth of a window in one piece, and nothing was violated, which no machine excuses. A
 * fault at such a moment hits other clients than it should, or none. */
static inline bool transcript_lost_time(const json_t *result) {
    size_t i;
    json_t *stage;
    if (strcmp(cli_text_at(result, "verdict"), "violated") == 0) return false;
    json_array_foreach(cli_get(result, "stages"), i, stage) {
        const json_t *hiccup_ns = cli_get(stage, "executor.hiccup_ns.max");
        double limit_ns = 20e6 + 1e8 * json_number_value(cli_get(stage, "duration_s"));
        if (json_is_number(hiccup_ns) && json_number_value(hiccup_ns) > limit_ns) return true;
    }
    return false;
}

/* Runs a command line whose result is looked at, which is saved in out. up: the value of --url UP. */
static inline struct cli transcript_save(const struct transcript *one, const char *up,
                                         const char *out) {
    static const char in_names[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *args[CLI_ARGS_MAX + 1] = {NULL};
    int count = 0;
    for (int i = 0; i < one->arg_count; i++) {
        const char *word = one->args[i];
        size_t length = strspn(word, in_names);
        assert_true(count < CLI_ARGS_MAX - 4);
        if (word[length] == '=' && memchr(word, '.', length)) args[count++] = "--set";
        args[count++] = strcmp(word, "UP") == 0 ? up : word;
    }
    args[count++] = "--out";
    args[count++] = out;
    return cli_run(NULL, args);
}

static inline void transcript_play(const struct transcript *one, const char *up) {
    static int saved;
    for (int tries = 1;; tries++) {
        const char *out = cli_path("saved-%d", saved++),
                   *file = cli_path("saved-%d/run.json", saved - 1);
        struct cli cli = one->is_script     ? cli_shell("bash", one->shown)
                         : one->has_figures ? transcript_save(one, up, out)
                                            : cli_run(NULL, (const char *const *)one->args);
        if (access(file, F_OK) != 0) file = cli_path("saved-%d/check.json", saved - 1);
        const json_t *result = access(file, F_OK) == 0 ? cli_json(file) : NULL;
        if (transcript_is_true(one, &cli, result, out)) return;
        transcript_show(one, &cli);
        if (tries == TRANSCRIPT_TRIES || !result || !transcript_lost_time(result)) fail();
        print_message("the machine stood still: once more\n");
    }
}

/* Plays the transcripts below a title. */
static inline void play_title(void **state) {
    const struct transcript *one = *state, *first = one;
    char names[200], option[200] = "", *rest = names;
    struct cli up;
    snprintf(names, sizeof names, "%s", first->needs ? first->needs : "");
    for (char *name; (name = strsep(&rest, " "));) {
        if (strcmp(name, "mpi") == 0)
            need(*cli_hosts_program() != '\0', "lockbench-hosts",
                 "libopenmpi-dev, then make hosts");
        else if (*name == '/')
            need_program(name + 1, name + 1);
        else if (*name)
            cli_need(name);
    }
    if (first->up) cli_up(&up, first->up, first->up, option, sizeof option);
    setenv("UP", option, 1);
    for (; one < transcripts + transcript_count && one->title == first->title; one++)
        transcript_play(one, option);
    if (first->up) cli_down(&up);
}

/* A test for each title of a file: to be called before the tests run. */
static inline void add_transcripts(const char *path) {
    read_transcripts(path);
    for (int i = 0; i < transcript_count; i++) {
        if (i > 0 && transcripts[i].title == transcripts[i - 1].title) continue;
        assert_true(unit_test_count < sizeof unit_tests / sizeof *unit_tests);
        unit_tests[unit_test_count++] = (struct CMUnitTest){
            transcripts[i].title, play_title, NULL, NULL, (void *)(uintptr_t)&transcripts[i]};
    }
}

#endif
