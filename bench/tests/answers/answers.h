/* answers: experiments whose results are known beforehand, and what lockbench says of them.
 *
 * An experiment is one start of the program, as a user would start it, against a fake server or on
 * the lock `sim`; an answer is one figure of it beside its truth. A truth is a formula, or is
 * computed from what the fake server wrote down: never by the code that is examined. */
#ifndef BENCH_ANSWERS_ANSWERS_H
#define BENCH_ANSWERS_ANSWERS_H

#include "bench/tests/answers/fake.h"
#include "results/format/run_read.h"

#define EXPERIMENT_SETTINGS_MAX 12
#define MEAN 2.0   /* instead of a quantile */
#define EXACT 1e-9 /* as .allowed: the figure must equal the truth, except for rounding */
#define EXACT_BELOW 1e-8

struct answers_how;

struct experiment {
    const char *name;
    const char *scripted; /* what is scripted, in words */
    const char *lock;
    struct fake_script script;                     /* not for the lock sim */
    const char *settings[EXPERIMENT_SETTINGS_MAX]; /* "load.clients=4" */
    int64_t hold_ns;
    bool polls; /* its clients poll without a pause, so they get no real-time priority */
    double seconds, brief_seconds; /* the window; brief_seconds 0: not in the short form */
    int repeats;                   /* 0 = 1 */
    /* lockbench itself is stopped (SIGSTOP) stop_after_ns after the first acquire, for stop_ns */
    int64_t stop_after_ns, stop_ns;
};

/* One repeat of an experiment. */
struct seen {
    const struct experiment *experiment;
    const struct fake_log *log; /* NULL for the lock sim */
    struct run *run;
    const struct run_stage *stage; /* of run */
    double exit_code;
};

/* Computes a truth from an experiment's records. argument: a quantile, or what the function's comment says. */
typedef double truth_fn(const struct seen *seen, double argument);

struct answer {
    const struct experiment *experiment;
    const char *name;
    const char *source; /* where the truth comes from */
    truth_fn *truth;    /* NULL: argument is the truth */
    double argument;
    truth_fn *endless; /* the formula's value for an endless run, with the same argument; it is
                        * printed beside the truth and decides nothing. May be NULL */
    const char *path;  /* of the figure in a stage; "exit" = the exit code */
    truth_fn *said;    /* computes the figure from several others of the stage, in place of path */
    const char *word;  /* the text that path has; then no figure is compared */
    /* Computes a figure that needs many starts of the program. The truth is then the greatest value that the figure
     * may have, or, with is_least, the smallest. */
    double (*study)(const struct answers_how *how, const struct experiment *experiment);
    bool is_least;
    double allowed;       /* deviation, as a share of the truth */
    double brief_allowed; /* the same in the short form; 0 = not in it. The short
                           * form runs beside other tests: no times are in it */
};

extern const struct answer answers[]; /* ends with a row without a name */

/* ---- truths from the server's log; all times in ns ---- */

/* The time of a round trip on the connection and of the client's own work: the median time from a
 * grant's answer to the client's release, less the hold. */
double truth_wire(const struct seen *seen, double unused);
/* The argument, in ns, plus truth_wire. */
double truth_time(const struct seen *seen, double ns);
/* Quantile of the times that acquires spent in the server, each plus its own time on the connection. MEAN = their
 * mean. */
double truth_residence(const struct seen *seen, double quantile);
/* The same quantile of the times that Lindley's recursion gives for the arrivals and service times in the log, plus
 * the median lateness of the server's answers and truth_wire. */
double truth_lindley(const struct seen *seen, double quantile);
/* M/D/1: the probability that the wait for a server with a constant service time is at most wait_s:
 * (1 - lD) sum over k <= t/D of (l(kD - t))^k / k! e^(-l(kD - t)). Source: A. K. Erlang, 1909. */
double truth_md1_wait_at_most(double rate_per_s, double service_s, double wait_s);
/* The same quantile by the formulas for a queue that runs for ever, without truth_wire. */
double truth_endless_md1(const struct seen *seen, double quantile);
double truth_endless_mm1(const struct seen *seen, double quantile);
/* The number of acquires with the outcome (enum fake_outcome); for FAKE_RELEASED and FAKE_LOST the number of
 * releases. */
double truth_count(const struct seen *seen, double outcome);
/* Bytes in both directions for each grant. */
double truth_bytes(const struct seen *seen, double unused);
/* Grants a second, from the first grant to the last. */
double truth_rate(const struct seen *seen, double unused);

/* ---- the runner ---- */

struct answers_how {
    const char *program; /* lockbench */
    const char *folder;  /* for the results of the runs */
    bool brief;          /* the short form */
    const char *only;    /* experiments with this word in their name; NULL = all */
};

/* The result for one answer. */
struct verdict_row {
    const struct answer *answer;
    bool is_ok, is_missing;      /* missing: the experiment did not run */
    double truth, said, endless; /* endless: NAN = no formula */
    char said_word[60];
    int hits, repeats; /* of a word */
};

/* An experiment that is under way. */
struct trial {
    const struct experiment *experiment;
    struct fake fake;
    struct fake_script script; /* with a seed of its own */
    pid_t pid;
    char out[400];
};

/* Starts the fake server and the program. number: of the repeat, which makes the server's seed. 0,
 * or -1 with err. */
int trial_start(struct trial *trial, const struct answers_how *how,
                const struct experiment *experiment, int number, struct lb_err *err);
/* Waits for its end and reads the result. 0, or -1 with err. */
int trial_finish(struct trial *trial, struct seen *ret_seen, struct lb_err *err);
/* Also after an error of the two above. seen: its run is freed; may be NULL. */
void trial_free(struct trial *trial, struct seen *seen);

/* Runs the experiments and judges their answers. The number of rows in ret_rows, which the caller
 * frees; -1 with err when nothing could be run. */
int answers_run(const struct answers_how *how, struct verdict_row **ret_rows, struct lb_err *err);

/* The figure of a stage by its path; NAN = not measured, or no such figure. */
double answers_figure(const struct seen *seen, const char *path);

#endif
