/* pg_error: what the server's errors mean here. Pure functions over SQLSTATEs and texts. */
#include "drivers/postgres/pg_impl.h"

#include <ctype.h>
#include <stdio.h>

static bool in_class(const char *sqlstate, const char *class) {
    return strncmp(sqlstate, class, strlen(class)) == 0;
}

bool pg_is_deadlock(const char *sqlstate) {
    return strcmp(sqlstate, "40P01") == 0;
}

enum lb_outcome pg_outcome(const char *sqlstate) {
    if (strcmp(sqlstate, "55P03") == 0) return LB_TIMEOUT; /* lock_timeout, or NOWAIT */
    /* cancelled: statement_timeout, or an admin */
    if (strcmp(sqlstate, "57014") == 0) return LB_TIMEOUT;
    /* chosen as a deadlock's victim: not waiting now */
    if (pg_is_deadlock(sqlstate)) return LB_BUSY;
    if (strcmp(sqlstate, "40001") == 0) return LB_BUSY; /* serialization failure: rolled back */
    if (strcmp(sqlstate, "23505") == 0) return LB_BUSY; /* the unique row is there: somebody's */
    if (in_class(sqlstate, "08")) return LB_BROKEN;     /* connection */
    /* terminated, shutting down, starting up */
    if (in_class(sqlstate, "57P")) return LB_BROKEN;
    if (strcmp(sqlstate, "25P03") == 0) return LB_BROKEN; /* idle_in_transaction_session_timeout */
    if (strcmp(sqlstate, "25P04") == 0) return LB_BROKEN; /* transaction_timeout, from 17 on */
    if (in_class(sqlstate, "XX")) return LB_BROKEN;       /* internal error */
    /* rights, names, syntax, out of lock slots, ... */
    return LB_REFUSED;
}

const char *pg_advice(const char *sqlstate) {
    /* no right to a schema or a table; no schema of the search_path that may be used */
    if (strcmp(sqlstate, "42501") != 0 && strcmp(sqlstate, "3F000") != 0) return "";
    return ": the lock makes tables lockbench_* of its own: GRANT USAGE, CREATE ON SCHEMA public (or another schema of "
           "the search_path) TO the URL's user; a table that another user made must be dropped by that user";
}

int pg_connect_exit(const char *sqlstate) {
    /* authentication: user, password, pg_hba.conf */
    if (in_class(sqlstate, "28")) return LB_EXIT_USAGE;
    if (in_class(sqlstate, "3D")) return LB_EXIT_USAGE; /* no such database */
    if (in_class(sqlstate, "42")) return LB_EXIT_USAGE; /* no right to it, or unknown option */
    return LB_EXIT_MACHINE;
}

const char *pg_connect_advice(const char *sqlstate, const char *line) {
    /* The user and the password were not looked at. */
    if (strstr(line, "no pg_hba.conf entry"))
        return ": the server's pg_hba.conf needs a line that lets them in";
    if (in_class(sqlstate, "28")) return ": check the user and password of the URL";
    if (strcmp(sqlstate, "53300") == 0) return ": raise max_connections or lower load.clients";
    return "";
}

/* Finds ":  28P01: ", which PQERRORS_VERBOSE puts after the severity word, in whatever language that is. */
static const char *find_sqlstate(const char *line, size_t len) {
    for (size_t i = 0; i + 10 <= len; i++) {
        if (strncmp(line + i, ":  ", 3) != 0 || strncmp(line + i + 8, ": ", 2) != 0) continue;
        size_t good = 0;
        for (const char *c = line + i + 3;
             good < 5 && (isdigit((unsigned char)*c) || isupper((unsigned char)*c)); c++) {
            good++;
        }
        if (good == 5) return line + i + 3;
    }
    return NULL;
}

void pg_connect_message(const char *message, char ret_sqlstate[6], char *ret_line, size_t size) {
    const char *line = message;
    size_t len = strcspn(line, "\n");
    const char *state = NULL;
    /* Several addresses give several messages; the one of a server that answered tells most. */
    for (const char *at = message; *at && !state;) {
        size_t at_len = strcspn(at, "\n");
        state = find_sqlstate(at, at_len);
        if (state) {
            line = at;
            len = at_len;
        }
        at += at_len + (at[at_len] == '\n');
    }
    ret_sqlstate[0] = '\0';
    if (!state) {
        snprintf(ret_line, size, "%.*s", (int)len, line);
        return;
    }
    memcpy(ret_sqlstate, state, 5);
    ret_sqlstate[5] = '\0';
    const char *rest = state + 7;
    snprintf(ret_line, size, "%.*s%.*s", (int)(state - 1 - line), line, (int)(line + len - rest),
             rest);
}
