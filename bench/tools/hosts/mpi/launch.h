/* launch: `lockbench-hosts launch mpirun ... lockbench-hosts run ...`: runs the launcher, and makes sure that the
 * launcher ends.
 *
 * mpirun waits for ever for a host that is cut off and, with --enable-recovery, for ranks that have ended; and after
 * Ctrl-C it kills a job within a second. So Ctrl-C goes to the coordinator alone, as SIGUSR1, which launchers forward.
 * When that rank says that the job is ended, the launcher gets some seconds to end, and is then killed. */
#ifndef BENCH_TOOLS_HOSTS_MPI_LAUNCH_H
#define BENCH_TOOLS_HOSTS_MPI_LAUNCH_H

#include "bench/base/clock.h"

/* bench/HOSTS.md states these. */
#define LAUNCH_START_S 120 /* for MPI to start on all hosts */
#define LAUNCH_GRACE_NS                                                                            \
    (5 * LB_S_NS) /* for the launcher to end after the last words, and again after SIGTERM */

/* The coordinator prints this to standard error, followed by the exit code, before it ends a job that lost a host or
 * has an exit code other than 0. If the line is printed twice, the first one counts. */
#define LAUNCH_LAST_WORDS "lockbench-hosts: the job is ended; exit code "

/* A load host prints this to standard error, followed by "RANK of NUMBER-OF-LOAD-HOSTS", when it hears nothing from the
 * coordinator any more. When all load hosts have printed it, the coordinator has died, and won't print
 * LAUNCH_LAST_WORDS. */
#define LAUNCH_LOST_COORDINATOR "lockbench-hosts: rank 0 is lost to load host "

/* The launch command puts this word before the ranks' arguments. A rank that gets it may end with code 0, so that the
 * launcher prints no error; the job's exit code is in LAUNCH_LAST_WORDS. It prints no colours: the launcher may give rank
 * 0 a terminal where the launch command has none. */
#define LAUNCH_WORD "launched"

/* Runs command (NULL-terminated argv), in which own_name is the program of the ranks, and waits for its end. Returns
 * the exit code of the job. If no rank printed a code: 130 if the job was interrupted, else 0, or 2 and a line if the
 * launcher failed. */
int launch(const char *own_name, char **command);

#endif
