/* test_foreign_redisson: Redisson's locks, field by field, beside another client that is played by hand.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("redisson")
