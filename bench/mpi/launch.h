/* launch: `lockbench-hosts launch mpirun ... lockbench-hosts run ...`: runs the launcher, and sees to it that it ends.
 *
 * mpirun waits for ever for a host that is cut off and, with --enable-recovery, for ranks that are gone; and it kills
 * a job a second after Ctrl-C. So Ctrl-C goes to the judging rank alone, as SIGUSR1, which launchers forward. When
 * that rank says that the job is ended, the launcher is given some seconds and then killed. */
#ifndef BENCH_MPI_LAUNCH_H
#define BENCH_MPI_LAUNCH_H

/* The judging rank prints this to standard error, followed by the exit code, before it ends a job that lost a host or
 * has an exit code other than 0. The first last words count. */
#define LAUNCH_LAST_WORDS "lockbench-hosts: the job is ended; exit code "

/* A load host prints this to standard error, followed by "RANK of NUMBER-OF-LOAD-HOSTS", when the judging rank is gone or
 * the way to it. When all have printed it, that rank has died, and won't print its last words. */
#define LAUNCH_LOST_JUDGE "lockbench-hosts: rank 0 is lost to load host "

/* The launch command puts one of these words before the ranks' arguments: they can end with code 0, which keeps
 * the launcher quiet, because the last words have the job's code. The second: standard output is no terminal, even if
 * the launcher gives rank 0 one. */
#define LAUNCH_WORD "launched"
#define LAUNCH_WORD_PLAIN "launched-plain"

/* Runs command (NULL-terminated argv), in which own_name is the program of the ranks, and waits for its end. Returns
 * the exit code of the job; 130 if it was interrupted and told none. */
int launch(const char *own_name, char **command);

#endif
