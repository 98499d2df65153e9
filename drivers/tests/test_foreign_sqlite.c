/* test_foreign_sqlite: the SQLite locks beside another connection to the same file. */
#include "drivers/tests/story.h"

STORIES("sqlite")
