/* test_foreign_keys: keys that the user names, beside clients that are not ours.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("keys")
