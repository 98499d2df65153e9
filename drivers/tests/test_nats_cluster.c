/* test_nats_cluster: nats-kv on a cluster of three servers.
 * Needs: servers. */
#include "drivers/tests/story.h"

int main(void) {
    return story_main("nats");
}
