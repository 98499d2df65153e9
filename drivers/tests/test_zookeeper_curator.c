/* test_zookeeper_curator: the ZooKeeper locks beside Curator and kazoo.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("zookeeper")
