/* test_foreign_files: the file locks beside the real programs, and stale files. */
#include "drivers/tests/story.h"

STORIES("file")
