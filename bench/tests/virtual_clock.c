/* virtual_clock: see virtual_clock.h. Its functions stand before libc's (and a sanitizer's), which are called where the
 * real thing has to be done. It is compiled without sanitizers: to them a turn that is handed over orders nothing, so a
 * data race is still seen. */
#define _GNU_SOURCE
#include "bench/tests/virtual_clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/servers/proc.h"

#define READING_NS 500            /* what each reading of the clock takes */
#define TURN_NS (10 * LB_US_NS)   /* after which another thread that can go on does */
#define START_NS (1000 * LB_S_NS) /* of the clock */
#define THREADS 4096

enum state { NONE, RUNS, SLEEPS, TRIES, POLLS, JOINS, REAPS, ENDED };

/* A thread of the test or of a process that it forked. Only who has the turn reads or writes it. */
struct thread {
    _Atomic uint32_t turn; /* a futex: it is given the turn */
    enum state state;
    bool stopped;      /* its process is, by a signal */
    pid_t pid;         /* its process */
    int64_t since_ns;  /* since when it waits */
    int64_t due_ns;    /* until when at most: SLEEPS, TRIES, POLLS */
    int64_t used_ns;   /* its processor time */
    uint64_t releases; /* TRIES: so many there were when it tried */
    uint64_t last;     /* the number of its last turn */
    int of;            /* POLLS: a file of epoll; JOINS: a thread; REAPS: a process */
    pthread_t handle;
    void *(*run)(void *);
    void *arg;
};

/* In memory that forked processes share. */
static struct {
    _Atomic int64_t now_ns;
    int64_t next_ns; /* when the one who runs is to look for another */
    int64_t wall_ns; /* what is added for CLOCK_REALTIME */
    uint64_t turns, releases;
    int threads;
    struct thread thread[THREADS];
} * world;

static _Thread_local struct thread *self;         /* NULL: the thread does not take part */
static _Thread_local int64_t timer_ns = LB_NEVER; /* of its loop */
static _Thread_local int files;                   /* which that loop may wait for */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int64_t now(void) {
    return atomic_load_explicit(&world->now_ns, memory_order_relaxed);
}

static _Noreturn void give_up(const char *why) {
    dprintf(STDERR_FILENO, "virtual clock: %s\n", why);
    abort();
}

static struct thread *new_thread(pid_t pid) {
    for (int i = 0; i < THREADS; i++) {
        struct thread *thread = &world->thread[i];
        if (thread->state != NONE) continue;
        *thread = (struct thread){.state = RUNS, .pid = pid, .since_ns = now()};
        if (i >= world->threads) world->threads = i + 1;
        if (world->next_ns > now() + TURN_NS) world->next_ns = now() + TURN_NS;
        return thread;
    }
    give_up("too many threads");
}

__attribute__((constructor)) static void start(void) {
    struct timespec wall;
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED) give_up("no memory");
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &wall);
    world->wall_ns = (int64_t)wall.tv_sec * LB_S_NS + wall.tv_nsec - START_NS;
    world->now_ns = START_NS;
    world->next_ns = LB_NEVER;
    self = new_thread(getpid());
    /* Only one thread runs at a time. On one processor handing over takes half as long, and the stages of a test know
     * of one processor on each machine. */
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

static bool lives(pid_t pid) {
    for (int i = 0; i < world->threads; i++) {
        const struct thread *thread = &world->thread[i];
        if (thread->pid == pid && thread->state != NONE && thread->state != ENDED) return true;
    }
    return false;
}

/* When the thread can go on: in the past if it can now. */
static int64_t due_ns(const struct thread *thread) {
    bool can = false;
    if (thread->stopped || thread->state == NONE || thread->state == ENDED) return LB_NEVER;
    if (thread->state == SLEEPS || thread->state == POLLS) return thread->due_ns;
    if (thread->state == TRIES && thread->releases == world->releases) return thread->due_ns;
    if (thread->state == JOINS) can = world->thread[thread->of].state == ENDED;
    if (thread->state == REAPS) can = !lives(thread->of);
    return can || thread->state == RUNS || thread->state == TRIES ? thread->since_ns : LB_NEVER;
}

/* A thread of this process whose files are ready, without taking their events. */
static struct thread *find_ready(void) {
    pid_t pid = getpid();
    for (int i = 0; i < world->threads; i++) {
        struct thread *thread = &world->thread[i];
        if (thread->state != POLLS || thread->stopped || thread->pid != pid) continue;
        struct pollfd look = {.fd = thread->of, .events = POLLIN};
        if (poll(&look, 1, 0) > 0) return thread;
    }
    return NULL;
}

