/* urls: the --url options of a command: "backend=scheme://...", one a backend, and the other places
 * for a URL that contains a password: the environment. */
#ifndef BENCH_CLI_URLS_H
#define BENCH_CLI_URLS_H

#include "bench/cli/args.h"
#include "bench/cli/available.h"
#include "bench/option/option.h"
#include "bench/place/place.h"

#define URLS_MAX 16
#define URLS_HELP "a server that runs already: redis=redis://HOST, or redis=env:NAME"

struct urls {
    struct place_url item[URLS_MAX];
    int count;
    int typed; /* after urls_ready: the first `typed` items come from --url, the others from the environment */
};

/* Reads one more URL into the struct urls, written as BACKEND=URL, as the URL alone where its scheme names the backend,
 * or as BACKEND=env:NAME. Refuses an unknown backend, with the nearest, a wrong scheme,
 * and a backend twice. A URL with a secret is put into the environment, for children: their arguments can be read by
 * everybody. */
extern const struct lb_option_type type_url;

/* Takes the URLs of backends without a --url from LOCKBENCH_URL_BACKEND, and tells `available` which
 * backends' servers run already; NULL = it need not know. Returns 0, or -1 with err. */
int urls_ready(struct urls *urls, struct arena *arena, struct available *available,
               struct lb_err *err);

/* Fills in the options of the URLs' backends from "--set BACKEND.KEY=VALUE", for commands that have no plan. 0, or -1
 * with err. */
int urls_options(struct urls *urls, const struct arg_list *sets, struct arena *arena,
                 struct lb_err *err);

/* Drops the URLs that come from the environment and whose backends are not used. 0, or -1 with err (LB_EXIT_USAGE) if a
 * --url is not used: its user may believe that the figures are of that server. To be called after urls_ready. */
int urls_keep(struct urls *urls, bool (*uses)(const void *arg, const struct lb_backend *backend),
              const void *arg, struct lb_err *err);

/* For urls_keep: whether a plan (arg) has a lock of the backend, or left one out. */
bool urls_plan_uses(const void *plan, const struct lb_backend *backend);

/* Puts the URLs whose `word` names LOCKBENCH_URL_... into the environment, for children of lockbench that are told
 * those words. 0, or -1 with err. */
int urls_hand_on(const struct urls *urls, struct lb_err *err);

/* Removes LOCKBENCH_URL_BACKEND from the environment, for each backend that has none of these URLs. The
 * children of the command then start servers of their own for these backends. */
void urls_forget(const struct urls *urls);

#endif
