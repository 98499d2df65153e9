/* launch: see launch.h. */
#define _GNU_SOURCE
#include "bench/tools/hosts/mpi/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/process.h"

#define LOOK_MS 200
/* The coordinator counts as dead so long after the first load host has lost it. Before that, perhaps only that load
 * host is cut off, while the coordinator still drains the other hosts and saves their measurements. */
#define COORDINATOR_GRACE_NS (300 * LB_S_NS)

static volatile sig_atomic_t interrupts;

static void note_interrupt(int signal) {
    (void)signal;
    interrupts++;
}

/* The launcher while it runs. */
struct launched {
    const char *name;
    pid_t pid;
    int errors;     /* the launcher's standard error; -1 = closed */
    char line[300]; /* the present line of standard error, as far as it was read */
    size_t length;
    int code;         /* the exit code in the last words; -1 = no last words yet */
    int64_t ended_ns; /* when the code was set */
    int passed;       /* number of interrupts that were passed on */
    int lost_by;      /* number of load hosts that have lost the coordinator */
    int64_t lost_ns;  /* when the first of them said so */
};

static void end_job(struct launched *job, int code) {
    job->code = code;
    job->ended_ns = lb_now();
}

/* Ends the job, because the load hosts have lost the coordinator. */
static void coordinator_died(struct launched *job) {
    fprintf(stderr,
            "lockbench-hosts: rank 0 died, or is cut off: what it has not saved by now is lost\n");
    end_job(job, LB_EXIT_MACHINE);
}

static void read_line(struct launched *job) {
    const char *last = strstr(job->line, LAUNCH_LAST_WORDS),
               *lost = strstr(job->line, LAUNCH_LOST_COORDINATOR);
    int rank, hosts;
    if (last && job->code < 0) end_job(job, atoi(last + sizeof LAUNCH_LAST_WORDS - 1));
    if (!lost || sscanf(lost + sizeof LAUNCH_LOST_COORDINATOR - 1, "%d of %d", &rank, &hosts) != 2)
        return;
    if (job->lost_by++ == 0) job->lost_ns = lb_now();
    if (job->lost_by >= hosts && job->code < 0) coordinator_died(job);
}

/* Reads the launcher's standard error, passes it on, and looks for the last words. Returns whether anything was
 * read. */
static bool pass_errors(struct launched *job, int wait_ms) {
    char bytes[4096];
    struct pollfd at = {.fd = job->errors, .events = POLLIN};
    if (poll(&at, 1, wait_ms) != 1) return false;
    ssize_t got = read(job->errors, bytes, sizeof bytes);
    if (got == 0) {
        close(job->errors);
        job->errors = -1;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (job->length + 1 < sizeof job->line && bytes[i] != '\n') {
            job->line[job->length++] = bytes[i];
        } else if (bytes[i] == '\n') {
            job->line[job->length] = '\0';
            read_line(job);
            job->length = 0;
        }
    }
    if (got > 0) fwrite(bytes, 1, (size_t)got, stderr);
    return got > 0;
}

/* The first Ctrl-C lets the coordinator end the run and save it; the second one ends the job, also where mpirun dropped
 * the first one because it still started the ranks. */
static void pass_interrupts(struct launched *job) {
    for (; job->passed < interrupts; job->passed++) {
        if (job->passed == 0)
            kill(job->pid, SIGUSR1);
        else if (job->code < 0)
            end_job(job, LB_EXIT_INTERRUPTED);
    }
}

static void end_launcher(struct launched *job) {
    if (job->code < 0 && job->lost_by > 0 && lb_now() - job->lost_ns > COORDINATOR_GRACE_NS)
        coordinator_died(job);
    if (job->code < 0) return;
    int64_t since_ns = lb_now() - job->ended_ns;
    if (since_ns > LAUNCH_GRACE_NS)
        kill(job->pid, since_ns > 2 * LAUNCH_GRACE_NS ? SIGKILL : SIGTERM);
}

/* Of a launcher that ended before any last words. Its codes are its own, and not those of bench/README.md: mpirun ends
 * with 1 where there are too few slots, and with 255 where a host can't be reached. Ranks that failed told a code. */
