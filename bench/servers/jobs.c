/* jobs: see jobs.h. */
#define _GNU_SOURCE
#include "bench/servers/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/process.h"

#define LOOK_NS (10 * LB_MS_NS)

void jobs_init(struct jobs *jobs, const char *program, int weight_max) {
    *jobs = (struct jobs){.program = program ? program : "/proc/self/exe",
                          .weight_max = weight_max,
                          .grace_ns = JOBS_GRACE_S * LB_S_NS};
}

int jobs_make_folder(const char *path, struct lb_err *err) {
    struct stat status;
    if (mkdir(path, 0777) == 0) return 0;
    /* Not a link, which another account may have made there. */
    if (errno == EEXIST && lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) return 0;
    return err_set(err, LB_EXIT_MACHINE, "cannot make %s: %s", path, strerror(errno));
}

bool jobs_fit(const struct jobs *jobs, int weight) {
    if (jobs->count == JOBS_MAX) return false;
    return jobs->count == 0 || jobs->busy + weight <= jobs->weight_max;
}

/* Runs in the child. parent: the process that started the child; if it has ended before the child
 * asks for the signal of its death, the child ends. */
static _Noreturn void become_job(const char *program, const struct job *job, pid_t parent) {
    char *argv[JOB_ARGS_MAX + 2] = {(char *)(uintptr_t) "lockbench"};
    for (int i = 0; i < JOB_ARGS_MAX && job->argv[i]; i++)
        argv[i + 1] = (char *)(uintptr_t)job->argv[i];
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    int in = open("/dev/null", O_RDONLY);
    int out = open(job->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0666);
    if (in < 0 || out < 0) _exit(127);
    child_streams(in, out, out);
    execv(program, argv);
    _exit(127);
}

int jobs_start(struct jobs *jobs, const struct job *job, struct lb_err *err) {
    struct jobs_slot *slot = jobs->slot;
    while (slot->pid && slot < jobs->slot + JOBS_MAX - 1) slot++;
    if (slot->pid) return err_set(err, LB_EXIT_MACHINE, "more than %d jobs at once", JOBS_MAX);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return err_set(err, LB_EXIT_MACHINE, "could not start a run: %s%s", strerror(errno),
                       too_many_remedy(errno));
    if (pid == 0) become_job(jobs->program, job, parent);
    setpgid(pid, pid); /* parent and child both do this, whichever comes first */
    *slot = (struct jobs_slot){.pid = pid,
                               .end = {.tag = job->tag},
                               .weight = job->weight,
                               .begin_ns = lb_now(),
                               .limit_ns = job->limit_ns};
    jobs->busy += job->weight;
    jobs->count++;
    return 0;
}

/* Sends the signal once to the whole group, because a program that is a script passes no signal on.
 * The child may still save its results: its workers ignore the signal, and its servers and its
 * janitor are in other groups. */
static void ask_to_end(const struct jobs *jobs, struct jobs_slot *slot) {
    if (slot->kill_ns) return;
    kill(-slot->pid, SIGINT);
    slot->kill_ns = lb_after(lb_now(), jobs->grace_ns);
}

static void watch_time(const struct jobs *jobs, struct jobs_slot *slot) {
    int64_t now_ns = lb_now();
    if (slot->kill_ns && now_ns >= slot->kill_ns) {
        slot->end.timed_out = true;
        kill(-slot->pid, SIGKILL); /* its janitor is in another group, and cleans up */
    } else if (!slot->kill_ns && now_ns - slot->begin_ns >= slot->limit_ns) {
        slot->end.timed_out = true;
        ask_to_end(jobs, slot);
    }
}

static void end_slot(struct jobs *jobs, struct jobs_slot *slot, int status,
                     struct job_end *ret_end) {
    *ret_end = slot->end;
    ret_end->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    ret_end->took_ns = lb_now() - slot->begin_ns;
    jobs->busy -= slot->weight;
    jobs->count--;
    slot->pid = 0;
}

bool jobs_wait(struct jobs *jobs, int64_t timeout_ns, struct job_end *ret_end) {
    for (int64_t until_ns = lb_after(lb_now(), timeout_ns);;) {
        for (struct jobs_slot *slot = jobs->slot; slot < jobs->slot + JOBS_MAX; slot++) {
            int status;
            if (!slot->pid) continue;
            if (waitpid(slot->pid, &status, WNOHANG) == slot->pid) {
                end_slot(jobs, slot, status, ret_end);
                return true;
            }
            watch_time(jobs, slot);
        }
        if (jobs->count == 0 || lb_now() >= until_ns) return false;
        lb_nap(LOOK_NS);
    }
}

int jobs_run(struct jobs *jobs, const struct job *job, const volatile sig_atomic_t *interrupts,
             struct job_end *ret_end, struct lb_err *err) {
    if (jobs_start(jobs, job, err) != 0) return -1;
    while (!jobs_wait(jobs, JOBS_LOOK_NS, ret_end)) {
        if (*interrupts > 0) jobs_interrupt(jobs);
    }
    return 0;
}

bool job_was_cut(const struct job_end *end, char *text, size_t size) {
    bool killed = end->exit_code > 128 && end->exit_code != LB_EXIT_INTERRUPTED;
    if (end->timed_out)
        snprintf(text, size, "it was not done after %.0f s", (double)end->took_ns / 1e9);
    else if (killed)
        snprintf(text, size, "the run was killed by signal %d", end->exit_code - 128);
    return end->timed_out || killed;
}

void jobs_interrupt(struct jobs *jobs) {
    for (int i = 0; i < JOBS_MAX; i++) {
        if (jobs->slot[i].pid) ask_to_end(jobs, &jobs->slot[i]);
    }
}

void jobs_kill(struct jobs *jobs) {
    for (int i = 0; i < JOBS_MAX; i++) {
        struct jobs_slot *slot = &jobs->slot[i];
        if (!slot->pid) continue;
        kill(-slot->pid, SIGKILL);
        while (waitpid(slot->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        slot->pid = 0;
    }
    jobs->busy = jobs->count = 0;
}

void jobs_last_words(const char *log, char *text, size_t size) {
    char line[400];
    FILE *file = fopen(log, "re");
    bool has_problem = false;
    text[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        bool problem = strncmp(line, "lockbench: ", 11) == 0;
        const char *words = problem ? line + 11 : line;
        /* the line after the problem says where results were saved, and is no problem */
        if (!*words || (has_problem && !problem)) continue;
        has_problem |= problem;
        if (strncmp(words, "saved in ", 9) != 0) snprintf(text, size, "%s", words);
    }
    if (file) fclose(file);
}
