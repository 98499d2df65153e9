/* test_pg_tls: PostgreSQL over TLS, with right and wrong certificates.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("pg_tls")
