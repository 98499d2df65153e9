/* sql_help: live_help, and the databases' own shells as foreign clients, driven through their
 * pipes. */
#ifndef DRIVERS_TESTS_SQL_HELP_H
#define DRIVERS_TESTS_SQL_HELP_H

#include "drivers/tests/live_help.h"

/* A test: runs the body on a fiber, with one of the program's databases, which is a struct with a live_place
 * `sql`. */
#define ON(database, body)                                                                         \
    TEST(database##_##body) {                                                                      \
        LIVE_NEEDS(&database.sql);                                                                 \
        live_run(body, &database);                                                                 \
    }

/* The shell that belongs to a place's server. */
static inline void foreign_shell(struct foreign *foreign, const struct live_place *live) {
    char port[12];
    snprintf(port, sizeof port, "%d", topo_port(live->place->topo, 0, 0));
    if (strcmp(live->place->topology, "postgres") == 0) {
        const char *const argv[] = {"psql", "-X", "-q", "-A",       "-t",       "-h", "127.0.0.1",
                                    "-p",   port, "-U", "postgres", "postgres", NULL};
        foreign_start(foreign, argv);
    } else {
        const char *const argv[] = {"mariadb",
                                    "--no-defaults",
                                    "--batch",
                                    "--skip-column-names",
                                    "--unbuffered",
                                    "--force",
                                    "--protocol=tcp",
                                    "-h",
                                    "127.0.0.1",
                                    "-P",
                                    port,
                                    "-u",
                                    "root",
                                    NULL};
        foreign_start(foreign, argv);
    }
}

static inline void foreign_say(const struct foreign *foreign, const char *statement) {
    CHECK(write(foreign->to, statement, strlen(statement)) == (ssize_t)strlen(statement),
          "the shell is gone");
    CHECK(write(foreign->to, ";\n", 2) == 2, "the shell is gone");
}

static inline const char *foreign_ask(const struct foreign *foreign, const char *statement) {
    foreign_say(foreign, statement);
    return foreign_hear(foreign);
}

#endif
