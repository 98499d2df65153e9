/* test_pg_replicas: PostgreSQL's locks on a primary with two standbys.
 * Needs: servers, 2 minutes. */
#include "drivers/tests/story.h"

STORIES("pg_replicas")
