/* test_nats_cluster: nats-kv on a cluster of three servers.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("nats")
