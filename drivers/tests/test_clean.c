/* test_clean: a guest on a server leaves what it found.
 * Needs: servers, 2 minutes. */
#include "drivers/tests/story.h"

STORIES("guests")
