/* test_foreign_sql: our SQL locks beside people who take the same locks by hand, through psql and the mariadb shell.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("sql")
