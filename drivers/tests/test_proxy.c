/* test_proxy: the proxy of the conformance suite loses what it should, where it should, and nothing else. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/tests/proxy.h"

struct pair {
    struct proxy *proxy;
    int listen_fd, client_fd, server_fd;
};

static int socket_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void limit(int fd, int ms) {
    struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

static void set_up(struct pair *pair) {
    struct lb_err err = {0};
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pair->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(pair->listen_fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(pair->listen_fd, 8), 0);
    getsockname(pair->listen_fd, (struct sockaddr *)&address, &len);
    pair->proxy = proxy_start(ntohs(address.sin_port), &err);
    assert_non_null(pair->proxy);
    pair->client_fd = socket_to(proxy_port(pair->proxy));
    pair->server_fd = accept(pair->listen_fd, NULL, NULL);
    assert_true(pair->server_fd >= 0);
    limit(pair->client_fd, 20000);
    limit(pair->server_fd, 20000);
}

static void tear_down(struct pair *pair) {
    proxy_stop(pair->proxy);
    close(pair->client_fd);
    close(pair->server_fd);
    close(pair->listen_fd);
}

/* Reads until `len` bytes or the end; the count, or -errno. */
static ssize_t read_up_to(int fd, char *data, size_t len) {
    size_t used = 0;
    while (used < len) {
        ssize_t got = recv(fd, data + used, len - used, 0);
        if (got < 0) return used ? (ssize_t)used : -errno;
        if (got == 0) break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static void test_forwards(void **state) {
    (void)state;
    struct pair pair;
    char data[16] = "";
    set_up(&pair);
    assert_int_equal(write(pair.client_fd, "question", 8), 8);
    assert_int_equal(read_up_to(pair.server_fd, data, 8), 8);
    assert_memory_equal(data, "question", 8);
    assert_int_equal(write(pair.server_fd, "answer", 6), 6);
    assert_int_equal(read_up_to(pair.client_fd, data, 6), 6);
    assert_memory_equal(data, "answer", 6);
    assert_int_equal(proxy_answer_bytes(pair.proxy), 6);
    assert_false(proxy_struck(pair.proxy));
    close(pair.server_fd);
    assert_int_equal(read_up_to(pair.client_fd, data, 1), 0);
    tear_down(&pair);
}

static void test_cuts_after_bytes(void **state) {
    (void)state;
    for (uint64_t pass = 0; pass < 6; pass++) {
        struct pair pair;
        char data[16] = "";
        set_up(&pair);
        proxy_arm(pair.proxy, PROXY_CUT, pass);
        assert_int_equal(write(pair.client_fd, "q", 1), 1);
        assert_int_equal(read_up_to(pair.server_fd, data, 1), 1); /* requests pass */
        assert_false(proxy_struck(pair.proxy));
        assert_int_equal(write(pair.server_fd, "answer", 6), 6);
        assert_int_equal(read_up_to(pair.client_fd, data, 6), (ssize_t)pass);
        assert_memory_equal(data, "answer", (size_t)pass);
        assert_true(proxy_struck(pair.proxy));
        assert_true(read_up_to(pair.server_fd, data, 1) <= 0); /* the server's side ends too */
        /* New connections are of no use until it heals. */
        close(pair.client_fd);
        pair.client_fd = socket_to(proxy_port(pair.proxy));
        assert_true(read_up_to(pair.client_fd, data, 1) <= 0);
        proxy_heal(pair.proxy);
        close(pair.client_fd);
        close(pair.server_fd);
        pair.client_fd = socket_to(proxy_port(pair.proxy));
        pair.server_fd = accept(pair.listen_fd, NULL, NULL);
        assert_int_equal(write(pair.server_fd, "again", 5), 5);
        assert_int_equal(read_up_to(pair.client_fd, data, 5), 5);
        tear_down(&pair);
    }
}

static void test_an_answer_that_just_fits_passes(void **state) {
    (void)state;
    struct pair pair;
    char data[16] = "";
    set_up(&pair);
    proxy_arm(pair.proxy, PROXY_CUT, 6);
    assert_int_equal(write(pair.server_fd, "answer", 6), 6);
    assert_int_equal(read_up_to(pair.client_fd, data, 6), 6);
    assert_false(proxy_struck(pair.proxy));
    tear_down(&pair);
}

static void test_resets(void **state) {
    (void)state;
    struct pair pair;
    char data[16] = "";
    set_up(&pair);
    proxy_arm(pair.proxy, PROXY_RESET, 0);
    assert_int_equal(write(pair.server_fd, "answer", 6), 6);
    assert_int_equal(read_up_to(pair.client_fd, data, 6), -ECONNRESET);
    tear_down(&pair);
}

static void test_strikes_at_once(void **state) {
    (void)state;
    struct pair pair;
    char data[16] = "";
    set_up(&pair);
    proxy_strike(pair.proxy, PROXY_CUT);
    assert_int_equal(read_up_to(pair.client_fd, data, 1), 0);
    assert_int_equal(read_up_to(pair.server_fd, data, 1), 0);
    tear_down(&pair);
}

static void test_loses_answers(void **state) {
    (void)state;
    struct pair pair;
    char data[16] = "";
    set_up(&pair);
    proxy_arm(pair.proxy, PROXY_LOSE_ANSWERS, 2);
    assert_int_equal(write(pair.server_fd, "answer", 6), 6);
    assert_int_equal(read_up_to(pair.client_fd, data, 2), 2);
    limit(pair.client_fd, 100);
    assert_int_equal(read_up_to(pair.client_fd, data, 1), -EAGAIN); /* silence, not the end */
    assert_int_equal(write(pair.client_fd, "more", 4), 4);
    assert_int_equal(read_up_to(pair.server_fd, data, 4), 4); /* requests still pass */
    proxy_heal(pair.proxy);
    limit(pair.client_fd, 20000);
    assert_true(read_up_to(pair.client_fd, data, 1) <= 0); /* bytes of it are missing: it ends */
    tear_down(&pair);
}

static void test_loses_requests(void **state) {
    (void)state;
    struct pair pair;
    char data[16] = "";
    set_up(&pair);
    proxy_arm(pair.proxy, PROXY_LOSE_REQUESTS, 0);
    assert_true(proxy_struck(pair.proxy));
    assert_int_equal(write(pair.client_fd, "question", 8), 8);
    limit(pair.server_fd, 100);
    assert_int_equal(read_up_to(pair.server_fd, data, 1), -EAGAIN);
    assert_int_equal(write(pair.server_fd, "answer", 6), 6);
    assert_int_equal(read_up_to(pair.client_fd, data, 6), 6); /* answers still pass */
    /* Not even the client's end arrives, until it heals. */
    shutdown(pair.client_fd, SHUT_WR);
    assert_int_equal(read_up_to(pair.server_fd, data, 1), -EAGAIN);
    proxy_heal(pair.proxy);
    limit(pair.server_fd, 20000);
    assert_true(read_up_to(pair.server_fd, data, 1) <= 0);
    tear_down(&pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forwards),
        cmocka_unit_test(test_cuts_after_bytes),
        cmocka_unit_test(test_an_answer_that_just_fits_passes),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_strikes_at_once),
        cmocka_unit_test(test_loses_answers),
        cmocka_unit_test(test_loses_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
