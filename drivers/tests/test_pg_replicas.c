/* test_pg_replicas: PostgreSQL's locks on a primary with two standbys.
 * Needs: servers, the machine to itself, 4 minutes. */
#include "drivers/tests/story.h"

STORIES("pg_replicas")
