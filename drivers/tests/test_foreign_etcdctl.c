/* test_foreign_etcdctl: etcd-mutex and etcd-lock beside etcdctl.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("etcd")
