/* getlock_rules: see getlock_rules.h. */
#include "drivers/mariadb/getlock_rules.h"

#include "bench/base/clock.h"

#define MARIADB_NAME_BYTES 192
#define MYSQL_NAME_CHARS 64
#define YEAR_S 31536000

const char *getlock_name_problem(const char *name, size_t len, bool is_mariadb) {
    if (len == 0) return "is empty";
    if (is_mariadb) return len > MARIADB_NAME_BYTES ? "is longer than MariaDB's 192 bytes" : NULL;
    size_t chars = 0;
    for (size_t i = 0; i < len; i++) chars += ((unsigned char)name[i] & 0xc0) != 0x80; /* UTF-8 */
    return chars > MYSQL_NAME_CHARS ? "is longer than MySQL's 64 characters" : NULL;
}

double getlock_seconds(int64_t deadline_ns, int64_t now_ns, bool is_mariadb) {
    if (deadline_ns == LB_NEVER) return YEAR_S;
    if (deadline_ns <= now_ns) return 0;
    int64_t left_ns = deadline_ns - now_ns;
    if (left_ns > YEAR_S * LB_S_NS) return YEAR_S;
    if (!is_mariadb) {
        /* rounded up: MySQL takes whole seconds */
        int64_t whole_s = (left_ns + LB_S_NS - 1) / LB_S_NS;
        return (double)whole_s;
    }
    int64_t whole_us = left_ns / LB_US_NS;
    return (double)whole_us / 1e6;
}
