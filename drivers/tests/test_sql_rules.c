/* The decisions of the SQL drivers that need no server: URLs, error numbers, names, times. */
#include "bench/tests/unit.h"
#include "drivers/mariadb/maria_impl.h"
#include "drivers/mariadb/maria_sql.h"
#include "drivers/postgres/pg_impl.h"
#include "drivers/sql_lock.h"
#include "drivers/sqlite/sqlite_session.h"

static const char *value_of(const struct pg_conninfo *info, const char *keyword) {
    for (int i = 0; info->keyword[i]; i++) {
        if (strcmp(info->keyword[i], keyword) == 0) return info->value[i];
    }
    return "(absent)";
}

TEST(pg_url_becomes_keywords) {
    struct pg_conninfo info;
    struct lb_err err = {0};
    const char *url = "postgres://us%40er:p%40ss@db.example:5433/base?sslmode=require";
    assert_int_equal(pg_conninfo_parse(&info, url, &err), 0);
    assert_string_equal(value_of(&info, "user"), "us@er");
    assert_string_equal(value_of(&info, "password"), "p@ss");
    assert_string_equal(value_of(&info, "host"), "db.example");
    assert_string_equal(value_of(&info, "port"), "5433");
    assert_string_equal(value_of(&info, "dbname"), "base");
    assert_string_equal(value_of(&info, "sslmode"), "require");
    assert_string_equal(value_of(&info, "gssencmode"), "disable");
    assert_string_equal(value_of(&info, "fallback_application_name"), "lockbench");
    pg_conninfo_done(&info);
    assert_int_equal(pg_conninfo_parse(&info, "postgresql://h/?gssencmode=prefer", &err), 0);
    assert_string_equal(value_of(&info, "gssencmode"), "prefer"); /* what people say stands */
    pg_conninfo_done(&info);
}

