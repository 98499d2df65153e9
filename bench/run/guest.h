/* guest: lockbench on a server that it did not start (--url). Before a run, this module tells what the run will make
 * there. After the run it removes what was made, or tells what is left and which command removes that.
 *
 * All functions but guest_foretell: on the main thread. */
#ifndef BENCH_RUN_GUEST_H
#define BENCH_RUN_GUEST_H

#include "bench/run/place.h"
#include "drivers/clean.h"

#define GUEST_LINE_MAX 2000

/* Refuses a lock at --url that makes names which do not begin with the plan's load.key_prefix. Locks that are numbers
 * (advisory locks) have no prefix and are not refused. Returns 0, or -1 with err (LB_EXIT_USAGE). */
int guest_check_prefix(const struct plan *plan, const struct plan_lock *lock, struct lb_err *err);

/* Reaches the server of a backend at a URL and cleans up there, through a session that makes nothing.
 * Returns 0, or -1 with err. To be called while there is no other thread. */
int guest_clean(const struct place_url *at, struct lb_cleaning *cleaning, struct lb_err *err);

/* Reaches the server of a URL and asks it what it is. Returns 0 with its version and settings as text, or -1 with err.
 * To be called while there is no other thread. */
int guest_look(const struct place_url *at, char *text, size_t size, struct lb_err *err);

/* Writes into line what the plan's locks will make at the URL, by the names that their drivers tell. stays: these
 * things will be left there, and the line has the command that removes them. */
void guest_foretell(const struct place_url *at, const struct plan *plan, bool stays,
                    char line[GUEST_LINE_MAX]);

#define GUESTS_MAX 16 /* servers, one a backend */

struct guest;

/* The stays of one run; zeroed but for tell, which gets the lines and may be NULL. */
struct guests {
    struct guest *item[GUESTS_MAX];
    int count;
    void (*tell)(void *arg, const char *line);
    void *arg;
};

/* To be called before the first session with a server at --url, because that session may make tables; later calls for
 * the same backend do nothing. Foretells what will be made there, and notes what keys share there already. From now
 * on until guests_leave the janitor will say what is left if this program is cut off. 0, or -1 with err when the
 * server can't be asked. */
int guests_arrive(struct guests *guests, const struct place_url *at, const struct plan *plan,
                  struct lb_err *err);

/* Nobody knows whether keys of a stage are left on the backend's server, for this reason. */
void guests_unsure(struct guests *guests, const struct lb_backend *backend, const char *why);
/* Keys of a stage are left there, because the user named them. */
void guests_kept(struct guests *guests, const struct lb_backend *backend);

/* Removes what keys share on these servers, unless it was there before or keys of others are in it. Tells
 * what is left, and adds it to the warnings. */
void guests_leave(struct guests *guests, json_t *warnings);

#endif
