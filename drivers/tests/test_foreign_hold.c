/* test_foreign_hold: `lockbench hold` beside clients that are not ours.
 * Needs: servers, 2 minutes. */
#include "drivers/tests/story.h"

STORIES("hold")
