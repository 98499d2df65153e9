/* test_zookeeper_curator: the ZooKeeper locks beside Curator, ZooKeeper's own WriteLock and kazoo.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("zookeeper")
