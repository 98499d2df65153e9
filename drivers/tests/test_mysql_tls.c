/* test_mysql_tls: MariaDB over TLS, with right and wrong certificates.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("mysql_tls")
