/* test_pg_tls: PostgreSQL over TLS, with right and wrong certificates.
 * Needs: servers. */
#include "drivers/tests/story.h"

int main(void) {
    return story_main("pg_tls");
}