/* Chooses who goes on: who could first, and of several the one whose last turn is the longest ago. If that is later than
 * now, the clock jumps. */
static struct thread *choose(void) {
    struct thread *best = NULL;
    int64_t best_ns = LB_NEVER;
    for (int i = 0; i < world->threads; i++) {
        struct thread *thread = &world->thread[i];
        int64_t at_ns = due_ns(thread);
        if (at_ns > best_ns || at_ns == LB_NEVER) continue;
        if (at_ns == best_ns && thread->last > best->last) continue;
        best = thread;
        best_ns = at_ns;
    }
    if (best_ns <= now()) return best;
    struct thread *ready = find_ready();
    if (ready) return ready;
    if (!best) give_up("every thread waits for ever");
    world->now_ns = best_ns;
    return best;
}

static void await_turn(void) {
    while (!atomic_exchange(&self->turn, 0))
        syscall(SYS_futex, &self->turn, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* Gives the turn to the next one. False: it is the calling thread. */
static bool hand_on(void) {
    struct thread *next = choose();
    next->state = RUNS;
    next->last = ++world->turns;
    world->next_ns = LB_NEVER;
    for (int i = 0; i < world->threads; i++) {
        const struct thread *other = &world->thread[i];
        int64_t at_ns = other == next ? LB_NEVER : due_ns(other);
        if (at_ns <= now()) at_ns = now() + TURN_NS;
        if (at_ns < world->next_ns) world->next_ns = at_ns;
    }
    if (next == self) return false;
    atomic_store(&next->turn, 1);
    syscall(SYS_futex, &next->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    return true;
}

/* Waits for that, or until a time. */
static void wait_as(enum state state, int of, int64_t until_ns) {
    self->state = state;
    self->of = of;
    self->since_ns = now();
    self->due_ns = until_ns;
    self->releases = world->releases;
    if (hand_on()) await_turn();
}

void virtual_clock_step_wall(int64_t by_ns) {
    world->wall_ns += by_ns;
}

static int64_t ns_of(const struct timespec *when) {
    return (int64_t)when->tv_sec * LB_S_NS + when->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
    bool cpu = clock == CLOCK_THREAD_CPUTIME_ID;
    if (!world || (!cpu && clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || (cpu && !self))
        return (int)syscall(SYS_clock_gettime, clock, ret);
    int64_t at_ns = now();
    if (self) {
        self->used_ns += READING_NS;
        world->now_ns = at_ns += READING_NS;
        if (at_ns >= world->next_ns) wait_as(RUNS, 0, 0);
        at_ns = now();
    }
    if (cpu) at_ns = self->used_ns;
    if (clock == CLOCK_REALTIME) at_ns += world->wall_ns;
    *ret = (struct timespec){.tv_sec = at_ns / LB_S_NS, .tv_nsec = at_ns % LB_S_NS};
    return 0;
}

int nanosleep(const struct timespec *for_, struct timespec *ret_left) {
    if (!self) return REAL(nanosleep)(for_, ret_left);
    wait_as(SLEEPS, 0, now() + ns_of(for_));
    return 0;
}

/* The timer of the thread's loop, which is set in absolute time and only wakes it. */
int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *ret_old) {
    if (!self) return REAL(timerfd_settime)(fd, flags, when, ret_old);
    timer_ns = ns_of(&when->it_value);
    return 0;
}

int epoll_create1(int flags) {
    files = -1;
    return REAL(epoll_create1)(flags);
}

int epoll_ctl(int fd, int what, int of, struct epoll_event *event) {
    files++;
    return REAL(epoll_ctl)(fd, what, of, event);
}

int epoll_wait(int fd, struct epoll_event *events, int room, int for_ms) {
    if (!self) return REAL(epoll_wait)(fd, events, room, for_ms);
    if (for_ms != 0) {
        wait_as(files > 0 ? POLLS : SLEEPS, fd, timer_ns);
        if (now() >= timer_ns) timer_ns = LB_NEVER;
    }
    return files > 0 ? REAL(epoll_wait)(fd, events, room, 0) : 0;
}

/* The real call in the thread's turn, with a time that is past: again after each release of any lock. */
#define WAITS_UNTIL(name, type, failed)                                                            \
    int name(type *lock, clockid_t clock, const struct timespec *until) {                          \
        if (!self) return REAL(name)(lock, clock, until);                                          \
        for (;;) {                                                                                 \
            int result = REAL(name)(lock, clock, &(struct timespec){0});                           \
            if (!(failed) || now() >= ns_of(until)) return result;                                 \
            wait_as(TRIES, 0, ns_of(until));                                                       \
        }                                                                                          \
    }
WAITS_UNTIL(pthread_mutex_clocklock, pthread_mutex_t, result == ETIMEDOUT)
WAITS_UNTIL(pthread_rwlock_clockrdlock, pthread_rwlock_t, result == ETIMEDOUT)
WAITS_UNTIL(pthread_rwlock_clockwrlock, pthread_rwlock_t, result == ETIMEDOUT)
WAITS_UNTIL(sem_clockwait, sem_t, result != 0 && errno == ETIMEDOUT)

static void note_release(void) {
    if (!self) return;
    world->releases++;
    if (world->next_ns > now() + TURN_NS) world->next_ns = now() + TURN_NS;
}

#define RELEASES(name, type)                                                                       \
    int name(type *lock) {                                                                         \
        note_release();                                                                            \
        return REAL(name)(lock);                                                                   \
    }
RELEASES(pthread_mutex_unlock, pthread_mutex_t)
RELEASES(pthread_rwlock_unlock, pthread_rwlock_t)
RELEASES(sem_post, sem_t)

static void *thread_main(void *arg) {
    self = arg;
    await_turn();
    void *result = self->run(self->arg);
    self->state = ENDED;
    self = NULL;
    hand_on();
    return result;
}

int pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg) {
    if (!self) return REAL(pthread_create)(ret, attributes, run, arg);
    struct thread *thread = new_thread(self->pid);
    thread->run = run;
    thread->arg = arg;
    int failed = REAL(pthread_create)(ret, attributes, thread_main, thread);
    thread->handle = *ret;
    if (failed) thread->state = NONE;
    return failed;
}

int pthread_join(pthread_t handle, void **ret) {
    for (int i = 0; self && i < world->threads; i++) {
        struct thread *thread = &world->thread[i];
        if (thread->state == NONE || thread->pid != self->pid || !thread->run ||
            !pthread_equal(thread->handle, handle))
            continue;
        if (thread->state != ENDED) wait_as(JOINS, i, LB_NEVER);
        thread->state = NONE;
        break;
    }
    return REAL(pthread_join)(handle, ret);
}

pid_t fork(void) {
    if (!self) return REAL(fork)();
    struct thread *thread = new_thread(0);
    pid_t pid = REAL(fork)();
    if (pid == 0) {
        self = thread;
        await_turn();
    } else if (pid > 0) {
        thread->pid = pid;
    } else {
        thread->state = NONE;
    }
    return pid;
}

/* The threads of a process have ended, or stand still. Their places are not used again: a thread may wait at one until the
 * kernel has ended it. */
static void set_process(pid_t pid, bool ended, bool stopped) {
    for (int i = 0; i < world->threads; i++) {
        struct thread *thread = &world->thread[i];
        if (thread->pid != pid) continue;
        if (ended) thread->state = ENDED;
        thread->stopped = stopped;
    }
    note_release(); /* a dead one's robust mutexes */
}

static void leave(void) {
    if (!self) return;
    set_process(self->pid, true, false);
    self = NULL;
    hand_on();
    world = NULL;
}

/* A process that is on its own then, such as the janitor. */
pid_t setsid(void) {
    leave();
    return (pid_t)syscall(SYS_setsid);
}

void _exit(int code) {
    leave();
    for (;;) syscall(SYS_exit_group, code);
}

int kill(pid_t pid, int signal) {
    if (self && signal == SIGKILL && pid == self->pid)
        leave();
    else if (self && (signal == SIGKILL || signal == SIGSTOP || signal == SIGCONT))
        set_process(pid, signal == SIGKILL, signal == SIGSTOP);
    int failed = (int)syscall(SYS_kill, pid, signal);
    /* the kernel stops it a little later, in real time */
    while (self && failed == 0 && signal == SIGSTOP && !proc_stands(pid)) sched_yield();
    return failed;
}

/* A process that has ended by this clock may need some real time for it. */
pid_t waitpid(pid_t pid, int *ret_status, int options) {
    if (self && pid > 0 && lives(pid)) {
        if (options & WNOHANG) return 0;
        wait_as(REAPS, pid, LB_NEVER);
    }
    return REAL(waitpid)(pid, ret_status, self && pid > 0 ? options & ~WNOHANG : options);
}
