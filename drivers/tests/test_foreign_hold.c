/* test_foreign_hold: `lockbench hold` beside clients that are not ours.
 * Needs: servers. */
#include "drivers/tests/story.h"

int main(void) {
    return story_main("hold", NULL, NULL);
}
