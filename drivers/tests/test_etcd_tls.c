/* test_etcd_tls: etcd over TLS, with right and wrong certificates.
 * Needs: servers, minutes. */
#include "drivers/tests/story.h"

STORIES("etcd_tls")
