/* test_foreign_live: sessions on Redis topologies while these change.
 * Needs: servers. */
#include "drivers/tests/story.h"

int main(void) {
    return story_main("redis_live");
}
