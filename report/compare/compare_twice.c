/* compare_twice: refuses a run that is given twice: such a run is one sample, and compared with itself it would never
 * show a change. */
#include <stdlib.h>
#include <sys/stat.h>

#include "report/compare/compare_parts.h"

/* The identity of a run's file, whatever path led to it. */
struct known {
    dev_t device;
    ino_t inode;
    const char *path;
    bool new;
};

static int by_file(const void *a, const void *b) {
    const struct known *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

int compare_check_runs(const struct compare *compare, struct lb_err *err) {
    int all = compare->base_count + compare->new_count, count = 0, failed = 0;
    struct known *known = malloc((size_t)all * sizeof *known);
    if (!known) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < all; i++) {
        bool new = i >= compare->base_count;
        const char *path = (new ? compare->new[i - compare->base_count] : compare->base[i])->path;
        struct stat status;
        if (stat(path, &status) != 0) continue; /* the file was there a moment ago */
        known[count++] = (struct known){status.st_dev, status.st_ino, path, new};
    }
    qsort(known, (size_t)count, sizeof *known, by_file);
    for (int i = 1; i < count && !failed; i++) {
        if (by_file(&known[i - 1], &known[i]) != 0) continue;
        bool across = known[i - 1].new != known[i].new;
        failed = err_set(err, LB_EXIT_USAGE, "compare: %s: the same run %s", known[i].path,
                         across ? "is on both sides, so no change could ever show"
                                : "is named twice on one side: it is one sample");
    }
    free(known);
    return failed;
}
