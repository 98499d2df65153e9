/* test_args: options of the subcommands. bench/cli is not linked with tests, so its file is
 * included. */
#include "bench/cli/args.c"
#include "bench/tests/unit.h"

struct sample {
    struct arg_list names, behind, sets;
    const char *out, *lock, *one;
    int jobs;
    unsigned format;
    bool json;
};

#define AT(member) offsetof(struct sample, member)

static const struct arg table[] = {
    {{"", ARG_LIST, AT(names), .help = NULL}, "NAME"},
    {{"out", ARG_PATH, AT(out), .help = "where to"}, "DIR"},
    {{"lock", LB_OPT_TEXT, AT(lock), .help = "which"}, "A,B|all"},
    {{"set", ARG_LIST, AT(sets), .max = 2, .help = "keys"}, "KEY=VALUE"},
    {{"jobs", LB_OPT_INT32, AT(jobs), "3", .min = 1, .max = 9, .help = "at once"}, "N"},
    {{"json", ARG_FLAG, AT(json), .help = "for machines"}, NULL},
    {{"md", ARG_PICK, AT(format), .min = 2, .help = "Markdown"}, NULL},
    {{"hold", ARG_KEY, AT(sets), .choices = "load.hold=", .help = "how long"}, "-d TIME"},
    {{"csv", ARG_PICK, AT(format), .min = 3, .help = "rows"}, NULL},
    {{0}, NULL},
};
static const struct command command = {.name = "run",
                                       .usage = "run [NAME]",
                                       .about = "Runs.",
                                       .args = table,
                                       .bytes = sizeof(struct sample)};

/* One operand, and two sides. */
static const struct arg one_table[] = {{{"", LB_OPT_TEXT, AT(one), .help = NULL}, "name"},
                                       {{0}, NULL}};
static const struct command one = {
    .name = "list", .args = one_table, .bytes = sizeof(struct sample)};
static const struct arg sides_table[] = {{{"", ARG_LIST, AT(names), .help = NULL}, "BASE"},
                                         {{"--", ARG_LIST, AT(behind), .help = NULL}, "NEW"},
                                         {{"json", ARG_FLAG, AT(json), .help = "x"}, NULL},
                                         {{0}, NULL}};
static const struct command sides = {
    .name = "compare", .args = sides_table, .bytes = sizeof(struct sample)};
static const struct arg none_table[] = {{{0}, NULL}};
static const struct command none = {
    .name = "doctor", .args = none_table, .bytes = sizeof(struct sample)};

static void show(char *text, const char *name, const char *value) {
    if (value) sprintf(text + strlen(text), "%s%s ", name, value);
}

static void show_list(char *text, const char *name, const struct arg_list *list) {
    for (int i = 0; i < list->count; i++) show(text, name, list->item[i]);
}

/* Reads a command line. Returns the members of the struct as text, "*operand out=x json", or the
 * error. */
static const char *parsed_by(const struct command *by, const char *line) {
    static char words[20][64], result[600];
    char *argv[21] = {words[0]};
    struct arena arena = {0};
    struct args args = {1, argv, &arena};
    struct sample sample = {0};
    struct lb_err err = {0};
    for (const char *at = line; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        snprintf(words[args.argc], sizeof words[args.argc], "%.*s", (int)len, at);
        argv[args.argc] = words[args.argc];
        args.argc++;
        at += len;
    }
    result[0] = '\0';
    int code = args_read(by, &args, &sample, &err);
    if (code < 0) {
        assert_int_equal(err.code, LB_EXIT_USAGE);
        strcpy(result, err.text);
    } else if (code > 0) {
        strcpy(result, "help");
    } else {
        show_list(result, "*", &sample.names);
        show_list(result, "--*", &sample.behind);
        show_list(result, "set=", &sample.sets);
        show(result, "*", sample.one);
        show(result, "out=", sample.out);
        show(result, "lock=", sample.lock);
        if (sample.jobs) sprintf(result + strlen(result), "jobs=%d ", sample.jobs);
        if (sample.format) sprintf(result + strlen(result), "format=%u ", sample.format);
        if (sample.json) strcat(result, "json ");
    }
    arena_done(&arena);
    return result;
}

