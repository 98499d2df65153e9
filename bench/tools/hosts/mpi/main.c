/* main: the program lockbench-hosts: one run whose clients are on several hosts, started by mpirun, srun or an MPIJob.
 *
 * Rank 0 does the work of `lockbench run` and is the coordinator; each other rank is a load host. MPI carries the
 * messages before and after the load. During the load MPI carries only one report a second and the clock exchanges, and
 * no operation of a lock. MPI_Init and MPI_Finalize wait for all ranks, so both get a time limit; all other MPI calls
 * are between two ranks and have deadlines. So no rank waits for ever for a host that is gone. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/process.h"
#include "bench/cli/cli.h"
#include "bench/tools/hosts/mpi/launch.h"
#include "bench/tools/hosts/stage_hosts.h"

#define PROGRAM "lockbench-hosts"

static const char usage[] = PROGRAM
    ": `lockbench run` with the clients on several machines (bench/HOSTS.md)\n\n"
    "  " PROGRAM " launch mpirun --enable-recovery --hostfile HOSTS -np N " PROGRAM " run ...\n"
    "      starts N processes: the first is the coordinator, the others have the clients\n"
    "  mpirun ... | srun ... " PROGRAM " run ...\n"
    "      the same without a watch over mpirun\n"
    "  " PROGRAM " run --help\n"
    "      what can be asked of a run\n"
    "  " PROGRAM " --version\n"
    "      version, commit and libraries\n";

#define END_S 60 /* limit of MPI_Finalize */
_Static_assert(LAUNCH_START_S == 120 && END_S == 60, "the messages of the two handlers say so");
#define MEET_NS (60 * LB_S_NS)
#define SPIN_NS (3 * LB_MS_NS) /* within this time the next clock exchange is expected */
#define BRISK_NS LB_S_NS       /* within this time other messages are expected */
#define NAP_NS (200 * INT64_C(1000))
#define LONG_NAP_NS LB_MS_NS
/* The limit for the rest of a message of which a part has arrived, because its sender may be cut off meanwhile: a fixed
 * time, and a time for each byte (1 MB/s). */
#define ARRIVE_NS (10 * LB_S_NS)
#define ARRIVE_BYTE_NS 1000

/* The pause between two looks for MPI's progress, in a wait that began at begin_ns: none at first, later longer. */
static void rest_since(int64_t begin_ns) {
    int64_t waited_ns = lb_now() - begin_ns;
    if (waited_ns > SPIN_NS) lb_nap(waited_ns > BRISK_NS ? LONG_NAP_NS : NAP_NS);
}

/* The analyzer accepts only MPI_Wait as the end of a request. This code uses MPI_Test, because MPI_Wait would wait for
 * ever for a host that is gone. */
/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
/* Waits for the end of a request. 0, or -1 when it does not come in time; then MPI may still use the request's bytes. */
static int wait_request(MPI_Request *request, int64_t deadline_ns) {
    int done = 0;
    int64_t begin_ns = lb_now();
    for (;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -1;
        if (done) return 0;
        if (lb_now() >= deadline_ns) return -1;
        rest_since(begin_ns);
    }
}

/* A message that did not leave in time is never freed: MPI reads its bytes whenever the way is free again, since Open MPI
 * cancels none. */
