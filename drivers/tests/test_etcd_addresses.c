/* test_etcd_addresses: which address of a host is taken. Nobody there speaks etcd's protocol: only connections are tried. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>

#include "bench/option/option.h"
#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"
#include "drivers/etcd/session.h"

#define TWO "two.addresses.invalid"
#define SILENT "127.0.0.2"

/* In front of the C library's. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret) {
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!host || strcmp(host, TWO) != 0) return real(host, service, hints, ret);
    if (real(SILENT, service, hints, ret) != 0) return EAI_FAIL;
    return real("127.0.0.1", service, hints, &(*ret)->ai_next);
}

/* The first address is of a network that drops all packets: the kernel would go on trying it for two minutes, and no
 * Ctrl-C would end the wait. */
TEST(an_address_that_does_not_answer_is_passed_over) {
    int port, one = 1, listener = loopback_listen(&port), waiting[4];
    struct sockaddr_in silent = loopback_at(port);
    inet_pton(AF_INET, SILENT, &silent.sin_addr);
    int full = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(full, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    assert_int_equal(bind(full, (struct sockaddr *)&silent, sizeof silent), 0);
    assert_int_equal(listen(full, 0), 0);
    /* Once nothing more fits into its queue, the kernel drops what comes. */
    for (int i = 0; i < 4; i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(waiting[i], (struct sockaddr *)&silent, sizeof silent);
    }
    char url[80], taken[80];
    struct lb_err err = {0};
    struct arena arena = {0};
    struct etcd_server etcd = {0};
    const char *const urls[] = {url};
    const struct lb_connector *connector = backend_etcd.connector;
    struct lb_server server = {
        .backend = &backend_etcd,
        .urls = urls,
        .url_count = 1,
        .state = &etcd,
        .options = options_new(connector->options, connector->options_bytes, &arena, &err)};
    snprintf(url, sizeof url, "etcd://" TWO ":%d", port);
    snprintf(taken, sizeof taken, TWO ":%d:127.0.0.1", port);
    alarm(60);
    if (connector->open(&server, &err) != 0) fail_msg("%s", err.text);
    alarm(0);
    assert_string_equal(etcd.http.endpoint[0].resolve->data, taken);
    connector->close(&server);
    arena_done(&arena);
    for (int i = 0; i < 4; i++) close(waiting[i]);
    close(full);
    close(listener);
}

TEST_MAIN(NULL, NULL)
