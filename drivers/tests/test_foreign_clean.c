/* test_foreign_clean: what lockbench may touch and remove on servers that others use, too.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("clean")