static int mpi_send(struct link *link, int to, const void *bytes, size_t length,
                    int64_t deadline_ns) {
    MPI_Request request;
    void *copy = malloc(length);
    (void)link;
    if (!copy) return -1;
    memcpy(copy, bytes, length);
    if (MPI_Isend(copy, (int)length, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
        wait_request(&request, deadline_ns) != 0)
        return -1;
    free(copy);
    return 0;
}

/* Receives a message of which a part has arrived. Returns 0, or -1 if the rest does not arrive. */
static int take_message(MPI_Message *message, void *bytes, int length) {
    MPI_Request request;
    int64_t limit_ns = lb_now() + ARRIVE_NS + ARRIVE_BYTE_NS * (int64_t)length;
    if (MPI_Imrecv(bytes, length, MPI_BYTE, message, &request) != MPI_SUCCESS) return -1;
    return wait_request(&request, limit_ns);
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static int mpi_receive(struct link *link, int from, void **ret_bytes, size_t *ret_length,
                       int64_t deadline_ns) {
    int64_t begin_ns = lb_now();
    (void)link;
    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int there = 0, length = 0;
        if (MPI_Improbe(from, 0, MPI_COMM_WORLD, &there, &message, &status) != MPI_SUCCESS)
            return -1;
        if (there) {
            MPI_Get_count(&status, MPI_BYTE, &length);
            void *bytes = malloc((size_t)length + 1);
            /* After a failure the bytes are never freed, because MPI may still write to them. */
            if (!bytes || take_message(&message, bytes, length) != 0) return -1;
            *ret_bytes = bytes;
            *ret_length = (size_t)length;
            return 1;
        }
        if (lb_now() >= deadline_ns) return 0;
        rest_since(begin_ns);
    }
}

static int fail(int rank, const struct lb_err *err) {
    fprintf(stderr, "lockbench-hosts: rank %d: %s\n", rank, err->text);
    return err->code;
}

/* Adds the likely reason why this rank is the only one: processes that were started by the launcher of another MPI
 * do not know of each other. */
static void suspect_launcher(struct lb_err *err) {
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    size_t used = strlen(err->text);
    int length = 0;
    MPI_Get_library_version(name, &length);
    name[strcspn(name, ",\n")] = '\0'; /* "Open MPI v4.1.4" */
    snprintf(err->text + used, sizeof err->text - used,
             "; if more were started, the launcher is not that of %s, or srun lacks --mpi=pmix",
             name);
}

/* Runs this rank: the coordinator or a load host. Returns the exit code. */
static int take_part(struct link *link, int argc, char **argv, bool *ret_lost) {
    struct lb_err err = {0};
    struct hosts *hosts = hosts_meet(link, lb_now() + MEET_NS, ret_lost, &err);
    if (!hosts) {
        /* A load host then ends without MPI_Finalize, and rank 0 ends the job. */
        *ret_lost |= link->self > 0;
        if (link->count == 1) suspect_launcher(&err);
        return fail(link->self, &err);
    }
    if (!hosts_coordinates(hosts)) {
        int code = serve_run(hosts, &err) == 0 ? LB_EXIT_OK : fail(link->self, &err);
        if (hosts->host[0].lost)
            fprintf(stderr, LAUNCH_LOST_COORDINATOR "%d of %d\n", link->self, hosts->count);
        *ret_lost = code != LB_EXIT_OK;
        hosts_free(hosts);
        return code;
    }
    struct peers peers = coordinate(hosts);
    cli_join(&peers);
    int code = cli_main(argc, argv);
    fflush(NULL);
    *ret_lost = hosts_check_lost(hosts, &err) != 0;
    hosts_free(hosts);
    return code;
}

/* Handles SIGUSR1, by which the launch command passes on the first Ctrl-C: launchers forward SIGUSR1 to all ranks, but
 * would end the job within a second after SIGINT. */
static void interrupt_coordinator(int signal) {
    (void)signal;
    raise(SIGINT);
}

static void end_at_once(const char *words, size_t length, int code) {
    _exit(write(STDERR_FILENO, words, length) < 0 ? LB_EXIT_MACHINE : code);
}

/* Handles Ctrl-C before the run has begun, when there is nothing to save. The launch command reads the last words and
 * ends all ranks; otherwise the other ranks and mpirun would go on waiting for this one. */
static void end_before_run(int signal) {
    static const char words[] = LAUNCH_LAST_WORDS "130\n";
    (void)signal;
    end_at_once(words, sizeof words - 1, LB_EXIT_INTERRUPTED);
}

/* Ends the job when MPI_Init has waited for too long: it waits for ever if the launcher has lost a rank. */
static void give_up_start(int signal) {
    static const char words[] =
        "lockbench-hosts: MPI did not start on all hosts within 2 minutes: look whether each host has "
        "lockbench-hosts where the command says, and reaches the others\n" LAUNCH_LAST_WORDS "2\n";
    (void)signal;
    end_at_once(words, sizeof words - 1, LB_EXIT_MACHINE);
}

/* Ends the job when MPI_Finalize has waited for too long. The result is already saved. */
static void give_up_end(int signal) {
    static const char words[] =
        "lockbench-hosts: a host did not come to the end within a minute; the result is whole\n" LAUNCH_LAST_WORDS
        "0\n";
    (void)signal;
    end_at_once(words, sizeof words - 1, LB_EXIT_OK);
}

static void say_last_words(int code) {
    fprintf(stderr, LAUNCH_LAST_WORDS "%d\n", code);
    fflush(NULL);
}

static bool asks_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    }
    return false;
}