static int code_of_launcher(const struct launched *job, int status) {
    /* mpirun that could not start its daemons since it was told to end exits with 0. */
    if (job->passed > 0) return LB_EXIT_INTERRUPTED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return LB_EXIT_OK;
    bool killed = WIFSIGNALED(status);
    fprintf(
        stderr,
        "lockbench-hosts: %s %s %d, and no rank told how the run ended: see the messages above\n",
        job->name, killed ? "was ended by signal" : "ended with its own code",
        killed ? WTERMSIG(status) : WEXITSTATUS(status));
    return LB_EXIT_MACHINE;
}

static int watch(struct launched *job) {
    int status = 0;
    for (;;) {
        if (job->errors >= 0)
            pass_errors(job, LOOK_MS);
        else
            lb_nap(LOOK_MS * LB_MS_NS);
        pass_interrupts(job);
        end_launcher(job);
        if (waitpid(job->pid, &status, WNOHANG) == job->pid) break;
    }
    /* The launcher's last output is still in the pipe. Processes that the launcher left behind may hold the pipe open,
     * so this loop does not wait for the end of the pipe. */
    while (job->errors >= 0 && pass_errors(job, 0)) {
    }
    return job->code >= 0 ? job->code : code_of_launcher(job, status);
}

static _Noreturn void become(char **command, int errors) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* so that the terminal's Ctrl-C does not reach the launcher */
    dup2(errors, STDERR_FILENO);
    /* Open MPI (up to version 4; from 5 on) binds each rank to a core or a socket, which the rank's child processes
     * (workers, servers) would share. Settings of the user stay, and so does mpirun's --bind-to. */
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    setenv("PRTE_MCA_hwloc_default_binding_policy", "none", 0);
    execvp(command[0], command);
    fprintf(stderr, "lockbench-hosts: can't start %s: %s\n", command[0], strerror(errno));
    _exit(LB_EXIT_MACHINE);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The index of the ranks' program among the words of the command; 0 with a message where the command does not name it, or
 * where it is not there: with --enable-recovery mpirun would wait for ever, and print nothing. Options of mpirun say where
 * it looks for a path that is not absolute. */
static int find_program(const char *own_name, char *const *command) {
    const char *own = base_name(own_name), *launcher = base_name(command[0]);
    int at = 1;
    while (command[at] && strcmp(base_name(command[at]), own) != 0) at++;
    if (!command[at]) {
        fprintf(stderr,
                "lockbench-hosts: the command does not say what %s shall start: "
                "%s [OPTIONS] %s run ...\n",
                launcher, launcher, own);
        return 0;
    }
    if (command[at][0] != '/' || access(command[at], X_OK) == 0) return at;
    fprintf(
        stderr,
        "lockbench-hosts: can't start %s: %s; the program must be there on this machine and on every host\n",
        command[at], strerror(errno));
    return 0;
}

/* Returns the command with LAUNCH_WORD after the ranks' program. The caller frees the list; NULL when out of memory. */
static char **mark_command(int program, char **command) {
    static char word[] = LAUNCH_WORD;
    int count = 0;
    while (command[count]) count++;
    char **marked = calloc((size_t)count + 2, sizeof *marked);
    for (int i = 0; marked && i < count; i++) marked[i + (i > program)] = command[i];
    if (marked) marked[program + 1] = word;
    return marked;
}

static int launch_marked(char **command) {
    int errors[2];
    struct launched job = {.name = base_name(command[0]), .code = -1};
    if (pipe(errors) != 0) {
        perror("lockbench-hosts: pipe");
        return LB_EXIT_MACHINE;
    }
    struct sigaction action = {.sa_handler = note_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    hangup_handle(&action);
    job.pid = fork();
    if (job.pid == 0) {
        close(errors[0]);
        become(command, errors[1]);
    }
    close(errors[1]);
    job.errors = errors[0];
    if (job.pid < 0) {
        perror("lockbench-hosts: fork");
        return LB_EXIT_MACHINE;
    }
    int code = watch(&job);
    if (job.errors >= 0) close(job.errors);
    return code;
}

int launch(const char *own_name, char **command) {
    int program = find_program(own_name, command);
    if (program == 0) return LB_EXIT_USAGE;
    char **marked = mark_command(program, command);
    if (!marked) {
        fprintf(stderr, "lockbench-hosts: out of memory\n");
        return LB_EXIT_MACHINE;
    }
    int code = launch_marked(marked);
    free(marked);
    return code;
}
