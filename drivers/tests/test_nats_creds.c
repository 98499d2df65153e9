/* test_nats_creds: clients that come to NATS with a credentials file.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("nats_creds")
