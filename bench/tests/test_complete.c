/* What shells offer behind `lockbench`: by the program itself, and through bash, fish and zsh with
 * the scripts that are installed. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* Whether a line of the output is the word, alone or followed by a tab. */
static bool has_word(const char *out, const char *word) {
    size_t length = strlen(word);
    for (const char *line = out; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, word, length) == 0 && strchr("\t\n", line[length])) return true;
    }
    return false;
}

#define assert_offers(cli, word)                                                                   \
    do {                                                                                           \
        if (!has_word((cli)->out, word))                                                           \
            fail_msg("no '%s' in: %s%s", word, (cli)->out, (cli)->err);                            \
    } while (0)

/* The words of `line` (blanks between them, the last one is being typed) offer `wanted`; and they do
 * not offer `unwanted`, which may be NULL. */
struct offer {
    const char *line, *wanted, *unwanted;
};

static const struct offer offers[] = {
    {"", "run", "--lock"},
    {"ru", "run", "report"},
    {"help c", "capacity", "doctor"},
    {"run ", "contended", NULL},
    {"run ", ":files", NULL},
    {"run --d", "--dry-run", "--json"},
    {"run --lock redis-set", "redis-setnx", "redis-fair"},
    {"run --lock mem-mutex,nu", "mem-mutex,null", "null"},
    {"run --lock=mem-m", "--lock=mem-mutex", NULL},
    {"run --set load.cl", "load.clients=", "load.keys="},
    {"run --set servers.durability=", "servers.durability=sync", NULL},
    {"run --set redis.", NULL, "load.clients="},
    {"run --url red", "redis=", "memory="},
    {"run --out ", ":files", "contended"},
    {"capacity redis-set", "redis-setnx", "redis"},
    {"check re", "redis", NULL},
    {"check --fault pa", "pause", "wire-cut"},
    {"list comp", "compare", NULL},
    {"up zoo", "zookeeper-3", NULL},
    {"up redis-s", "redis-sentinel", NULL},
    {"report --format h", "html", "md"},
    {"compare a -- b", ":files", NULL},
    {"hold redis-set", "redis-setnx", NULL},
    {"hold redis-setnx key -- ls --l", ":files", "--lease"},
    {"no-such-command x", NULL, "run"},
};

/* A test calls the program for several hosts "lockbench", too. */
static const struct offer offers_of_hosts[] = {
    {"", "run", "check"},
    {"", "launch", "contended"},
    {"--v", "--version", "--help"},
    {"run --lock redis-set", "redis-setnx", "redis-fair"},
    {"run --d", "--dry-run", "--json"},
    {"check re", NULL, "redis"},
};

static void check_offers(const char *program, const struct offer *offer, size_t count) {
    for (; count > 0; offer++, count--) {
        const char *args[CLI_ARGS_MAX] = {"--complete"};
        char *line = strdup(offer->line), *rest = line;
        for (int i = 1; (args[i] = strsep(&rest, " ")); i++) continue;
        struct cli cli = cli_run(&(struct cli_how){.program = program}, args);
        assert_code(&cli, 0);
        if (offer->wanted) assert_offers(&cli, offer->wanted);
        if (offer->unwanted && has_word(cli.out, offer->unwanted))
            fail_msg("'%s' offers %s", offer->line, offer->unwanted);
        cli_free(&cli);
        free(line);
    }
}

TEST(the_program_offers_what_its_tables_have) {
    check_offers(NULL, offers, sizeof offers / sizeof *offers);
}

TEST(so_does_the_program_for_several_hosts) {
    const char *program = cli_hosts_program();
    if (!*program) skip();
    check_offers(program, offers_of_hosts, sizeof offers_of_hosts / sizeof *offers_of_hosts);
}

TEST(every_lock_is_offered) {
    struct cli cli = cli_run(NULL, ARGS("--complete", "run", "--lock", ""));
    for (int i = 0; registry_locks()[i]; i++) assert_offers(&cli, registry_locks()[i]->name);
    cli_free(&cli);
}

