/* cmd_hold: `lockbench hold`: takes a lock with the lock's driver, runs a command, and releases the
 * lock. It refuses locks that other programs can't reach, and it starts no server. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/base/process.h"
#include "bench/cli/cli.h"
#include "bench/cli/urls.h"
#include "bench/engine/loop.h"
#include "bench/place/guest.h"
#include "bench/tools/hold/single.h"
#include "bench/workload/plan.h"
#include "bench/workload/shape.h"
#include "drivers/key_names.h"
#include "drivers/registry.h"

/* ---- the command that is run while the lock is held, and the signals for it ---- */

static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP /* while a command runs */};
#define HANDED_ON (sizeof handed_on / sizeof *handed_on)

static int wake_pipe[2] = {-1, -1};
static volatile sig_atomic_t
    group; /* the command's process, and the group of it and all that it starts; 0 = none */
static volatile sig_atomic_t told_to_end; /* SIGTERM came while the command ran */
static volatile sig_atomic_t interrupts;
static void (*when_interrupted)(void);

static void on_signal(int number) {
    int kept = errno;
    if (number != SIGCHLD && group > 0) {
        kill(-(pid_t)group, number);
        if (number == SIGTERM) told_to_end = 1;
    } else if (number != SIGCHLD) {
        interrupts = interrupts + 1;
        if (when_interrupted) when_interrupted();
        if (interrupts > 1) _exit(LB_EXIT_INTERRUPTED);
    }
    ssize_t ignored = write(wake_pipe[1], "", 1);
    (void)ignored; /* a full pipe is readable as well */
    errno = kept;
}

/* If nohup(1) made this process ignore a signal, the command ignores it too. */
static void hand_on(int number) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    sigfillset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

/* The signals that this process gets while a command runs are passed on to the command's group. If this process dies,
 * the kernel sends the command SIGTERM. interrupted: called in the signal handler when a signal comes while no command
 * runs; may be NULL. Returns a descriptor that becomes readable after each signal and each end of a child; -1 with
 * err. */
static int hold_child_watch(void (*interrupted)(void), struct lb_err *err) {
    if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_set(err, LB_EXIT_MACHINE, "hold: pipe: %s", strerror(errno));
    when_interrupted = interrupted;
    hand_on(SIGCHLD);
    for (size_t i = 0; i < HANDED_ON; i++) {
        if (handed_on[i] != SIGTSTP) hand_on(handed_on[i]);
    }
    return wake_pipe[0];
}

static const volatile sig_atomic_t *hold_child_interrupts(void) {
    return &interrupts;
}

/* Whether a terminal takes this process's group for the one that it talks to. In a pipe the group has other programs,
 * such as a pager, that need the terminal as well: there the command gets it when it reads. */