static const char *parsed(const char *line) {
    return parsed_by(&command, line);
}

TEST(options_and_operands_may_mix) {
    assert_string_equal(parsed(""), "");
    assert_string_equal(parsed("zipf --out /tmp/x --json --jobs 4 --md"),
                        "*zipf out=/tmp/x jobs=4 format=2 json ");
    assert_string_equal(parsed("zipf --out /tmp/x -h"), "help");
    assert_string_equal(parsed("--help --frobnicate"), "help");
    assert_string_equal(parsed("--out=/tmp/x --lock=a,b --json zipf"),
                        "*zipf out=/tmp/x lock=a,b json ");
    assert_string_equal(parsed("--lock= -"), "*- lock= ");
    assert_string_equal(parsed("--lock=a=b"), "lock=a=b ");
    assert_string_equal(parsed("--set a=1 --set b=2"), "set=a=1 set=b=2 ");
    assert_string_equal(parsed("--json -- --out -h --"), "*--out *-h *-- json ");
    assert_string_equal(parsed("--out -5"), "out=-5 ");
    assert_string_equal(parsed("-5 --json"), "*-5 json ");
    assert_string_equal(parsed("--out=--json"), "out=--json ");
    assert_string_equal(parsed("--hold 5ms -d 1s -d2s"),
                        "set=load.hold=5ms set=load.hold=1s set=load.hold=2s ");
    assert_string_equal(parsed_by(&one, "sim"), "*sim ");
    assert_string_equal(parsed_by(&sides, "a b -- c --json d"), "*a *b --*c --*d json ");
}

TEST(wrong_options_are_explained) {
    assert_non_null(strstr(parsed("--lok a"), "unknown option --lok, did you mean '--lock'?"));
    assert_non_null(strstr(parsed("--jsonn=3"), "unknown option --jsonn, did you mean '--json'?"));
    assert_non_null(strstr(parsed("--frobnicate"), "unknown option --frobnicate ("));
    assert_non_null(strstr(parsed("--js"), "unknown option --js")); /* no abbreviations */
    assert_non_null(strstr(parsed("-j"), "unknown option -j"));
    assert_non_null(strstr(parsed("--json=1"), "--json takes no value"));
    assert_non_null(strstr(parsed("--out"), "--out needs a value: --out DIR"));
    assert_non_null(strstr(parsed("--out --json"), "--out needs a value"));
    assert_non_null(strstr(parsed("-d"), "--hold needs a value: --hold TIME"));
    assert_non_null(strstr(parsed("-d 5"), "run: --hold: '5' lacks its unit"));
    assert_non_null(strstr(parsed("-x 5"), "unknown option -x"));
    assert_non_null(strstr(parsed("--="), "unknown option"));
    assert_non_null(strstr(parsed("--hepl"), "did you mean '--help'"));
    assert_non_null(strstr(parsed("--jobs 10"), "run: --jobs: 10 is not between 1 and 9"));
    assert_non_null(strstr(parsed("--out="), "run: --out: the value is missing"));
    assert_non_null(strstr(parsed("--set a --set b --set c"), "run: --set: at most 2"));
    assert_non_null(strstr(parsed_by(&one, "a b"), "list: one name at a time, not 'a' and 'b'"));
    assert_non_null(strstr(parsed_by(&none, "me"), "doctor: takes no names, but got 'me'"));
}

TEST(two_formats_contradict_each_other) {
    static const char *const both[] = {"--md --csv", "--csv --md", "--md zipf --csv"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        assert_non_null(strstr(parsed(both[i]), "at once: say one of them"));
    assert_string_equal(parsed("--md --csv"), "run: --md and --csv at once: say one of them");
    assert_string_equal(parsed("--md --md"), "format=2 ");
    assert_string_equal(parsed("--json --csv"), "format=3 json ");
}

TEST_MAIN(NULL, NULL)
