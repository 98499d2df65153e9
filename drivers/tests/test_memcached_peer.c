/* test_memcached_peer: the requests of memcached-add, and how it handles answers: flags in any
 * order, the rule of whole seconds, answers that are odd, cut or missing. */
#include "drivers/tests/fake_session.h"

#include "drivers/registry.h"

/* Each connection begins with a question. */
#define HELLO "version\r\n"
#define PLAY(fake, ...)                                                                            \
    FAKE_PLAY(fake, "memcached", {.await = HELLO, .say = "VERSION 1.6.18\r\n"}, __VA_ARGS__)

static struct fake_session fake_new(void) {
    return (struct fake_session){.lock = registry_lock("memcached-add"), .release = true};
}

TEST(test_whole_seconds) {
    /* A time-to-live of n seconds lives n-2 to n: so the lease is rounded up, and two more are
     * asked for. */
    static const struct {
        int64_t lease_ns;
        const char *flag;
        int64_t sure_s;
    } cases[] = {
        {1, " T3 ", 1},
        {LB_MS_NS, " T3 ", 1},
        {LB_S_NS, " T3 ", 1},
        {LB_S_NS + 1, " T4 ", 2},
        {1500 * LB_MS_NS, " T4 ", 2},
        {10 * LB_S_NS, " T12 ", 10},
        {30 * 24 * 3600 * LB_S_NS, " T2592000 ", 2591998}, /* more would be taken for a date */
        {365 * 24 * 3600 * LB_S_NS, " T2592000 ", 2591998},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        fake.lease_ns = cases[i].lease_ns;
        fake.renew = true;
        char *seen = PLAY(&fake, {.await = "\r\n", .say = "HD c1\r\n"},
                          {.await = " C1", .say = "HD c2\r\n"}, {.await = "md ", .say = "HD\r\n"});
        assert_int_equal(fake.acquired, LB_OK);
        assert_int_equal(fake.renewed, LB_OK);
        char *second = strstr(seen, " C1");
        assert_non_null(second);
        if (!strstr(seen, cases[i].flag))
            fail_msg("lease %lld: %s", (long long)cases[i].lease_ns, seen);
        /* Counted from before the request was sent: what the renewal, the last, promises. */
        assert_true(fake.grant.lease_end_ns >= fake.renew_sent_ns + cases[i].sure_s * LB_S_NS);
        assert_true(fake.grant.lease_end_ns <= lb_now() + cases[i].sure_s * LB_S_NS);
        free(seen);
    }
}

TEST(test_what_is_sent) {
    struct fake_session fake = fake_new();
    fake.key = "orders:7";
    char *seen = PLAY(&fake, {.await = "\r\n", .say = "HD c77\r\n"},
                      {.await = "md orders:7 C77\r\n", .say = "HD\r\n"});
    assert_int_equal(fake.released, LB_OK);
    assert_int_equal(fake.grant.token, 77);
    assert_int_equal(fake.commands, 2);
    const char *sent = seen + strlen(HELLO);
    assert_int_equal(strncmp(sent, "ms orders:7 16 ME T12 c\r\n", 25), 0);
    assert_int_equal(strspn(sent + 25, "0123456789abcdef"), 16); /* the owner */
    assert_string_equal(sent + 25 + 16, "\r\nmd orders:7 C77\r\n");
    free(seen);
}

