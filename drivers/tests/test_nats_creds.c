/* test_nats_creds: clients that come to NATS with a credentials file.
 * Needs: servers. */
#include "drivers/tests/story.h"

int main(void) {
    return story_main("nats_creds");
}
