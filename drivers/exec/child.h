/* child: the process of one client, and its lines of JSON, which README.md documents.
 *
 * A child is started and ended with its session. If the child ends, writes something that is no JSON, writes an endless
 * line, or does not answer, then the call fails by its deadline, with one line as the reason. A child that has failed
 * once gets no further requests. */
#ifndef DRIVERS_EXEC_CHILD_H
#define DRIVERS_EXEC_CHILD_H

#include <jansson.h>
#include <sys/types.h>

#include "drivers/driver.h"
#include "drivers/wait.h"

#define CHILD_LINE_BYTES 8192 /* the longest line of an answer; a longer line is a failure */

struct exec_child { /* zeroed = none */
    struct lb_session *owner;
    pid_t pid;             /* 0 = none; its process group has the same number */
    int fd;                /* our end of its standard input and output */
    int log;               /* the file for its standard error; keeps the first 16 KiB */
    struct lb_fiber *pump; /* reads its lines */
    struct lb_fiber *waiter;
    bool stop, ended; /* ended: its output has ended, or it was given up */
    bool broke;       /* it ended, or wrote a wrong line: a mistake of the program */
    json_t *answer;   /* an answer that its waiter has not taken yet */
    char why[320];    /* why the child was given up; "" = it works */
    size_t used;
    char line[CHILD_LINE_BYTES];
};

/* Starts `command` by the shell, with the server's URL in LOCKBENCH_URL. command NULL: starts null_child in a forked
 * process. Returns 0, or -1 with err (LB_EXIT_MACHINE) and a child that exec_child_stop accepts. */
int exec_child_start(struct exec_child *child, struct lb_session *owner, const char *command,
                     struct lb_err *err);

/* Sends a request, frees the request, and waits for the answer. LB_OK with the answer, an object that the
 * caller frees; LB_BROKEN: nothing was sent; LB_UNKNOWN: no answer; LB_REFUSED: the request is NULL or
 * can't be written as JSON, because the key's name is no UTF-8. Fills the session's err. */
enum lb_outcome exec_child_ask(struct exec_child *child, json_t *request, int64_t deadline_ns,
                               json_t **ret_answer);

/* Gives the child up: this call and all later ones fail with `why` as the reason. Returns
 * LB_UNKNOWN. */
enum lb_outcome exec_child_give_up(struct exec_child *child, const char *why);

/* Asks the child to close, waits until it has ended, at most until deadline_ns, and kills its remaining processes.
 * Accepts a child that never started. */
void exec_child_stop(struct exec_child *child, int64_t deadline_ns);

#endif