TEST(test_flags) {
    static const struct {
        const char *answer;
        uint64_t token;
    } cases[] = {
        {"HD c1\r\n", 1},     {"HD c18446744073709551615\r\n", UINT64_MAX},
        {"HD Oc5 c7\r\n", 7}, /* an opaque that looks alike */
        {"HD k c9 b\r\n", 9}, {"HD kc3 c4\r\n", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        fake.release = false;
        free(PLAY(&fake, {.await = "\r\n", .say = cases[i].answer, .piece = 2}));
        assert_int_equal(fake.acquired, LB_OK);
        if (fake.grant.token != cases[i].token)
            fail_msg("'%s' gave token %llu", cases[i].answer, (unsigned long long)fake.grant.token);
    }
}

TEST(test_answers_to_acquire) {
    static const struct {
        const char *answer;
        enum lb_outcome outcome;
    } cases[] = {
        {"NS\r\n", LB_BUSY},
        {"NS c5\r\n", LB_BUSY},
        {"CLIENT_ERROR bad data chunk\r\n", LB_REFUSED},
        {"ERROR\r\n", LB_REFUSED}, /* too old for the meta protocol */
        {"SERVER_ERROR out of memory storing object\r\n", LB_BROKEN},
        {"STORED\r\n", LB_BROKEN},
        {"\r\n", LB_BROKEN},
        {"HD\r\n", LB_REFUSED}, /* granted, but without the number that frees it: -C */
        {"HD c0\r\n", LB_REFUSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        free(PLAY(&fake, {.await = "\r\n", .say = cases[i].answer}));
        if (fake.acquired != cases[i].outcome)
            fail_msg("'%s' gave %s", cases[i].answer, lb_outcome_name(fake.acquired));
        if (fake.acquired != LB_BUSY) assert_true(fake.err.code != 0);
    }
}

TEST(test_answers_to_release_and_renew) {
    static const struct {
        const char *answer;
        enum lb_outcome outcome;
    } cases[] = {{"EX\r\n", LB_LOST},
                 {"NF\r\n", LB_LOST},
                 {"ERROR\r\n", LB_REFUSED},
                 {"SERVER_ERROR x\r\n", LB_BROKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        fake.renew = true;
        free(PLAY(&fake, {.await = "\r\n", .say = "HD c1\r\n"},
                  {.await = " C1", .say = cases[i].answer},
                  {.await = "md ", .say = cases[i].answer}));
        assert_int_equal(fake.acquired, LB_OK);
        assert_int_equal(fake.renewed, cases[i].outcome);
        assert_int_equal(fake.released, cases[i].outcome);
    }
}

TEST(test_the_renewed_number_frees) {
    struct fake_session fake = fake_new();
    fake.renew = true;
    char *seen = PLAY(&fake, {.await = "\r\n", .say = "HD c41\r\n"},
                      {.await = " C41 c\r\n", .say = "HD c42\r\n"},
                      {.await = "md k C42\r\n", .say = "HD\r\n"});
    assert_int_equal(fake.renewed, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    /* the fencing token is the grant's, whatever is written later */
    assert_int_equal(fake.grant.token, 41);
    free(seen);
}

TEST(test_cut_anywhere) {
    static const char answer[] = "HD c12\r\n";
    for (size_t len = 1; len < sizeof answer - 1; len++) {
        struct fake_session fake = fake_new();
        free(PLAY(&fake, {.await = "\r\n", .say = answer, .say_len = len, .then = PEER_CLOSES}));
        assert_int_equal(fake.acquired, LB_UNKNOWN);
        /* Which server it was; one that has answered is not suspected of TLS. */
        assert_int_equal(strncmp(fake.err.text, "memcached at 127.0.0.1:", 23), 0);
        assert_non_null(strstr(fake.err.text, ": the server closed the connection"));
        assert_null(strstr(fake.err.text, "TLS"));
    }
}

/* A server that speaks TLS waits for our greeting, or hangs up. */
TEST(test_a_server_that_never_answered) {
    struct fake_session fake = fake_new();
    fake.refused = true;
    free(FAKE_PLAY(&fake, "memcached", {.await = HELLO, .say = "", .then = PEER_CLOSES}));
    assert_int_equal(fake.connected, -1);
    assert_non_null(strstr(fake.err.text, "if the server wants TLS, write memcacheds://"));
}

TEST(test_settling) {
    /* The fake session's grant is new, so it has no owner id: any value in the answer counts as
     * another client's. */
    struct fake_session nothing = fake_new(), anothers = fake_new(), odd = fake_new();
    nothing.settle = anothers.settle = odd.settle = true;
    free(PLAY(&nothing, {.await = "mg k v c\r\n", .say = "EN\r\n"}));
    assert_int_equal(nothing.settled, LB_OK);
    char *seen =
        PLAY(&anothers,
             {.await = "mg k v c\r\n", .say = "VA 16 c9\r\n0123456789abcdef\r\n", .piece = 3});
    assert_int_equal(anothers.settled, LB_OK);
    assert_null(strstr(seen, "md ")); /* left alone */
    free(seen);
    /* A stranger's may be longer than a line may be, and may look like one. */
    static char longer[6100];
    int len = snprintf(longer, sizeof longer, "VA 6000 c9\r\n");
    memset(longer + len, 'x', 6000);
    memcpy(longer + len + 5000, "\r\n", 2);
    memcpy(longer + len + 6000, "\r\n", 3);
    struct fake_session big = fake_new();
    big.settle = true;
    free(PLAY(&big, {.await = "mg k v c\r\n", .say = longer}));
    assert_int_equal(big.settled, LB_OK);
    free(PLAY(&odd, {.await = "mg k v c\r\n", .say = "SERVER_ERROR busy\r\n"}));
    assert_int_not_equal(odd.settled, LB_OK); /* not sure is not settled */
}

/* memcached at its -c answers so and hangs up, or takes no connection; neither is a session. */
TEST(test_too_many_clients) {
    struct fake_session full = fake_new(), silent = fake_new();
    full.refused = silent.refused = true;
    free(FAKE_PLAY(&full, "memcached",
                   {.await = HELLO, .say = "ERROR Too many open connections\r\n"}));
    assert_int_equal(full.connected, -1);
    assert_non_null(strstr(full.err.text, "raise its -c"));
    silent.connect_ns = 100 * LB_MS_NS;
    free(FAKE_PLAY(&silent, "memcached", {.await = HELLO}));
    assert_int_equal(silent.connected, -1);
}

TEST_MAIN(NULL, NULL)
