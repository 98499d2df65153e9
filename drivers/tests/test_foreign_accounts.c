/* test_foreign_accounts: servers of the user's own whose account has few rights.
 * Needs: servers. */
#include "drivers/tests/story.h"

STORIES("accounts")
