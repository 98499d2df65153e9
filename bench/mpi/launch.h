/* launch: `lockbench-hosts launch mpirun ... lockbench-hosts run ...`: runs the launcher, and sees to it that it ends.
 *
 * mpirun waits for ever for a host that is cut off, also with --enable-recovery for ranks that are gone, and kills a job a second
 * after Ctrl-C. So Ctrl-C goes to the judging rank alone, as SIGUSR1, which launchers forward; and when that rank says that the
 * job is ended, the launcher is given some seconds and then killed. */
#ifndef BENCH_MPI_LAUNCH_H
#define BENCH_MPI_LAUNCH_H

/* What the judging rank prints to standard error before it ends a job that lost a host or did not come out well; the exit code follows. */
#define LAUNCH_LAST_WORDS "lockbench-hosts: the job is ended; exit code "

/* Returns the exit code of the job. */
int launch(char **command);

#endif