static bool is_help(const char *word) {
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Carries out a command that needs no MPI. Returns the exit code; -1 if the command is a run. */
static int answer(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    bool launches = strcmp(word, "launch") == 0, helps = is_help(word) || (launches && argc > 2);
    if (strcmp(word, "run") == 0) return asks_help(argc, argv) ? cli_main(argc, argv) : -1;
    if (strcmp(word, "--version") == 0) return cli_main(argc, argv);
    if (!helps && !launches && *word)
        fprintf(stderr, "lockbench-hosts: only `run` works on several hosts\n");
    fputs(usage, helps ? stdout : stderr);
    fflush(NULL);
    return helps ? LB_EXIT_OK : LB_EXIT_USAGE;
}

/* Removes the word that the launch command has added to the arguments. Returns whether there was one. */
static bool take_launched(int *argc, char ***argv) {
    if (*argc < 2 || strcmp((*argv)[1], LAUNCH_WORD) != 0) return false;
    setenv("NO_COLOR", "1", 1);
    (*argv)[1] = (*argv)[0];
    (*argv)++;
    (*argc)--;
    return true;
}

int main(int argc, char **argv) {
    bool launched = take_launched(&argc, &argv);
    if (argc > 2 && strcmp(argv[1], "launch") == 0 && !is_help(argv[2]))
        return launch(argv[0], argv + 2);
    int answered = answer(argc, argv);
    if (launched && answered > 0) say_last_words(answered);
    if (answered >= 0) return launched ? LB_EXIT_OK : answered;
    struct link link = {.send = mpi_send, .receive = mpi_receive};
    int provided;
    bool lost = false;
    signal(SIGUSR1, end_before_run);
    signal(SIGINT, end_before_run);
    signal(SIGALRM, give_up_start);
    alarm(LAUNCH_START_S);
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return LB_EXIT_MACHINE;
    alarm(0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &link.self);
    MPI_Comm_size(MPI_COMM_WORLD, &link.count);
    signal(SIGUSR1, link.self == 0 ? interrupt_coordinator : SIG_IGN);
    if (link.self != 0)
        signal(SIGINT, SIG_IGN); /* only the coordinator handles SIGINT, and then ends the run */
    int code = take_part(&link, argc, argv, &lost);
    fflush(NULL);
    /* The launch command reads the code from the last words, and a single process returns it. Otherwise only MPI_Abort
     * makes mpirun end with this code. */
    bool code_arrives = launched || link.count == 1;
    if (link.self == 0 && (lost || (code && !code_arrives))) {
        /* MPI_Finalize would wait for a host that is gone, and mpirun with --enable-recovery waits for ever after a
         * rank has ended with a code other than 0. */
        say_last_words(code ? code : LB_EXIT_MACHINE);
        MPI_Abort(MPI_COMM_WORLD, code ? code : LB_EXIT_MACHINE);
    }
    if (lost) _exit(code);
    if (link.self == 0 && code) say_last_words(code);
    signal(SIGALRM, give_up_end);
    alarm(END_S);
    MPI_Finalize();
    fflush(NULL);
    /* Not by exit, which frees what threads may still use: those of a driver that did not return, and MPI's. */
    _exit(launched ? LB_EXIT_OK : code);
}
