/* test_url: drivers/url.c: every form, every refusal, and no password in any text. */
#include "bench/tests/unit.h"
#include "drivers/resolve.h"
#include "drivers/url.h"

TEST(test_all_parts) {
    static const struct {
        const char *text, *scheme, *user, *password, *host, *path;
        int port;
    } cases[] = {
        {"redis://127.0.0.1", "redis", "", "", "127.0.0.1", "", 6379},
        {"redis://127.0.0.1:7000", "redis", "", "", "127.0.0.1", "", 7000},
        {"redis://127.0.0.1:1/", "redis", "", "", "127.0.0.1", "", 1},
        {"redis://host.example:65535/3", "redis", "", "", "host.example", "3", 65535},
        {"redis://:secret@h", "redis", "", "secret", "h", "", 6379},
        {"redis://u@h", "redis", "u", "", "h", "", 6379},
        {"redis://u:p@h:9/a/b", "redis", "u", "p", "h", "a/b", 9},
        {"redis://u:p:q@h", "redis", "u", "p:q", "h", "", 6379},
        {"redis://u:p@q@h", "redis", "u", "p@q", "h", "", 6379},
        {"redis://u%40x:p%3a%2F%25@h/%20x", "redis", "u@x", "p:/%", "h", " x", 6379},
        {"redis://[::1]", "redis", "", "", "::1", "", 6379},
        {"redis://u:p@[fe80::1]:7/d", "redis", "u", "p", "fe80::1", "d", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct url url;
        struct lb_err err = {0};
        if (url_parse(&url, cases[i].text, 6379, &err) != 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_string_equal(url.scheme, cases[i].scheme);
        assert_string_equal(url.user, cases[i].user);
        assert_string_equal(url.password, cases[i].password);
        assert_int_equal(url.host_count, 1);
        assert_string_equal(url.host[0], cases[i].host);
        assert_int_equal(url.port[0], cases[i].port);
        assert_string_equal(url.path, cases[i].path);
    }
}

TEST(test_several_hosts) {
    struct url url;
    struct lb_err err = {0};
    assert_int_equal(url_parse(&url, "zk://a,b:1,[::1]:2,d/root", 2181, &err), 0);
    assert_int_equal(url.host_count, 4);
    static const char *const hosts[] = {"a", "b", "::1", "d"};
    static const int ports[] = {2181, 1, 2, 2181};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(url.host[i], hosts[i]);
        assert_int_equal(url.port[i], ports[i]);
    }
    assert_string_equal(url.path, "root");
    assert_int_equal(url_parse(&url, "zk://1,2,3,4,5,6,7,8", 1, &err), 0);
    assert_int_equal(url.host_count, URL_HOSTS_MAX);
}

/* The line says which part is wrong; a line about the form of all URLs would leave the search to the reader. */
TEST(test_refusals_leave_no_trace) {
    static const char *const bad[][2] = {
        {"", ""},
        {"redis", ""},
        {"redis:", ""},
        {"redis:/h", ""},
        {"://h", ""},
        {"redis://", "a host is missing"},
        {"redis://u:secret@h?x=1", ""},
        {"redis://u:secret@h/p#x", ""},
        {"redis:///path", ""},
        {"redis://u:secret@", ""},
        {"redis://:secret@:1", "a host is missing"},
        {"redis://u:secret@h:", "a port must be a number from 1 to 65535"},
        {"redis://u:secret@h:0", ""},
        {"redis://u:secret@h:65536", "a port must be a number"},
        {"redis://u:secret@h:123456", ""},
        {"redis://u:secret@h:-1", ""},
        {"redis://u:secret@h:1x", ""},
        {"redis://u:secret@h:1:2", ""},
        {"redis://u:secret@a,,b", "a host is missing"},
        {"redis://u:secret@a,", ""},
        {"redis://u:secret@[::1", "must end with ']'"},
        {"redis://u:secret@[::1]x", "may follow a ']'"},
        {"redis://u:secret@[]", ""},
        {"redis://u:secret%@h", "must follow a '%'"},
        {"redis://u:secret%4@h", ""},
        {"redis://u:secret%zz@h", ""},
        {"redis://u:secret%00@h", "zero byte"},
        {"redis://u:secret@h/%", ""},
        {"redis://u:secret@1,2,3,4,5,6,7,8,9", "too many hosts"},
        {"a-scheme-that-is-too-long://h", ""},
        {"h:6379", "begin with scheme://"},
        {"etcd://::1", "must stand in brackets"},
        {"etcd://2001:db8::7:2379", "must stand in brackets"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct url url = {.host_count = 77};
        struct lb_err err = {0};
        if (url_parse(&url, bad[i][0], 6379, &err) == 0) fail_msg("'%s' was taken", bad[i][0]);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_int_equal(url.host_count, 77); /* untouched */
        if (!strstr(err.text, bad[i][1]) || strstr(err.text, "secret"))
            fail_msg("'%s': %s", bad[i][0], err.text);
    }
}

TEST(test_what_is_too_long_is_refused) {
    static const struct {
        const char *before, *after;
        size_t fits;
    } parts[] = {{"redis://", "@h", 255},
                 {"redis://u:", "@h", 4095},
                 {"redis://", "", 127},
                 {"redis://h/", "", 255},
                 {"redis://[", "]", 127}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t len = parts[i].fits; len <= parts[i].fits + 1; len++) {
            char text[5000];
            struct url url;
            struct lb_err err = {0};
            int used = snprintf(text, sizeof text, "%s", parts[i].before);
            memset(text + used, 'x', len);
            snprintf(text + used + len, sizeof text - (size_t)used - len, "%s", parts[i].after);
            int failed = url_parse(&url, text, 1, &err) != 0;
            if (failed != (len > parts[i].fits))
                fail_msg("%s with %zu bytes", parts[i].before, len);
        }
    }
}

TEST(test_public_form) {
    static const char *const cases[][2] = {
        {"redis://u:secret@h:1/2", "redis://u:***@h:1/2"},
        {"redis://:secret@h", "redis://:***@h"},
        {"redis://u:sec@ret@h", "redis://u:***@h"},
        {"redis://u:se:cret@h", "redis://u:***@h"},
        {"redis://token@h", "redis://***@h"},
        {"redis://h.example", "redis://h.example"},
        {"redis://localhost", "redis://localhost"},
        {"redis://a:1,[::1]:2", "redis://a:1,[::1]:2"},
        {"file:///a/folder", "file:///a/folder"},
        {"redis://h:1/a@b", "redis://h:***@b"},
        {"redis://secret", "redis://***"}, /* its host was forgotten */
        {"redis://secret/1", "redis://***"},
        {"redis://:secret", "redis://***"},
        {"redis://:123456", "redis://***"},
        {"redis://u:secret", "redis://***"},
        {"redis://u@h:6379:secret", "redis://***"},
        {"redis://h:1#secret", "redis://h:1#***"},
        {"redis=redis://:p/q@h", "redis=redis://:***@h"},
        {"postgres://h:1/d?sslmode=require&sslpassword=x&y=z",
         "postgres://h:1/d?sslmode=require&sslpassword=***"},
        {"postgres://h:1/d?user=u&p%61ssword=x", "postgres://h:1/d?user=u&p%61ssword=***"},
        {"redis://h:1?pw=x", "redis://h:1?pw=***"},
        {"redis://h:1?x", "redis://h:1?***"},
        {"postgres://h:5/d?password=a@b", "postgres://h:***"},
        {"redis://h:1/a?port=1", "redis://h:1/a?port=1"},
        {"u:secret@h", "u:***@h"},
        {"", ""},
        {"no URL at all", "no URL at all"},
        {"host=/run user=me password=x y",
         "host=/run user=me password=***"}, /* libpq's other form */
        {"PGPASSWORD=x", "PGPASSWORD=***"},
        {"h:6379,Password = x,ssl=true", "h:6379,Password =***"}, /* StackExchange.Redis */
        {"Server=h;Pwd=x;Port=3306", "Server=h;Pwd=***"},
        {"redis+cluster://h1,h2", "redis+cluster://h1,h2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        assert_string_equal(url_public(cases[i][0], out, sizeof out), cases[i][1]);
    }
    /* A buffer that is too small gets a cut text, and is never overrun. */
    char small[12];
    assert_string_equal(url_public("redis://u:secret@h", small, sizeof small), "redis://u:*");
}

/* Whatever printable character a secret holds, no part of it is shown, wherever people put it. */
TEST(test_no_part_of_a_secret_is_shown) {
    static const char *const forms[] = {"redis://u:%s@h:1/2",
                                        "redis://:%s@h",
                                        "nats://%s@h",
                                        "redis=redis://:%s@a,b",
                                        "postgres://h:1/d?password=%s",
                                        "postgres://h:1/d?p%%61ss=%s",
                                        "redis://h:1?any=%s",
                                        "postgres://h:1/d;user=u;password=%s",
                                        "mysql://h:1/d&password=%s",
                                        "redis://h:1 password=%s",
                                        "etcd://h:1/?user=a password=%s",
                                        "postgres://h:1/d?sslmode=a;password=%s",
                                        "redis://:%s",
                                        "redis://u@h:1:%s",
                                        "postgres://u@h/d?x=y&token=%s",
                                        "host=h password=%s",
                                        "h:1,password=%s",
                                        "password=%s"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        for (int c = 0x20; c < 0x7f; c++) {
            char secret[8], text[64], out[80];
            struct lb_err err = {0};
            struct url url;
            if (f == 2 && c == ':') continue; /* a user and a password */
            if (c == '@' && forms[f][strlen(forms[f]) - 3] == ':')
                continue; /* a password and a host */
            snprintf(secret, sizeof secret, "Zq%cWv", c);
            snprintf(text, sizeof text, forms[f], secret);
            url_public(text, out, sizeof out);
            if (strstr(out, "Zq") || strstr(out, "Wv"))
                fail_msg("'%s' is shown as '%s'", text, out);
            if (url_parse(&url, text, 1, &err) != 0 &&
                (strstr(err.text, "Zq") || strstr(err.text, "Wv")))
                fail_msg("'%s': %s", text, err.text);
            url_hide(text);
            if (strstr(text, "Zq") || strstr(text, "Wv")) fail_msg("it is left as '%s'", text);
        }
    }
}

TEST(test_what_each_machine_has_for_itself) {
    static const char *const local[] = {"redis://127.0.0.1:6379",
                                        "redis://127.8.0.1",
                                        "etcd://LocalHost:2379",
                                        "etcd://u:p@[::1]:2379",
                                        "etcd://[::ffff:127.0.0.1]:2379",
                                        "nats://0.0.0.0:4222",
                                        "zookeeper://10.0.0.1:2181,127.0.0.1:2182",
                                        "postgres://%2Fvar%2Frun/db?x=1"};
    static const char *const others[] = {"redis://10.0.0.1:6379",  "redis://localhost.example.org",
                                         "redis://128.0.0.1",      "etcd://[fe80::1]:2379",
                                         "redis://u:127.0.0.1@db", "127.0.0.1"};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        if (!url_is_local(local[i])) fail_msg("%s is of one machine", local[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (url_is_local(others[i])) fail_msg("%s is not of one machine", others[i]);
    }
}

TEST(test_a_slash_in_a_password_is_told) {
    struct url url;
    struct lb_err err = {0};
    assert_int_equal(url_parse(&url, "redis://u:12/ab@real:6379", 1, &err), -1);
    assert_non_null(strstr(err.text, "%2F"));
    assert_null(strstr(err.text, "12"));
}

/* A route changes where a connection goes; a URL for others keeps its user, path and query. */
TEST(routes_lead_to_the_wire) {
    static const struct lb_route routes[] = {{"a.example", 1, "127.0.0.1", 4001},
                                             {"a.example", 2, "127.0.0.1", 4002}};
    static const struct {
        const char *host;
        int port;
        const char *dial_host;
        int dial_port;
    } hosts[] = {{"a.example", 1, "127.0.0.1", 4001},
                 {"a.example", 2, "127.0.0.1", 4002},
                 {"a.example", 3, "a.example", 3},
                 {"b.example", 1, "b.example", 1}};
    const struct lb_server server = {.routes = routes, .route_count = 2}, direct = {0};
    const char *url = "redis://u:p@q@a.example:1,a.example:2/0?x=1";
    char text[100];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const char *host = hosts[i].host;
        int port = hosts[i].port;
        lb_route(&server, &host, &port);
        assert_string_equal(host, hosts[i].dial_host);
        assert_int_equal(port, hosts[i].dial_port);
    }
    size_t len = lb_route_url(&server, url, NULL, 0);
    assert_int_equal(lb_route_url(&server, url, text, sizeof text), len);
    assert_string_equal(text, "redis://u:p@q@127.0.0.1:4001,127.0.0.1:4002/0?x=1");
    assert_int_equal(strlen(text), len);
    lb_route_url(&direct, url, text, sizeof text);
    assert_string_equal(text, url);
}

TEST_MAIN(NULL, NULL)
