/* The parts of the etcd driver that need no server: gRPC's frames however they are split, keys,
 * ranges and addresses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>

#include "bench/option/option.h"
#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"
#include "drivers/etcd/http.h"
#include "drivers/etcd/session.h"

struct heard {
    int count, stop_at; /* stop_at: each says no at that message; 0 = never */
    size_t len[8];
    uint8_t text[8][64];
};

static int hear(void *arg, const uint8_t *message, size_t len) {
    struct heard *heard = arg;
    assert_true(heard->count < 8 && len <= sizeof heard->text[0]);
    memcpy(heard->text[heard->count], message, len);
    heard->len[heard->count++] = len;
    return heard->count == heard->stop_at ? -1 : 0;
}

static size_t add_frame(uint8_t *out, size_t used, const char *text, size_t len) {
    cut_head(out + used, len);
    memcpy(out + used + CUT_HEAD_BYTES, text, len);
    return used + CUT_HEAD_BYTES + len;
}

TEST(a_frames_head) {
    uint8_t head[CUT_HEAD_BYTES];
    cut_head(head, 0x01020304);
    assert_memory_equal(head, "\0\1\2\3\4", CUT_HEAD_BYTES);
}

/* Three messages, one of them empty, cut at every two places. */
TEST(frames_survive_any_split) {
    uint8_t bytes[64], buffer[32];
    size_t len = add_frame(bytes, 0, "first", 5);
    len = add_frame(bytes, len, "", 0);
    len = add_frame(bytes, len, "\0\nlast", 6);
    for (size_t one = 0; one <= len; one++) {
        for (size_t two = one; two <= len; two++) {
            struct heard heard = {0};
            struct cutter cutter = {buffer, sizeof buffer, 0, hear, &heard};
            assert_int_equal(cut_feed(&cutter, bytes, one), 0);
            assert_int_equal(cut_feed(&cutter, bytes + one, two - one), 0);
            assert_int_equal(cut_feed(&cutter, bytes + two, len - two), 0);
            assert_int_equal(cut_end(&cutter), 0);
            assert_int_equal(heard.count, 3);
            assert_int_equal(heard.len[0], 5);
            assert_memory_equal(heard.text[0], "first", 5);
            assert_int_equal(heard.len[1], 0);
            assert_int_equal(heard.len[2], 6);
            assert_memory_equal(heard.text[2], "\0\nlast", 6);
        }
    }
}

TEST(frames_that_are_refused) {
    uint8_t bytes[64], buffer[CUT_HEAD_BYTES + 8];
    struct heard heard = {0};
    struct cutter cutter = {buffer, sizeof buffer, 0, hear, &heard};
    size_t len = add_frame(bytes, 0, "12345678", 8); /* just fits */
    assert_int_equal(cut_feed(&cutter, bytes, len), 0);
    assert_int_equal(heard.count, 1);
    len = add_frame(bytes, 0, "123456789", 9);
    assert_int_equal(cut_feed(&cutter, bytes, len), -1);
    cutter.used = 0;
    memcpy(bytes, "\0\xff\xff\xff\xff", 5); /* 4 GB to come: refused at the head */
    assert_int_equal(cut_feed(&cutter, bytes, 5), -1);
    cutter.used = 0;
    len = add_frame(bytes, 0, "zip", 3);
    bytes[0] = 1; /* compressed */
    assert_int_equal(cut_feed(&cutter, bytes, len), -1);
    cutter.used = 0;
    bytes[0] = 0;
    assert_int_equal(cut_feed(&cutter, bytes, len - 1), 0);
    assert_int_equal(cut_end(&cutter), -1); /* ended within a message */
    heard = (struct heard){.stop_at = 1};
    cutter.used = 0;
    assert_int_equal(cut_feed(&cutter, bytes, len), -1); /* the reader said no */
}

TEST(keys_of_a_mutex) {
    char key[ETCD_KEY_MAX];
    size_t len = etcd_lock_key("orders", 6, 0x694d7a1f03c2b50b, key);
    assert_int_equal(len, strlen("orders/694d7a1f03c2b50b"));
    assert_memory_equal(key, "orders/694d7a1f03c2b50b", len);
    len = etcd_lock_key("a\xff", 2, 7, key); /* Go's %x: no leading zeros */
    assert_int_equal(len, 4);
    assert_memory_equal(key, "a\xff/7", 4);
    char name[LB_KEY_MAX];
    memset(name, 'n', sizeof name);
    assert_int_equal(etcd_lock_key(name, sizeof name, INT64_MAX, key),
                     ETCD_KEY_MAX - ETCD_ROOT_MAX);
}

TEST(ends_of_prefixes) {
    static const struct {
        const char *prefix, *end;
        size_t prefix_len, end_len;
    } cases[] = {
        {"foo/", "foo0", 4, 4},       {"a", "b", 1, 1},     {"a\xff", "b", 2, 1},
        {"a\xff\xff\xff", "b", 4, 1}, {"\xff", "\0", 1, 1}, {"\xff\xff", "\0", 2, 1},
        {"\xfe\xff", "\xff", 2, 1},   {"a\0", "a\1", 2, 2}, {"\x7f", "\x80", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char end[8];
        size_t len = etcd_prefix_end(cases[i].prefix, cases[i].prefix_len, end);
        assert_int_equal(len, cases[i].end_len);
        assert_memory_equal(end, cases[i].end, len);
    }
}

/* --- which address of a host is taken; nobody there speaks etcd's protocol --- */

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
