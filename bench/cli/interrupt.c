/* interrupt: see interrupt.h. */
#include "bench/cli/interrupt.h"

#include <unistd.h>

#include "bench/base/err.h"
#include "bench/base/hangup.h"
#include "bench/servers/topo.h"

static volatile sig_atomic_t count;

static void on_signal(int number) {
    (void)number;
    count = count + 1;
    if (count >= 2) {
        topo_stop_all();
        _exit(LB_EXIT_INTERRUPTED);
    }
}

const volatile sig_atomic_t *interrupt_watch(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    hangup_handle(&action);
    return &count;
}