TEST(pg_url_refusals_show_no_password) {
    static const char *const urls[] = {
        "postgres://me:s3cret@h/base?nonsense=1", "postgres://me:s3cret@h/base?sslmode",
        "postgres://me:s3c@s3cret@h/base",        "postgres://me@h/base?password=s3cret",
        "postgres://me:s3cret@[::1/base",         "postgres://me:s3cret%zz@h/base",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct pg_conninfo info;
        struct lb_err err = {0};
        assert_int_equal(pg_conninfo_parse(&info, urls[i], &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_null(strstr(err.text, "s3c"));
        assert_null(strchr(err.text, '\n'));
        if (i == 0) assert_non_null(strstr(err.text, "invalid URI query parameter: \"nonsense\""));
        pg_conninfo_done(&info);
    }
}

TEST(pg_errors_have_outcomes) {
    static const struct {
        const char *sqlstate;
        enum lb_outcome outcome;
    } cases[] = {
        {"55P03", LB_TIMEOUT}, {"57014", LB_TIMEOUT}, {"40P01", LB_BUSY},    {"57P01", LB_BROKEN},
        {"57P03", LB_BROKEN},  {"08006", LB_BROKEN},  {"XX000", LB_BROKEN},  {"42501", LB_REFUSED},
        {"53200", LB_REFUSED}, {"28P01", LB_REFUSED}, {"42883", LB_REFUSED}, {"23505", LB_BUSY},
        {"40001", LB_BUSY},    {"25P03", LB_BROKEN},  {"23502", LB_REFUSED}, {"25P04", LB_BROKEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pg_outcome(cases[i].sqlstate), cases[i].outcome);
    }
    assert_non_null(strstr(pg_advice("42P07"), "not of lockbench"));
    assert_non_null(strstr(pg_advice("42501"), "GRANT USAGE, CREATE ON SCHEMA"));
    assert_non_null(strstr(pg_advice("3F000"), "GRANT USAGE, CREATE ON SCHEMA"));
    assert_string_equal(pg_advice("53200"), "");
    assert_int_equal(pg_connect_exit("28P01"), LB_EXIT_USAGE);
    assert_int_equal(pg_connect_exit("3D000"), LB_EXIT_USAGE);
    static const char no_line[] =
        "no pg_hba.conf entry for host \"10.0.0.1\", user \"me\", database \"app\", SSL encryption";
    assert_non_null(strstr(pg_connect_advice("28P01", "password authentication failed"),
                           "check the user and password"));
    assert_non_null(strstr(pg_connect_advice("28000", no_line), "pg_hba.conf needs a line"));
    assert_non_null(strstr(pg_connect_advice("53300", "too many clients"), "max_connections"));
    assert_string_equal(pg_connect_advice("57P03", "the database system is starting up"), "");
    assert_int_equal(pg_connect_exit("53300"), LB_EXIT_MACHINE);
    assert_int_equal(pg_connect_exit(""), LB_EXIT_MACHINE);
}

TEST(pg_connection_messages_are_one_line) {
    char sqlstate[6], line[200];
    pg_connect_message(
        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
        "authentication failed for user \"x\"\nLOCATION:  auth_failed, auth.c:335\n",
        sqlstate, line, sizeof line);
    assert_string_equal(sqlstate, "28P01");
    assert_string_equal(line,
                        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL: password "
                        "authentication failed for user \"x\"");

    /* The first address refuses, the second answers: the answer tells more. Severity words are
     * translated. */
    pg_connect_message(
        "connection to server at \"::1\", port 1 failed: refused\n\tIs it running?\n"
        "connection to server at \"127.0.0.1\", port 1 failed: FATALE:  53300: troppi clienti\n",
        sqlstate, line, sizeof line);
    assert_string_equal(sqlstate, "53300");
    assert_string_equal(
        line, "connection to server at \"127.0.0.1\", port 1 failed: FATALE: troppi clienti");

    pg_connect_message("failed: Connection refused\n\tIs the server running?\n", sqlstate, line,
                       sizeof line);
    assert_string_equal(sqlstate, "");
    assert_string_equal(line, "failed: Connection refused");
    pg_connect_message("", sqlstate, line, sizeof line);
    assert_string_equal(line, "");
}

TEST(maria_url_is_resolved) {
    struct maria_server server = {0};
    struct lb_err err = {0};
    assert_int_equal(
        maria_url(&server, &(struct lb_server){0}, "mysql://me:p%2Fw@127.0.0.1/base", &err), 0);
    assert_string_equal(server.url.user, "me");
    assert_string_equal(server.url.password, "p/w");
    assert_string_equal(server.url.path, "base");
    assert_int_equal(server.url.port[0], 3306);
    assert_int_equal(server.host[0].resolved->count, 1);
    assert_string_equal(server.host[0].resolved->address[0], "127.0.0.1");
}

TEST(maria_url_may_name_several_hosts) {
    struct maria_server server = {0};
    struct lb_err err = {0};
    assert_int_equal(maria_url(&server, &(struct lb_server){0},
                               "mysql://me:pw@127.0.0.1:1,127.0.0.2/base", &err),
                     0);
    assert_int_equal(server.url.host_count, 2);
    assert_string_equal(server.host[0].resolved->address[0], "127.0.0.1");
    assert_int_equal(server.host[0].dial_port, 1);
    assert_string_equal(server.host[1].resolved->address[0], "127.0.0.2");
    assert_int_equal(server.host[1].dial_port, 3306);
}

TEST(maria_url_refusals_show_no_password) {
    static const char *const urls[] = {"mysql://me:s3cret@127.0.0.1:1/?x=1",
                                       "mysql://me:s3cret@127.0.0.1:port/",
                                       "mysql://me:s3cret@127.0.0.1,127.0.0.2:port/"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct maria_server server = {0};
        struct lb_err err = {0};
        assert_int_equal(maria_url(&server, &(struct lb_server){0}, urls[i], &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_null(strstr(err.text, "s3cret"));
    }
}

TEST(maria_errors_have_outcomes) {
    static const struct {
        unsigned number;
        enum lb_outcome outcome;
    } cases[] = {
        {1205, LB_TIMEOUT}, {1317, LB_TIMEOUT}, {1969, LB_TIMEOUT}, {1213, LB_BUSY},
        {3058, LB_BUSY},    {1927, LB_BROKEN},  {1053, LB_BROKEN},  {2006, LB_BROKEN},
        {2013, LB_UNKNOWN}, {2027, LB_UNKNOWN}, {1062, LB_BUSY},    {3572, LB_TIMEOUT},
        {1059, LB_REFUSED}, {1064, LB_REFUSED}, {1142, LB_REFUSED}, {1461, LB_REFUSED},
        {1300, LB_REFUSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(maria_outcome(cases[i].number), cases[i].outcome);
    }
    assert_int_equal(maria_connect_exit(1045), LB_EXIT_USAGE);
    assert_int_equal(maria_connect_exit(1049), LB_EXIT_USAGE);
    assert_int_equal(maria_connect_exit(4151),
                     LB_EXIT_MACHINE); /* locked, as while Galera starts */
    assert_int_equal(maria_connect_exit(1040), LB_EXIT_MACHINE);
    assert_int_equal(maria_connect_exit(2002), LB_EXIT_MACHINE);
}

TEST(getlock_names_have_limits) {
    char name[400];
    memset(name, 'a', sizeof name);
    assert_null(getlock_name_problem(name, 192, true));
    assert_non_null(getlock_name_problem(name, 193, true));
    assert_non_null(getlock_name_problem(name, 0, true));
    assert_null(getlock_name_problem(name, 64, false));
    assert_non_null(getlock_name_problem(name, 65, false));
    /* 64 characters in 128 bytes */
    for (size_t i = 0; i < 128; i += 2) memcpy(name + i, "\xc3\xa9", 2);
    assert_null(getlock_name_problem(name, 128, false));
    assert_non_null(getlock_name_problem(name, 129, false));
}

TEST(getlock_seconds_never_wait_too_long) {
    const int64_t now = 1000 * LB_S_NS;
    assert_true(getlock_seconds(LB_NEVER, now, true) == 31536000);
    assert_true(getlock_seconds(now + 3000000000 * LB_S_NS, now, true) == 31536000);
    assert_true(getlock_seconds(now, now, true) == 0);
    /* never negative: that is an error, or for ever */
    assert_true(getlock_seconds(0, now, true) == 0);
    assert_true(getlock_seconds(now + 50 * LB_MS_NS, now, true) == 0.05);
    assert_true(getlock_seconds(now + 1999, now, true) == 0.000001); /* down to the microsecond */
    assert_true(getlock_seconds(now + 1, now, false) == 1);          /* MySQL: whole seconds, up */
    assert_true(getlock_seconds(now + LB_S_NS, now, false) == 1);
    assert_true(getlock_seconds(now + LB_S_NS + 1, now, false) == 2);
    assert_true(getlock_seconds(now, now, false) == 0);
}

/* The delays of sqlite3_busy_timeout: 1 2 5 10 15 20 25 25 25 50 50 100 100 ... ms. */
/* Whether a server gave up before the deadline. */
TEST(no_server_gives_up_before_a_deadline_in_the_past) {
    const int64_t pasts[] = {INT64_MIN, -1, 0, lb_now()};
    for (size_t i = 0; i < sizeof pasts / sizeof *pasts; i++)
        assert_false(sql_ended_early(pasts[i]));
    assert_true(sql_ended_early(lb_now() + LB_S_NS));
    assert_true(sql_ended_early(LB_NEVER));
}

TEST(sqlite_delays_are_sqlites) {
    static const int sums_ms[] = {1, 3, 8, 18, 33, 53, 78, 103, 128, 178, 228, 328, 428, 528};
    int64_t sum_ns = 0;
    for (int i = 0; i < (int)(sizeof sums_ms / sizeof *sums_ms); i++) {
        sum_ns += sqlite_busy_delay_ns(i);
        assert_true(sum_ns == sums_ms[i] * LB_MS_NS);
    }
    assert_true(sqlite_busy_delay_ns(100000) == 100 * LB_MS_NS);
}

TEST_MAIN(NULL, NULL)
