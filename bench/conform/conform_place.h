/* conform_place: the servers that the suite's locks are tried on, with options made without a
 * workload. */
#ifndef BENCH_CONFORM_CONFORM_PLACE_H
#define BENCH_CONFORM_CONFORM_PLACE_H

#include "bench/option/text.h"
#include "bench/place/place.h"
#include "bench/workload/plan.h"

#define CONFORM_SETS_MAX 32

/* Makes a lock with its options: the defaults, changed by what the suite sets for this lock, then by sets
 * ("name=value", NULL at the end, at most CONFORM_SETS_MAX; NULL = none). An option in sets that neither the backend nor
 * the lock has is skipped. The arena owns the options. 0, or -1 with err. */
int conform_lock(const struct lb_lock *lock, const char *const *sets, struct arena *arena,
                 struct plan_lock *ret_lock, struct lb_err *err);

/* Writes to text why the lock can't be tried here on a topology (NULL = its first), with what to
 * install; returns NULL if it can. */
const char *conform_lacks(const struct lb_lock *lock, const char *topology, char *text,
                          size_t size);

/* Starts or opens the backend, on a topology of the lock (NULL = its first). NULL with err. To be
 * called on the main thread; the caller closes it with place_close. */
struct place *conform_open(const struct plan_lock *lock, const char *topology, struct lb_err *err);
/* The same for a server that runs already. wired: through a wire (place->wiring); the lock's backend options should be
 * impatient then. The URL must live as long as the place. */
struct place *conform_open_url(const struct plan_lock *lock, const char *url, bool wired,
                               struct lb_err *err);

/* Sets for sessions through the wire: they wait half a second for an answer. */
extern const char *const conform_impatient[];

#endif
