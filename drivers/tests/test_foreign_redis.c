/* test_foreign_redis: redis-setnx and redis-redlock against redis-cli, redis-py and node-redlock.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("redis")
