/* test_etcd_tls: etcd over TLS, with right and wrong certificates.
 * Needs: servers, 3 minutes. */
#include "drivers/tests/story.h"

STORIES("etcd_tls")
