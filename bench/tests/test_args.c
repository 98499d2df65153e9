/* test_args: options of the subcommands. bench/cli is not linked with tests, so its file is
 * included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/cli/args.c"

enum { OUT, LOCK, JSON, HELP };

static const struct args_option table[] = {
    [OUT] = {"out", "DIR", "where to"},
    [LOCK] = {"lock", "A,B|all", "which"},
    [JSON] = {"json", NULL, "for machines"},
    [HELP] = {"help", NULL, "show this"},
    {0},
};

/* Runs through a command line; writes what came as "out=x json *operand", or the error. */
static const char *parsed(const char *line) {
    static char words[20][64], result[600];
    char *argv[21] = {words[0]};
    int argc = 1;
    strcpy(words[0], "run");
    for (const char *at = line; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        snprintf(words[argc], sizeof words[argc], "%.*s", (int)len, at);
        argv[argc] = words[argc];
        argc++;
        at += len;
    }
    struct args args;
    struct lb_err err = {0};
    const char *value = NULL;
    result[0] = '\0';
    args_init(&args, argc, argv, table);
    for (int option; (option = args_next(&args, &value, &err)) != ARGS_END;) {
        char more[200];
        if (option == ARGS_WRONG) {
            assert_int_equal(err.code, LB_EXIT_USAGE);
            return strcpy(result, err.text);
        }
        if (option == ARGS_OPERAND) {
            snprintf(more, sizeof more, "*%s ", value);
        } else {
            snprintf(more, sizeof more, "%s%s%s ", table[option].name, value ? "=" : "",
                     value ? value : "");
        }
        strcat(result, more);
    }
    return result;
}

static void options_and_operands_may_mix(void **state) {
    (void)state;
    assert_string_equal(parsed(""), "");
    assert_string_equal(parsed("zipf --out /tmp/x --json -h"), "*zipf out=/tmp/x json help ");
    assert_string_equal(parsed("--out=/tmp/x --lock=a,b --json zipf"),
                        "out=/tmp/x lock=a,b json *zipf ");
    assert_string_equal(parsed("--out= -"), "out= *- ");
    assert_string_equal(parsed("--lock=a=b"), "lock=a=b ");
    assert_string_equal(parsed("--json -- --out -h --"), "json *--out *-h *-- ");
    assert_string_equal(parsed("--out -5"), "out=-5 ");
    assert_string_equal(parsed("--out=--json"), "out=--json ");
}

static void wrong_options_are_explained(void **state) {
    (void)state;
    assert_non_null(strstr(parsed("--lok a"), "unknown option --lok, did you mean '--lock'?"));
    assert_non_null(strstr(parsed("--jsonn=3"), "unknown option --jsonn, did you mean '--json'?"));
    assert_non_null(strstr(parsed("--frobnicate"), "unknown option --frobnicate ("));
    assert_non_null(strstr(parsed("--js"), "unknown option --js")); /* no abbreviations */
    assert_non_null(strstr(parsed("-j"), "unknown option -j"));
    assert_non_null(strstr(parsed("--json=1"), "--json takes no value"));
    assert_non_null(strstr(parsed("--out"), "--out needs a value: --out DIR"));
    assert_non_null(strstr(parsed("--out --json"), "--out needs a value"));
    assert_non_null(strstr(parsed("--="), "unknown option"));
}

static void help_shows_every_option(void **state) {
    char *text = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    args_help("run [WORKLOAD]", "Runs.", table, out);
    fclose(out);
    assert_non_null(strstr(text, "usage: lockbench run [WORKLOAD]\n"));
    for (int i = 0; table[i].name; i++) {
        assert_non_null(strstr(text, table[i].name));
        assert_non_null(strstr(text, table[i].help));
    }
    assert_non_null(strstr(text, "--lock A,B|all"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_may_mix),
        cmocka_unit_test(wrong_options_are_explained),
        cmocka_unit_test(help_shows_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