/* As bash calls the function: with the line, its words, and the cursor at the end. */
static struct cli complete_in_bash(const char *line, const char *words, int word) {
    char script[1000];
    snprintf(
        script, sizeof script,
        "cd %s && touch a-run && . $ROOT/compose/completion/lockbench.bash && "
        "complete -p lockbench lockbench-hosts >/dev/null && "
        "COMP_LINE='%s' COMP_POINT=${#COMP_LINE} COMP_WORDS=(%s) COMP_CWORD=%d && "
        "COMP_POINT=${#COMP_LINE} && _lockbench $PROGRAM && printf '%%s\\n' \"${COMPREPLY[@]}\"",
        cli_folder, line, words, word);
    return cli_shell("bash", script);
}

TEST(bash_completes) {
    need_program("bash", "bash");
    struct cli cli = complete_in_bash("lockbench ", "lockbench ''", 1);
    assert_offers(&cli, "run");
    assert_offers(&cli, "--version");
    cli_free(&cli);
    cli = complete_in_bash("lockbench run --lock redis-set", "lockbench run --lock redis-set", 3);
    assert_string_equal(cli.out, "redis-setnx\n");
    cli_free(&cli);
    /* bash takes = as the end of a word, and replaces only what follows it. */
    cli = complete_in_bash("lockbench run --lock=redis-set", "lockbench run --lock = redis-set", 4);
    assert_string_equal(cli.out, "redis-setnx\n");
    cli_free(&cli);
    cli = complete_in_bash("lockbench run --set servers.durability=s",
                           "lockbench run --set servers.durability = s", 5);
    assert_string_equal(cli.out, "sync\n");
    cli_free(&cli);
    cli = complete_in_bash("lockbench report a-r", "lockbench report a-r", 2);
    assert_string_equal(cli.out, "a-run\n");
    cli_free(&cli);
}

/* fish has a command that completes a line. */
TEST(fish_completes) {
    char script[800];
    need_program("fish", "fish");
    snprintf(
        script, sizeof script,
        "cd %s; touch a-run; ln -sf $PROGRAM lockbench; set PATH $PWD $PATH; "
        "source $ROOT/compose/completion/lockbench.fish; complete -C 'lockbench run --lock redis-set'; "
        "complete -C 'lockbench run --lock=redis-set'; complete -C 'lockbench report a-r'; "
        "ln -sf $PROGRAM lockbench-hosts; complete -C 'lockbench-hosts capac'",
        cli_folder);
    struct cli cli = cli_shell("fish", script);
    assert_code(&cli, 0);
    assert_offers(&cli, "redis-setnx");
    assert_offers(&cli, "--lock=redis-setnx");
    assert_offers(&cli, "a-run");
    assert_offers(&cli, "capacity"); /* here the same program has the other name, too */
    assert_lacks(cli.out, "redis-fair");
    cli_free(&cli);
}

/* Without a terminal zsh has no completion: its commands are functions that print what they got. */
TEST(zsh_completes) {
    need_program("zsh", "zsh");
    struct cli cli = cli_shell(
        "zsh", "zsh -n $ROOT/compose/completion/_lockbench || exit; "
               "compadd() { print -l ${(P)@[-1]} }; compset() { }; _files() { print files }; "
               "complete_line() { . $ROOT/compose/completion/_lockbench }; "
               "words=($PROGRAM run --lock redis-set) CURRENT=4; complete_line; "
               "words=($PROGRAM run --set load.cl) CURRENT=4; complete_line; "
               "words=($PROGRAM report '') CURRENT=3; complete_line");
    assert_code(&cli, 0);
    assert_string_equal(cli.err, "");
    assert_offers(&cli, "redis-setnx");
    assert_offers(&cli, "load.clients=");
    assert_offers(&cli, "files");
    assert_lacks(cli.out, "redis-fair");
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
