/* test_foreign_nats: nats-kv beside NATS's own client, libnats.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("nats_kv")
