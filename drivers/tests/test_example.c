/* test_example: the worked examples of the pages, done to a copy of the project.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("example")
