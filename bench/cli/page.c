/* page: see page.h. */
#define _GNU_SOURCE
#include "bench/cli/page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cannot_write(const char *path, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
}

int page_write(const char *path, page_render_fn *render, const void *what, struct lb_err *err) {
    char *fresh = NULL;
    if (asprintf(&fresh, "%s.%d.new", path, (int)getpid()) < 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    FILE *out = fopen(fresh, "we");
    int rc = out ? render(what, out, err) : cannot_write(path, err);
    if (out && rc != 0 && err->code == LB_EXIT_MACHINE) err_prefix(err, "%s", path);
    if (out && fclose(out) != 0 && rc == 0) rc = cannot_write(path, err);
    if (rc == 0 && rename(fresh, path) != 0) rc = cannot_write(path, err);
    if (out && rc != 0) unlink(fresh);
    free(fresh);
    return rc ? -1 : 0;
}

int page_say(const char *path, page_render_fn *render, const void *what, struct lb_err *err) {
    if (page_write(path, render, what, err) != 0) {
        err_prefix(err, "the page could not be written");
        return -1;
    }
    fprintf(stderr, "%s\n", path);
    return 0;
}

void page_offer(const char *path, page_render_fn *render, const void *what) {
    struct lb_err unmade = {0};
    if (page_say(path, render, what, &unmade) != 0) fprintf(stderr, "lockbench: %s\n", unmade.text);
}

int page_beside(const char *folder, page_render_fn *render, const void *what, struct lb_err *err) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/report.html", folder);
    return page_say(path, render, what, err);
}
