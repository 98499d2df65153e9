/* test_foreign_hold: `lockbench hold` beside clients that are not ours.
 * Needs: servers, a minute. */
#include "drivers/tests/story.h"

STORIES("hold")
