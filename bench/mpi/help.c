/* help: see help.h. */
#include "bench/mpi/help.h"

#include <stdbool.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/cli/complete.h"
#include "bench/mpi/launch.h"

#define PROGRAM "lockbench-hosts"

static const char summary[] = "`lockbench run` with the clients on several machines";

static const struct example calls[] = {
    {PROGRAM " launch mpirun --enable-recovery --hostfile HOSTS -np N " PROGRAM " run ...",
     "starts N processes: the first is the coordinator, the others have the clients"},
    {"mpirun ... | srun ... " PROGRAM " run ...", "the same without a watch over mpirun"},
    {PROGRAM " run --help", "what can be asked of a run"},
    {PROGRAM " --version", "version, commit and libraries"},
    {NULL, NULL},
};

void help_usage(FILE *out) {
    fprintf(out, PROGRAM ": %s (bench/HOSTS.md)\n\n", summary);
    for (const struct example *call = calls; call->line; call++)
        fprintf(out, "  %s\n      %s\n", call->line, call->about);
}

static void offer(const char *typed, const char *word, const char *about, FILE *out) {
    if (strncmp(word, typed, strlen(typed)) == 0) fprintf(out, "%s\t%s\n", word, about);
}

void help_complete(const char *own_name, int count, char *const *words, FILE *out) {
    const char *typed = count > 0 ? words[count - 1] : "";
    bool launches = count > 1 && strcmp(words[0], "launch") == 0;
    if (launches) {
        int used = launch_program_at(own_name, words + 1) + 2;
        if (used == 2 || used >= count) { /* the word belongs to the launcher */
            offer(typed, PROGRAM, summary, out);
            fputs(":files\n", out);
            return;
        }
        words += used;
        count -= used;
    }
    if (count > 1) {
        if (strcmp(words[0], command_run.name) == 0) complete_words(count, words, out);
        return;
    }
    offer(typed, command_run.name, command_run.summary, out);
    if (launches) return;
    offer(typed, "launch", "starts a launcher of MPI programs, and watches over it", out);
    offer(typed, "--help", "how it is called", out);
    offer(typed, "--version", "version, commit and libraries", out);
}
