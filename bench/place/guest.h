/* guest: lockbench on a server that it did not start (--url). Before a run, this module says which keys and tables the
 * run will make there. After the run it removes them, or says which of them are left and which command removes them.
 *
 * Call all functions but guest_foretell on the main thread. */
#ifndef BENCH_PLACE_GUEST_H
#define BENCH_PLACE_GUEST_H

#include "bench/place/place.h"
#include "drivers/clean.h"

#define GUEST_LINE_MAX 2000

/* Refuses a lock at --url that makes names which do not begin with the plan's load.key_prefix. Locks that are numbers
 * (advisory locks) have no prefix and are not refused. Returns 0, or -1 with err (LB_EXIT_USAGE). */
int guest_check_prefix(const struct plan *plan, const struct plan_lock *lock, struct lb_err *err);

/* Reaches the server of a backend at a URL and cleans up there, through a session that makes nothing.
 * Returns 0, or -1 with err. To be called while there is no other thread. */
int guest_clean(const struct place_url *at, struct lb_cleaning *cleaning, struct lb_err *err);

/* Connects to the server of a URL and asks for its version and settings. Returns 0 with these as text, and whether it
 * is of a kind that does not keep locks, which the text says first; or -1 with err. To be called while there is no
 * other thread. */
int guest_look(const struct place_url *at, char *text, size_t size, bool *ret_unfit,
               struct lb_err *err);

/* Writes into line the names that the plan's locks will make on the server; the drivers give these names. */
void guest_foretell(const struct place_url *at, const struct plan *plan, char line[GUEST_LINE_MAX]);

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
 * the same backend do nothing. Tells the user what the run will make there (guest_foretell), and notes the tables,
 * buckets and nodes that are shared by keys and exist there already. From now on until guests_leave the janitor prints
 * what is left there, if this program is killed. 0, or -1 with err when the server can't be asked. */
int guests_arrive(struct guests *guests, const struct place_url *at, const struct plan *plan,
                  struct lb_err *err);

/* Notes what a stage left on the backend's server. unsure: the reason for which that is not known, or NULL. kept: keys
 * stay there, because the user named them. */
void guests_note(struct guests *guests, const struct lb_backend *backend, const char *unsure,
                 bool kept);

/* Removes the tables, buckets and nodes that keys share on these servers, unless they were there before the run or
 * contain keys of others. Tells the user what is left, and adds the same to the warnings. */
void guests_leave(struct guests *guests, json_t *warnings);

#endif
