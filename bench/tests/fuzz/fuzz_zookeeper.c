/* fuzz_zookeeper: a server that answers ZooKeeper's four-letter words, or something else. The sessions are those of
 * ZooKeeper's own library, and so are not tried here. */
#include <netinet/in.h>

#include "bench/tests/fuzz/fuzz.h"
#include "bench/tests/fuzz/fuzzed_server.h"
#include "drivers/facts.h"
#include "drivers/zookeeper/session.h"

/* Asks a word; whether there is an answer. */
static bool ask(const char *word, char *answer, size_t size) {
    struct sockaddr_storage host = {.ss_family = AF_INET};
    ssize_t len = zk_ask(&host, sizeof(struct sockaddr_in), word, answer, size, lb_now() + LB_S_NS);
    if (len >= (ssize_t)size || (len >= 0 && answer[len] != '\0')) abort();
    return len > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char answer[8192];
    struct lb_facts facts = {0};
    fuzzed_server_begin(data, size);
    if (ask("srvr", answer, sizeof answer)) zk_read_srvr(answer, &facts);
    if (ask("conf", answer, sizeof answer)) zk_read_conf(answer, &facts);
    if (facts.count > LB_FACTS_MAX) abort();
    return 0;
}
