/* exit_codes: see exit_codes.h. */
#include "bench/cli/exit_codes.h"

#include <stddef.h>

#include "bench/base/err.h"

const struct exit_code exit_codes[] = {
    {LB_EXIT_OK, "fine"},
    {LB_EXIT_USAGE, "usage or input"},
    {LB_EXIT_MACHINE,
     "a server or the machine; a run without a grant in a measured window; a control that was not "
     "caught; a real lock that got stuck or starved its clients"},
    {LB_EXIT_VIOLATED,
     "exclusion violated, or a lease outlived; `check`: a cell is worse than its driver states"},
    {LB_EXIT_REGRESSION,
     "`compare`, `history --gate`: a figure or a lock got worse; `plan`: no lock carries the load; "
     "`run --slo`: a promise is broken"},
    {LB_EXIT_INCONCLUSIVE,
     "`compare`, `history --gate`, `plan`, `capacity`, `run --slo`: the measurements are too few or "
     "too noisy to say"},
    {HOLD_LOST, "`hold`: the lock was lost, and the command got SIGTERM"},
    {HOLD_NOT_GRANTED, "`hold`: not granted within `--wait`"},
    {HOLD_FAILED, "`hold`: the server or the lock failed"},
    {HOLD_CANNOT_RUN, "`hold`: the command can't be run"},
    {HOLD_NO_COMMAND, "`hold`: the command was not found"},
    {LB_EXIT_INTERRUPTED, "interrupted; what was measured is saved"},
    {0, NULL},
};
