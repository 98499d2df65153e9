/* file_limit: see file_limit.h. */
#include "bench/cli/file_limit.h"

#include <sys/resource.h>

#define FILES_SPARE 256 /* descriptors for everything that is not a client's */

/* Each client takes a descriptor or two, more where it talks to several servers, and each thread
 * two. */
int file_limit_raise(int clients, struct lb_err *err) {
    rlim_t need = (rlim_t)clients * 4 + FILES_SPARE;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return 0;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= need) return 0;
    limit.rlim_max = need; /* root may */
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return 0;
    return err_set(err, LB_EXIT_MACHINE,
                   "%d clients need %llu file descriptors, the limit is %llu: run "
                   "`ulimit -n %llu` first, or lower load.clients",
                   clients, (unsigned long long)need, (unsigned long long)before,
                   (unsigned long long)need);
}
