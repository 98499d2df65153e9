/* child: the process of one client, and its lines of JSON, which README.md documents.
 *
 * A child is started and ended with its session. If the child ends, writes something that is no JSON, writes a line
 * without end, or does not answer, a call ends by its deadline with one reason. A child that has failed once gets no
 * further requests. */
#ifndef DRIVERS_EXEC_CHILD_H
#define DRIVERS_EXEC_CHILD_H

#include <jansson.h>
#include <sys/types.h>

#include "drivers/driver.h"
#include "drivers/wait.h"

#define CHILD_LINE_BYTES 8192 /* of an answer; more is a failure */

struct exec_child { /* zeroed = none */
    struct lb_session *owner;
    pid_t pid;             /* 0 = none; its process group has the same number */
    int fd;                /* our end of its standard input and output */
    int log;               /* the file of its standard error, which keeps the first 16 KiB */
    struct lb_fiber *pump; /* reads its lines */
    struct lb_fiber *waiter;
    bool stop, ended; /* ended: its output has ended, or it was given up */
    bool broke;       /* it ended, or wrote something that is no answer: a mistake of the program */
    json_t *answer;   /* not yet taken */
    char why[320];    /* why it was given up; "" = it works */
    size_t used;
    char line[CHILD_LINE_BYTES];
};

/* Starts `command` by the shell with the server's URLs in LOCKBENCH_URL; NULL = the child that grants at once, without
 * a program of its own. Returns 0, or -1 with err (LB_EXIT_MACHINE) and a child that exec_child_stop accepts. */
int exec_child_start(struct exec_child *child, struct lb_session *owner, const char *command,
                     struct lb_err *err);

/* Sends a request, which it frees, and waits for the answer. LB_OK, with an object that the caller
 * frees; LB_BROKEN: nothing was sent; LB_UNKNOWN: no answer; LB_REFUSED: the key's name is no UTF-8
 * (request NULL, or it cannot be written). Fills the session's err. */
enum lb_outcome exec_child_ask(struct exec_child *child, json_t *request, int64_t deadline_ns,
                               json_t **ret_answer);

/* Gives the child up: this call and all later ones fail with `why` as the reason. Returns
 * LB_UNKNOWN. */
enum lb_outcome exec_child_give_up(struct exec_child *child, const char *why);

/* Asks it to close, waits until it has ended, at most until deadline_ns, and kills what is left of it. Accepts a child
 * that never started. */
void exec_child_stop(struct exec_child *child, int64_t deadline_ns);

/* The loop of the child that grants at once: reads requests and answers them until the input ends. For a forked process
 * alone: it calls only async-signal-safe functions. */
_Noreturn void null_child(void);

#endif
