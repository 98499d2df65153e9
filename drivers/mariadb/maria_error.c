/* maria_error: the outcomes that follow from error numbers. Pure functions. */
#include "drivers/mariadb/maria_impl.h"

#include <errmsg.h>
#include <mysqld_error.h>

/* Not in the header of every version. */
#define MYSQL_USER_LOCK_DEADLOCK 3058
#define MYSQL_QUERY_TIMEOUT 3024
#define MYSQL_LOCK_NOWAIT 3572 /* what MariaDB calls ER_LOCK_WAIT_TIMEOUT too */

bool maria_is_deadlock(unsigned number) {
    return number == ER_LOCK_DEADLOCK || number == MYSQL_USER_LOCK_DEADLOCK;
}

enum lb_outcome maria_outcome(unsigned number) {
    switch (number) {
    case ER_LOCK_WAIT_TIMEOUT: /* innodb_lock_wait_timeout, NOWAIT, WAIT n */
    case MYSQL_LOCK_NOWAIT:
    case ER_QUERY_INTERRUPTED: /* KILL QUERY */
    case ER_STATEMENT_TIMEOUT:
    case MYSQL_QUERY_TIMEOUT:
        return LB_TIMEOUT;
    case ER_LOCK_DEADLOCK: /* the victim of a deadlock: its wait has ended */
    case MYSQL_USER_LOCK_DEADLOCK:
    case ER_DUP_ENTRY: /* the unique row exists: another client's */
        return LB_BUSY;
    case ER_CONNECTION_KILLED:
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_NEW_ABORTING_CONNECTION:
        return LB_BROKEN;      /* said by the server: the session ends */
    case ER_UNKNOWN_COM_ERROR: /* a node of Galera without a majority: it serves nobody */
        return LB_BROKEN;
    case CR_SERVER_GONE_ERROR:
        return LB_BROKEN; /* could not be sent */
    default:
        /* Errors of the client library: there was no answer, or the library does not understand
         * it. */
        return number >= CR_MIN_ERROR && number < 3000 ? LB_UNKNOWN : LB_REFUSED;
    }
}

int maria_connect_exit(unsigned number) {
    switch (number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_BAD_DB_ERROR:
    case ER_HOST_NOT_PRIVILEGED:
    case ER_NOT_SUPPORTED_AUTH_MODE:
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
        return LB_EXIT_USAGE;
    default:
        return LB_EXIT_MACHINE;
    }
}
