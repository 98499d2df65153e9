/* test_own_tls: servers that lockbench starts with TLS.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("own_tls")
