/* test_tls: Redis, memcached and NATS over TLS, with right and wrong certificates.
 * Needs: servers, 2 minutes. */
#include "drivers/tests/story.h"

STORIES("tls")
