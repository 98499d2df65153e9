/* test_no_lock: the workload no-lock on real servers: in the end the server has every update of one statement; GET and
 * SET without a lock lose some; and a lock is listed beside them with its requests.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#define SHORT "--set", "load.clients=8", "--set", "run.duration=1s", "--no-page"

static char key[20]; /* of the number that was counted up last */

/* Counts up a number on a server that runs on its own. Returns the updates of all clients. If the machine stood still
 * in the window, the run is repeated with another number, since its updates are in the first one. */
static double count_up(const char *lock, const char *url) {
    char *out = NULL;
    bool stood_still = true;
    for (int tries = 0; tries < CLI_TRIES && stood_still; tries++) {
        struct cli cli;
        out = cli_path("%s-%d", lock, tries);
        snprintf(key, sizeof key, "number-%d", tries);
        cli_start(&cli, NULL,
                  ARGS("run", "no-lock", "--lock", lock, "--url", url, "--key", key, SHORT, "--out",
                       out));
        cli_wait(&cli);
        stood_still = strstr(cli.err, VERDICT_NOTHING_GRANTED_WORDS) != NULL;
        if (!stood_still) assert_code(&cli, 0);
    }
    json_t *run = cli_result(out);
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "clean");
    assert_true(cli_number_at(run, "stages.0.exclusion.lost_updates") == 0);
    double updates = cli_number_at(run, "stages.0.exclusion.grants");
    return updates;
}

/* The number that a script prints: $URL is the server's, $KEY the number's key; $PORT, $LOGIN and $SECRET are what stands in it. */
static double ask(const char *option, const char *script) {
    char text[1500];
    snprintf(
        text, sizeof text,
        "KEY='%s'; URL='%s'; AT=${URL##*@}; PORT=${AT#*:}; PORT=${PORT%%%%/*}; LOGIN=${URL#*://}; "
        "LOGIN=${LOGIN%%@*}; SECRET=${LOGIN#*:}; LOGIN=${LOGIN%%%%:*}; %s",
        key, strchr(option, '=') + 1, script);
    struct cli cli = cli_shell("sh", text);
    assert_code(&cli, 0);
    double number = strtod(cli.out, NULL);
    return number;
}

TEST(incr_has_counted_every_update) {
    struct cli up;
    char url[300];
    cli_up(&up, "redis", "redis", url, sizeof url);
    double updates = count_up("redis-incr", url);
    double number = ask(url, "REDISCLI_AUTH=$SECRET redis-cli -p $PORT get $KEY");
    if (number != updates) fail_msg("the number is %.0f after %.0f updates", number, updates);
    cli_down(&up);
}

/* A row begins at version 1. */
TEST(one_update_statement_has_counted_every_update) {
    static const struct {
        const char *lock, *backend, *script;
    } sql[] = {
        {"pg-update", "postgres",
         "psql -XAtq $URL -c \"select version - 1 from lockbench_version where name = '$KEY'\""},
        {"mysql-update", "mariadb",
         "MYSQL_PWD=$SECRET mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u $LOGIN -e "
         "\"select version - 1 from lockbench.lockbench_version where name = '$KEY'\""},
    };
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++) {
        struct cli up;
        char url[300];
        cli_up(&up, sql[i].backend, sql[i].backend, url, sizeof url);
        double updates = count_up(sql[i].lock, url);
        double number = ask(url, sql[i].script);
        if (number != updates)
            fail_msg("%s: the number is %.0f after %.0f updates", sql[i].lock, number, updates);
        cli_down(&up);
    }
}

TEST_MAIN(cli_setup, cli_teardown)
