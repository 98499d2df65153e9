/* test_foreign_live: sessions on Redis topologies while these change.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("redis_live")
