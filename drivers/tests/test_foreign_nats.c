/* test_foreign_nats: nats-kv beside NATS's own client, libnats.
 * Needs: servers. */
#include "drivers/tests/story.h"

int main(void) {
    return story_main("nats_kv");
}