static bool has_terminal(bool reads) {
    struct stat out;
    bool piped = !reads && fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode);
    return !piped && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void give_terminal(pid_t to) {
    sigset_t quiet, old;
    sigemptyset(&quiet);
    sigaddset(&quiet, SIGTTOU); /* it stops a group that is not the terminal's */
    sigprocmask(SIG_BLOCK, &quiet, &old);
    tcsetpgrp(STDIN_FILENO, to);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static _Noreturn void run_child(const char *const *command, const char *const *variables,
                                const sigset_t *mask, pid_t parent) {
    bool terminal = has_terminal(false);
    setpgid(0, 0);
    if (terminal) give_terminal(getpid());
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(HOLD_CANNOT_RUN); /* the parent has died before */
    /* the default handling of signals, as a program expects it */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (size_t i = 0; i < HANDED_ON; i++) {
        struct sigaction old;
        if (sigaction(handed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            signal(handed_on[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    for (; *variables; variables++) putenv((char *)(uintptr_t)*variables);
    /* A socket or a locked file that the command inherits would outlive this process's session. */
    close_range(3, ~0U, 0);
    execvp(command[0], (char *const *)(uintptr_t)command);
    int why = errno;
    fprintf(stderr, "lockbench: hold: %s: %s\n", command[0], strerror(why));
    _exit(why == ENOENT ? HOLD_NO_COMMAND : HOLD_CANNOT_RUN);
}

/* The command inherits descriptors 0, 1 and 2 and no others. variables: "NAME=VALUE", ends with NULL. */
static int hold_child_start(const char *const *command, const char *const *variables,
                            struct lb_err *err) {
    sigset_t all, old;
    sigfillset(&all);
    prctl(PR_SET_CHILD_SUBREAPER, 1);     /* what outlives the command is then ours to reap */
    sigprocmask(SIG_SETMASK, &all, &old); /* no signal may come between fork and setting `group` */
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) run_child(command, variables, &old, parent);
    if (pid > 0) {
        setpgid(pid, pid);
        group = (sig_atomic_t)pid;
        hand_on(SIGTSTP);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (pid < 0)
        return err_set(err, LB_EXIT_MACHINE, "hold: fork: %s%s", strerror(errno),
                       too_many_remedy(errno));
    return 0;
}

static void hold_child_signal(int number) {
    if (group > 0) kill(-(pid_t)group, number);
}

/* The command was stopped: by Ctrl-Z, then this process and its group stop too, as a shell expects it; or since it
 * uses a terminal that it was not given. A stop by another process is left alone. */
static void child_stopped(int number) {
    if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) return;
    if (number == SIGTSTP || !has_terminal(true)) {
        struct sigaction ours;
        if (tcgetpgrp(STDIN_FILENO) == (pid_t)group) give_terminal(getpgrp());
        sigaction(number, NULL, &ours);
        signal(number, SIG_DFL);
        kill(0, number);
        sigaction(number, &ours, NULL);
    }
    if (has_terminal(true)) give_terminal((pid_t)group);
    hold_child_signal(SIGCONT);
}

/* Empties the descriptor. True if the command and all of its group have ended. *ret_code is the command's exit code, or
 * 128 + the number of the signal that ended it. */
static bool hold_child_ended(int *ret_code) {
    char bytes[64];
    int status;
    while (read(wake_pipe[0], bytes, sizeof bytes) > 0) {
    }
    for (pid_t pid; (pid = waitpid(-(pid_t)group, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (WIFSTOPPED(status))
            child_stopped(WSTOPSIG(status));
        else if (pid == (pid_t)group)
            *ret_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    if (kill(-(pid_t)group, 0) == 0 || errno != ESRCH) return false;
    if (tcgetpgrp(STDIN_FILENO) == (pid_t)group) give_terminal(getpgrp());
    group = 0;
    return true;
}

#define OPEN_NS (10 * LB_S_NS)   /* the time limit for opening a session */
#define LOOK_NS (500 * LB_MS_NS) /* how often a silent connection is tested */
#define GRACE_S 5                /* from SIGTERM to SIGKILL */
#define SETS_MAX 64

struct typed {
    struct arg_list names, sets, command;
    struct urls urls;
    int64_t wait_ns; /* -1 = wait until the lock is granted */
    int64_t lease_ns;
    bool anyway;
};

static const struct typed start_with = {.wait_ns = -1};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, names), .max = 2, .help = NULL}, "name"},
    {{"url", &type_url, offsetof(struct typed, urls),
      .help =
          "the server: redis://HOST:6379, or a folder, file:///DIR; a password: in LOCKBENCH_URL_REDIS"},
     "URL"},
    {{"lease", LB_OPT_DURATION, offsetof(struct typed, lease_ns), "30s", 1e6, 86400e9, NULL,
      "how long a grant lasts without renewal; session timeouts derive from it, too"},
     "TIME"},
    {{"wait", LB_OPT_DURATION, offsetof(struct typed, wait_ns), .max = 86400e9,
      .help = "the longest wait for the lock; 0: try once; default: until it is granted"},
     "TIME"},
    {{"set", ARG_LIST, offsetof(struct typed, sets), .max = SETS_MAX,
      .help = "set an option of the lock or its backend, as for `run`; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"anyway", ARG_FLAG, offsetof(struct typed, anyway),
      .help =
          "take the lock also where the server does not keep it: behind a pooler, on a replica"},
     NULL},
    {{"---", ARG_LIST, offsetof(struct typed, command), .help = NULL}, "COMMAND"},
    {{0}, NULL},
};

struct hold {
    const struct typed *typed;
    const struct lb_lock *lock;
    const char *key;
    const char **command; /* NULL-terminated */
    struct single single;
    int wake_fd;
    int code; /* the exit code of the program */
};

static struct single *asking; /* for the signal handler */

static void on_interrupt(void) {
    if (asking) single_cut_off(asking);
}

/* Prints the program's one line. Returns the exit code. */
__attribute__((format(printf, 3, 4))) static int end_with_message(const struct hold *hold, int code,
                                                                  const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "lockbench: hold: %s '%s': ", hold->lock->name, hold->key);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return code;
}

/* ---- on the client's fiber ---- */

/* Writes the command's variables into text. Returns them, NULL-terminated. */
static void name_variables(const struct hold *hold, char text[4][LB_KEY_MAX + 32],
                           const char *variables[5]) {
    const struct lb_grant *grant = &hold->single.client.grant;
    int count = 0;
    snprintf(text[count++], sizeof text[0], "LOCKBENCH_LOCK=%s", hold->lock->name);
    snprintf(text[count++], sizeof text[0], "LOCKBENCH_KEY=%s", hold->key);
    if (grant->token)
        snprintf(text[count++], sizeof text[0], "LOCKBENCH_TOKEN=%llu",
                 (unsigned long long)grant->token);
    if (grant->lease_end_ns != LB_NEVER)
        snprintf(text[count++], sizeof text[0], "LOCKBENCH_LEASE_MS=%lld",
                 (long long)(hold->typed->lease_ns / LB_MS_NS));
    for (int i = 0; i < count; i++) variables[i] = text[i];
    variables[count] = NULL;
}

/* After SIGTERM: what has not ended by the time gets SIGKILL, which is told once. */
static void end_command(const struct hold *hold, int64_t *kill_ns) {
    if (*kill_ns == 0) *kill_ns = lb_now() + GRACE_S * LB_S_NS;
    if (lb_now() < *kill_ns) return;
    if (*kill_ns > 1)
        end_with_message(hold, 0, "not ended %d s after SIGTERM; the command gets SIGKILL",
                         GRACE_S);
    *kill_ns = 1;
    hold_child_signal(SIGKILL);
}

/* Waits for the end of the command and of all that it started, and keeps the lock meanwhile. True if the lock was lost;
 * then they got a signal, and have ended too. */
static bool wait_for_command(struct hold *hold) {
    bool lost = false;
    int64_t kill_ns = 0;
    struct lb_err err = {0};
    while (!hold_child_ended(&hold->code)) {
        struct lb_poll wake = {.fd = hold->wake_fd, .events = LB_READABLE};
        if (lost || told_to_end) end_command(hold, &kill_ns);
        if (lost) {
            lb_wait_any(&wake, 1, lb_now() + LOOK_NS);
        } else if (single_wait(&hold->single, &wake, 1, lb_now() + LOOK_NS, &err) != LB_OK) {
            lost = true;
            end_with_message(hold, 0, "the lock is lost: %s; the command gets SIGTERM", err.text);
            hold_child_signal(SIGTERM);
        }
    }
    return lost;
}

static void run_command(struct hold *hold) {
    static char text[4][LB_KEY_MAX + 32];
    const char *variables[5];
    struct lb_err err = {0};
    name_variables(hold, text, variables);
    if (hold_child_start(hold->command, variables, &err) != 0) {
        hold->code = end_with_message(hold, HOLD_FAILED, "%s", err.text);
        single_release(&hold->single, &err);
        return;
    }
    bool lost = wait_for_command(hold);
    enum lb_outcome outcome = single_release(&hold->single, &err);
    if (lost)
        hold->code = HOLD_LOST;
    else if (outcome == LB_LOST)
        hold->code =
            end_with_message(hold, HOLD_LOST, "the lock was lost before the command ended: %s",
                             err.code ? err.text : "the server had it no more as ours");
    else if (outcome != LB_OK)
        hold->code =
            end_with_message(hold, HOLD_FAILED, "the release: %s; it may be held for %lld s more",
                             err.code ? err.text : lb_outcome_name(outcome),
                             (long long)(hold->typed->lease_ns / LB_S_NS));
}

/* Reports an acquire that ended without a grant. */
static int not_granted(const struct hold *hold, enum lb_outcome outcome, bool unsettled,
                       const struct lb_err *err) {
    if (*hold_child_interrupts() > 0)
        return end_with_message(hold, LB_EXIT_INTERRUPTED,
                                "interrupted before the lock was granted");
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT)
        return end_with_message(hold, HOLD_NOT_GRANTED,
                                "not granted in time: another client holds it");
    return end_with_message(hold, HOLD_FAILED, "%s%s",
                            err->code ? err->text : lb_outcome_name(outcome),
                            unsettled ? "; it may be held until its lease ends" : "");
}

static void hold_run(void *arg) {
    struct hold *hold = arg;
    struct lb_err err = {0};
    bool unsettled = false;
    if (single_open(&hold->single, lb_now() + OPEN_NS, &err) != 0) {
        hold->code = *hold_child_interrupts() > 0
                         ? not_granted(hold, LB_BROKEN, false, &err)
                         : end_with_message(hold, HOLD_FAILED, "%s", err.text);
        single_close(&hold->single);
        return;
    }
    int64_t wait_ns = hold->typed->wait_ns;
    int64_t until_ns = wait_ns < 0 ? LB_NEVER : wait_ns == 0 ? 0 : lb_after(lb_now(), wait_ns);
    enum lb_outcome outcome = single_acquire(&hold->single, until_ns, &unsettled, &err);
    if (outcome != LB_OK) {
        hold->code = not_granted(hold, outcome, unsettled, &err);
        single_close(&hold->single);
    } else if (*hold_child_interrupts() > 0) {
        single_release(&hold->single, &err);
        hold->code = not_granted(hold, LB_BUSY, false, &err);
    } else {
        run_command(hold);
    }
}

/* ---- before the client's fiber runs ---- */

static int find_lock(const struct typed *typed, const struct lb_lock **ret_lock,
                     struct lb_err *err) {
    if (typed->names.count < 2 || typed->command.count == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "hold: %s is missing: lockbench hold LOCK KEY --url URL -- COMMAND",
                       typed->names.count < 1   ? "a lock"
                       : typed->names.count < 2 ? "a key"
                                                : "a command");
    const char *name = typed->names.item[0];
    const struct lb_lock *lock = registry_lock(name);
    if (!lock) {
        lock_name_unknown(name, err);
        err_prefix(err, "hold");
        return -1;
    }
    if (lb_unavailable(lock->backend))
        return err_set(err, LB_EXIT_MACHINE, "hold: %s: %s (install: %s)", name,
                       lb_unavailable(lock->backend), lock->backend->install);
    if (lock->primitive == LB_OPTIMISTIC)
        return err_set(err, LB_EXIT_USAGE, "hold: %s is not held: it is optimistic", name);
    if (!lock->backend->schemes || !lock->algorithm->names)
        return err_set(err, LB_EXIT_USAGE,
                       "hold: no other program can meet %s: it is in the memory or in a private "
                       "folder of one run",
                       name);
    *ret_lock = lock;
    return 0;
}

/* The server's URL, from --url or from the environment, as for other commands. 0, or -1 with err. */
static int find_url(struct typed *typed, const struct lb_lock *lock, struct arena *arena,
                    struct place_url *ret, struct lb_err *err) {
    const char *const *started = lb_topologies(lock);
    if (typed->urls.count > 1) return err_set(err, LB_EXIT_USAGE, "hold: one --url is enough");
    if (urls_ready(&typed->urls, arena, NULL, err) != 0) return -1;
    for (int i = 0; i < typed->urls.count; i++) {
        if (typed->urls.item[i].backend != lock->backend) continue;
        *ret = typed->urls.item[i];
        return 0;
    }
    if (typed->urls.typed > 0)
        return err_set(err, LB_EXIT_USAGE,
                       "hold: --url is of %s, but %s is a lock of %s: --url %s://…",
                       typed->urls.item[0].backend->name, lock->name, lock->backend->name,
                       lock->backend->schemes[0]);
    return err_set(err, LB_EXIT_USAGE, "hold: it starts no server: give one by --url %s://…%s%s%s",
                   lock->backend->schemes[0], started ? ", or start one by `lockbench up " : "",
                   started ? started[0] : "", started ? "`" : "");
}

/* A plan of one client, with the lock's options. NULL with err. */
static struct plan *load_plan(const struct typed *typed, const struct lb_lock *lock,
                              struct lb_err *err) {
    char workloads[PATH_MAX], key[LB_KEY_MAX], lease[48];
    const char *sets[SETS_MAX + 4];
    int count = 0;
    if (key_name_check(typed->names.item[1], err) != 0) {
        err_prefix(err, "hold");
        return NULL;
    }
    if (home_path("workloads", workloads, sizeof workloads, err) != 0) return NULL;
    snprintf(key, sizeof key, "load.key_names=%s", typed->names.item[1]);
    snprintf(lease, sizeof lease, "acquire.lease=%lldms",
             (long long)(typed->lease_ns + LB_MS_NS - 1) / LB_MS_NS);
    sets[count++] = "load.clients=1";
    sets[count++] = lock->algorithm->renew ? "acquire.renew=yes" : "acquire.renew=no";
    sets[count++] = key;
    sets[count++] = lease;
    for (int i = 0; i < typed->sets.count; i++) sets[count++] = typed->sets.item[i];
    struct plan_ask plan_ask = {.workload = "smoke",
                                .folder = workloads,
                                .locks = lock->name,
                                .sets = sets,
                                .set_count = count};
    return plan_load(&plan_ask, err);
}

/* Reports the things that the lock will create on the server and that outlast the hold, before it
 * creates them. */
static void foretell(const struct lb_lock *lock, const struct plan *plan, struct place_url at) {
    char line[GUEST_LINE_MAX];
    at.options = plan->locks[0].backend_options;
    if (!lock->algorithm->arm && !lock->keeps) return;
    guest_foretell(&at, plan, true, line);
    fprintf(stderr, "%s\n", line);
}

/* Whether the server keeps the lock, or the user takes it all the same. */
static bool fits(const struct hold *hold, const struct place *place, struct lb_err *err) {
    const char *unfit = place->facts.unfit;
    if (!*unfit) return true;
    if (hold->typed->anyway)
        end_with_message(hold, 0, "the lock does not exclude others here: %s", unfit);
    else
        err_set(err, LB_EXIT_MACHINE,
                "hold: %s would not exclude others here: %s; --anyway takes it all the same",
                hold->lock->name, unfit);
    return hold->typed->anyway;
}

/* The part that needs the server. Returns the program's exit code. */
static int hold_at(struct hold *hold, const struct plan *plan, const struct place_url *at,
                   struct lb_err *err) {
    struct place_ask ask = {
        .lock = &plan->locks[0], .url = at->url, .interrupts = hold_child_interrupts()};
    struct place *place = NULL;
    struct loop *loop = NULL;
    int failed = -1;
    hold->wake_fd = hold_child_watch(on_interrupt, err);
    if (hold->wake_fd < 0) return -1;
    place = place_open(&ask, err);
    if (place && !fits(hold, place, err)) goto out;
    if (place) foretell(hold->lock, plan, *at);
    if (!place || single_init(&hold->single, plan, &place->server, err) != 0) goto out;
    asking = &hold->single;
    if (*hold_child_interrupts() > 0) single_cut_off(asking);
    loop = loop_new(&(struct loop_config){.cutoff_ns = &hold->single.shared->cutoff_ns,
                                          .blocking = hold->lock->caps & LB_CAP_BLOCKS_THREAD},
                    err);
    if (!loop) goto out;
    if (loop_start_fiber(loop, "hold", hold_run, hold)) {
        loop_run(loop);
        failed = 0;
    } else {
        err_set(err, LB_EXIT_MACHINE, "hold: no memory for a fiber");
    }
out:
    asking = NULL;
    loop_free(loop);
    if (hold->single.shared) single_done(&hold->single);
    place_close(place);
    return failed ? -1 : hold->code;
}

static int run_hold(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    struct hold hold = {.typed = typed};
    if (find_lock(typed, &hold.lock, err) != 0) return -1;
    struct place_url at;
    if (find_url(typed, hold.lock, given->arena, &at, err) != 0) return -1;
    hold.key = typed->names.item[1];
    hold.command =
        arena_alloc(given->arena, sizeof *hold.command * (size_t)(typed->command.count + 1));
    if (!hold.command) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    memcpy(hold.command, typed->command.item, sizeof *hold.command * (size_t)typed->command.count);
    struct plan *plan = load_plan(typed, hold.lock, err);
    if (!plan) return -1;
    int code = hold_at(&hold, plan, &at, err);
    /* An exit code of 2 could be mistaken for the command's. */
    if (code < 0 && err->code == LB_EXIT_MACHINE) err->code = HOLD_FAILED;
    plan_free(plan);
    return code;
}

static void more_help(const struct screen *screen) {
    fputc('\n', screen->out);
    screen_lines(
        screen,
        "The command sees LOCKBENCH_LOCK, LOCKBENCH_KEY, LOCKBENCH_TOKEN (the fencing token, where the lock\n"
        "has one) and LOCKBENCH_LEASE_MS (where it has leases). SIGINT, SIGTERM and SIGHUP are handed on to\n"
        "it and to all that it started (its process group), SIGKILL follows 5 s after SIGTERM; the lock is\n"
        "released when all of them have ended. The exit code is the command's own, 128 + the number of the\n"
        "signal that ended it, or:");
    for (const struct exit_code *code = exit_codes; code->meaning; code++) {
        if (code->code >= HOLD_LOST && code->code <= HOLD_NO_COMMAND)
            fprintf(screen->out, "  %d  %s\n", code->code, code->meaning);
    }
}

static const struct example examples[] = {
    {"lockbench hold redis-setnx backup --url redis://127.0.0.1:6379 -- ./backup.sh",
     "hold the key of that name while the script runs"},
    {NULL, NULL},
};

const struct command command_hold = {
    .name = "hold",
    .summary = "take a lock, run a command, release: to try a lock against your own clients",
    .usage = "hold LOCK KEY --url URL [OPTIONS] -- COMMAND [ARGS…]",
    .about =
        "Takes a lock with its driver, runs the command, renews the lock while the command runs, and\n"
        "releases it. `lockbench list LOCK --key KEY` shows the names of the key on the server.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .start = &start_with,
    .run = run_hold,
    .more_help = more_help,
};
