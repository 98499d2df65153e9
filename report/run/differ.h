/* differ: the differences between two JSON objects of results, such as the plans of two runs, as short texts. */
#ifndef REPORT_RUN_DIFFER_H
#define REPORT_RUN_DIFFER_H

#include <jansson.h>

#define DIFFER_NONE "not given" /* the text of a member that an object lacks */

/* Is called for each difference. path: "plan.run.duration_ns". Returns 0 to go on; any other number ends the search. */
typedef int differ_found(void *to, const char *path, const char *was, const char *is);

/* Compares two objects, member by member; either may be NULL. path: the beginning of all paths. 0, or what `found` has
 * ended the search with, or -1 when out of memory. */
int differ_objects(const char *path, const json_t *base, const json_t *new, differ_found *found,
                   void *to);

#endif
