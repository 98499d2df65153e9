/* test_pg_pooled: PostgreSQL's locks behind a real PgBouncer, with passwords as users have them; the runner of the tests asks for a
 * quicker way.
 * Needs: servers, 2 minutes. */
#include <stdlib.h>

#include "drivers/tests/story.h"

int main(void) {
    unsetenv("LB_POSTGRES_LOGIN");
    return story_main("pooled");
}
