/* test_mysql_galera: MariaDB's locks on three nodes of one Galera cluster.
 * Needs: servers, 3 minutes. */
#include "drivers/tests/story.h"

STORIES("galera")
