/* pg-flag and mysql-flag against people who set and clear the same flag by hand, through psql and the mariadb shell:
 * each excludes the other, both ways; and nothing but a release or a hand clears it.
 * Needs: servers. */
#include "drivers/sql_lock.h"
#include "drivers/tests/sql_help.h"

/* The same test in two dialects, about the key "it's". */
struct dialect {
    struct live_place sql;
    const char *lock, *home;
    const char *flag; /* asks for "owner/set" or "owner/free" */
};

static struct dialect pg = {
    .lock = "pg-flag",
    .home = "SELECT 1",
    .flag =
        "SELECT owner || '/' || CASE WHEN locked THEN 'set' ELSE 'free' END FROM lockbench_flag "
        "WHERE name = 'it''s'",
};

static struct dialect my = {
    .lock = "mysql-flag",
    .home = "USE lockbench; SELECT 1",
    .flag = "SELECT CONCAT(owner, '/', IF(locked, 'set', 'free')) FROM lockbench_flag "
            "WHERE name = 'it''s'",
};

static void come(struct live_client *ours, const struct dialect *words) {
    live_client_init(ours, &words->sql, "it's");
    live_connect(ours);
}

static void stranger_comes(struct foreign *foreign, const struct dialect *words) {
    foreign_shell(foreign, &words->sql);
    CHECK(strcmp(foreign_ask(foreign, words->home), "1") == 0);
}

#define SAYS(foreign, statement, wanted)                                                           \
    do {                                                                                           \
        const char *said_ = foreign_ask((foreign), (statement));                                   \
        CHECK(strcmp(said_, (wanted)) == 0, "said '%s', not '%s'", said_, (wanted));               \
    } while (0)

/* The row of a grant of ours. */
static const char *as_ours(const struct live_client *ours) {
    static char text[100];
    const struct sql_grant *mine = ours->grant.data;
    snprintf(text, sizeof text, "%s/set", mine->owner);
    return text;
}

/* What sets the flag by hand, what clears it, and that nothing else does: no time, no end of its holder. */
static void flag(void *arg) {
    struct dialect *words = arg;
    struct foreign foreign;
    struct live_client ours, other;
    struct lb_err err = {0};
    char text[100];
    come(&ours, words);
    come(&other, words);
    stranger_comes(&foreign, words);
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "it has no row yet");
    CHECK(ours.session.lock->algorithm->arm(&ours.session, &ours.request, &err) == 0, "%s",
          err.text);
    SAYS(&foreign, words->flag, "/free");
    foreign_say(&foreign, "UPDATE lockbench_flag SET locked = true, owner = 'stranger' "
                          "WHERE name = 'it''s' AND NOT locked");
    SAYS(&foreign, words->flag, "stranger/set");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
    CHECK(live_acquire(&ours, 30 * LB_MS_NS) == LB_TIMEOUT, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "it is the stranger's");
    foreign_say(&foreign, "UPDATE lockbench_flag SET locked = false WHERE name = 'it''s'");
    SAYS(&foreign, words->flag, "stranger/free");

    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.lease_end_ns == LB_NEVER, "no lease");
    snprintf(text, sizeof text, "%s", as_ours(&ours));
    SAYS(&foreign, words->flag, text);
    /* The holder dies: its connection ends, and the flag stays. */
    live_hang_up(&ours);
    CHECK(live_acquire(&other, 300 * LB_MS_NS) == LB_TIMEOUT, "%s", other.session.err.text);
    SAYS(&foreign, words->flag, text);
    /* It did not die: what it could not clear over a dead connection is in doubt, and settled over another one. */
    CHECK(live_release(&ours) == LB_UNKNOWN, "it must be settled");
    live_connect(&ours);
    CHECK(ours.session.lock->algorithm->settle(&ours.session, &ours.request, &ours.grant) == LB_OK,
          "%s", ours.session.err.text);
    CHECK(live_acquire(&other, 20 * LB_S_NS) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "it is the other's");
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    CHECK(ours.session.lock->algorithm->disarm(&ours.session, &ours.request, &err) == 0, "%s",
          err.text);
    foreign_end(&foreign);
    live_client_done(&ours);
    live_client_done(&other);
}

static void run(struct dialect *words) {
    LIVE_NEEDS(&words->sql);
    live_run(flag, words);
}

TEST(a_flag_of_postgres) {
    run(&pg);
}

TEST(a_flag_of_mariadb) {
    run(&my);
}

FIXTURE(start) {
    static const char *const none[] = {NULL};
    signal(SIGPIPE, SIG_IGN); /* of the foreign shell's pipe */
    pg.sql = live_open(pg.lock, none);
    my.sql = live_open(my.lock, none);
    return 0;
}

FIXTURE(stop) {
    live_close(&pg.sql);
    live_close(&my.sql);
    return 0;
}

TEST_MAIN(start, stop)
