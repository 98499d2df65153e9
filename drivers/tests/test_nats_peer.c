/* test_nats_peer: the requests of nats-kv, and how it handles answers: cut into pieces, between
 * PINGs, odd, stale, long, or missing. */
#include "drivers/tests/fake_session.h"

#include "drivers/registry.h"

#define INFO                                                                                       \
    "INFO {\"server_id\":\"x\",\"version\":\"2.9.10\",\"headers\":true,\"jetstream\":true} \r\n"
#define NOTHING NOTHING_OF(2)
#define NOTHING_OF(number)                                                                         \
    "HMSG i." #number " 1 34 34\r\nNATS/1.0 404 Message Not Found\r\n\r\n\r\n"
#define STORED(number, sequence)                                                                   \
    "MSG i." #number " 1 26\r\n{\"stream\":\"KV_x\",\"seq\":" #sequence "}\r\n"
#define WRONG_SEQUENCE                                                                             \
    "MSG i.3 1 77\r\n"                                                                             \
    "{\"error\":{\"code\":400,\"err_code\":10071,\"description\":\"wrong last\"},\"seq\":0}      \r\n"

/* The steps of a session that stands, and has its bucket. */
#define GREETING                                                                                   \
    {.say = INFO}, {.await = "PING\r\n", .say = "PONG\r\n"}, {                                     \
        .await = "STREAM.CREATE", .say = "MSG i.1 1 2\r\n{}\r\n"                                   \
    }
#define FREE                                                                                       \
    { .await = "DIRECT.GET", .say = NOTHING }

static struct fake_session fake_new(void) {
    return (struct fake_session){.lock = registry_lock("nats-kv"), .release = true};
}

/* To read the system's certificates at each opening would take most of the time, and nobody here has one. */
FIXTURE(no_certificates) {
    return setenv("SSL_CERT_FILE", "/dev/null", 1);
}

TEST(test_what_is_sent) {
    struct fake_session fake = fake_new();
    fake.key = "orders/7";
    char *seen = FAKE_PLAY(&fake, "nats", GREETING, FREE, {.await = "HPUB", .say = STORED(3, 17)},
                           {.await = "KV-Operation: DEL\r\n", .say = STORED(4, 18)});
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_int_equal(fake.grant.token, 17);
    assert_int_equal(fake.commands, 3);
    static const char *const said[] = {
        "CONNECT {",
        "\"verbose\":false",
        "\"headers\":true",
        "\r\nSUB _INBOX.",
        "PUB $JS.API.STREAM.CREATE.KV_lockbench_10000ms _INBOX.",
        "\"max_msgs_per_subject\":1,",
        "\"max_age\":10000000000,",
        "PUB $JS.API.DIRECT.GET.KV_lockbench_10000ms.$KV.lockbench_10000ms.orders/7 _INBOX.",
        "HPUB $KV.lockbench_10000ms.orders/7 _INBOX.",
        "NATS/1.0\r\nNats-Expected-Last-Subject-Sequence: 0\r\n\r\n",
        "NATS/1.0\r\nKV-Operation: DEL\r\nNats-Expected-Last-Subject-Sequence: 17\r\n\r\n\r\n",
    };
    const char *at = seen;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        at = strstr(at, said[i]);
        if (!at) fail_msg("'%s' is missing, or out of order, in: %s", said[i], seen);
    }
    free(seen);
}

TEST(test_pieces_and_pings) {
    for (size_t piece = 1; piece < 9; piece++) {
        struct fake_session fake = fake_new();
        char *seen = FAKE_PLAY(
            &fake, "nats", {.say = INFO, .piece = piece}, {.await = "PING\r\n", .say = "PONG\r\n"},
            {.await = "STREAM.CREATE",
             .say = "PING\r\nMSG i.1 1 2\r\n{}\r\nPING\r\n",
             .piece = piece},
            {.await = "DIRECT.GET", .say = "+OK\r\n" NOTHING "PING\r\n", .piece = piece},
            {.await = "HPUB", .say = "INFO {}\r\n" STORED(3, 55), .piece = piece},
            {.await = "KV-Operation", .say = STORED(4, 56), .piece = piece});
        assert_int_equal(fake.connected, 0);
        assert_int_equal(fake.acquired, LB_OK);
        assert_int_equal(fake.released, LB_OK);
        int pongs = 0;
        for (const char *at = seen; (at = strstr(at, "PONG\r\n")); at++) pongs++;
        assert_int_equal(pongs, 3); /* the last PING is read with the next answer */
        free(seen);
    }
}

/* A server ends the connection of a client that does not answer its PINGs, also while a lock is held. */
TEST(test_pings_while_nothing_is_asked) {
    struct fake_session fake = fake_new();
    fake.hold_ns = 5500 * LB_MS_NS;
    char *seen =
        FAKE_PLAY(&fake, "nats", GREETING, FREE, {.await = "HPUB", .say = STORED(3, 17) "PING\r\n"},
                  {.await = "PONG\r\n", .say = "PING\r\n"},
                  {.await = "KV-Operation: DEL\r\n", .say = STORED(4, 18)});
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_int_equal(fake.commands, 3);
    char *end = strstr(seen, "KV-Operation");
    assert_non_null(end);
    *end = '\0';
    int pongs = 0;
    for (const char *at = seen; (at = strstr(at, "PONG\r\n")); at++) pongs++;
    assert_int_equal(pongs, 2);
    free(seen);
}

/* The name of a server that is gone may be gone, too; the others of its cluster serve. */
TEST(test_a_host_without_an_address_is_passed_over) {
    struct fake_session fake = fake_new();
    fake.account = "nowhere.invalid:1,"; /* the first host of the URL */
    free(FAKE_PLAY(&fake, "nats", GREETING, FREE, {.await = "HPUB", .say = STORED(3, 17)},
                   {.await = "KV-Operation: DEL\r\n", .say = STORED(4, 18)}));
    if (fake.connected != 0) fail_msg("%s", fake.err.text);
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
}

/* The next request learns of the end, and its outcome is unknown, so that it will be settled. */
TEST(test_the_end_while_nothing_is_asked) {
    struct fake_session fake = fake_new();
    fake.hold_ns = 2500 * LB_MS_NS;
    free(FAKE_PLAY(&fake, "nats", GREETING, FREE,
                   {.await = "HPUB", .say = STORED(3, 17) "PING\r\n", .then = PEER_CLOSES}));
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_UNKNOWN);
}

TEST(test_what_stands_there) {
    static char long_entry[7000];
    int len = snprintf(long_entry, sizeof long_entry,
                       "HMSG i.2 1 40 6040\r\nNATS/1.0\r\nNats-Sequence: 9\r\nX: 45678\r\n\r\n");
    memset(long_entry + len, '\n', 6000); /* a value that no line can be made of */
    memcpy(long_entry + len + 6000, "\r\n", 3);
    static const struct {
        const char *answer;
        enum lb_outcome outcome;
    } cases[] = {
        {"HMSG i.2 1 30 31\r\nNATS/1.0\r\nNats-Sequence: 9\r\n\r\nv\r\n", LB_BUSY},
        {"HMSG i.2 1 30 30\r\nNATS/1.0\r\nnats-sequence: 9\r\n\r\n\r\n", LB_BUSY},
        {long_entry, LB_BUSY},
        /* An answer to something older first. */
        {"MSG i.1 1 2\r\n{}\r\nHMSG i.2 1 30 31\r\nNATS/1.0\r\nNats-Sequence: 9\r\n\r\nv\r\n",
         LB_BUSY},
        {"HMSG i.2 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", LB_BROKEN},
        {"HMSG i.2 1 24 24\r\nNATS/1.0 408 Bad Req\r\n\r\n\r\n", LB_BROKEN},
        {"MSG i.2 1 2\r\n{}\r\n", LB_BROKEN},
        {"MSG i.2 1\r\n", LB_BROKEN},
        {"HMSG i.2 1 9 3\r\n", LB_BROKEN},
        {"-ERR 'Permissions Violation'\r\n", LB_BROKEN},
        {"\r\n", LB_BROKEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        free(FAKE_PLAY(&fake, "nats", GREETING, {.await = "DIRECT.GET", .say = cases[i].answer}));
        if (fake.acquired != cases[i].outcome)
            fail_msg("'%.60s' gave %s: %s", cases[i].answer, lb_outcome_name(fake.acquired),
                     fake.err.text);
    }
}

/* A server of a cluster drops reads of a bucket that it has not taken up yet: the session asks again before anybody uses it. */
TEST(test_a_new_bucket_of_a_cluster_that_is_not_ready) {
    static const char in_cluster[] =
        "INFO {\"version\":\"2.9.10\",\"headers\":true,\"jetstream\":true,\"cluster\":\"three\"} \r\n";
    struct fake_session fake = fake_new();
    fake.release = false;
    free(FAKE_PLAY(
        &fake, "nats", {.say = in_cluster}, {.await = "PING\r\n", .say = "PONG\r\n"},
        {.await = "STREAM.CREATE", .say = "MSG i.1 1 2\r\n{}\r\n"},
        {.await = "DIRECT.GET", .say = ""}, {.await = "PING\r\n", .say = "PONG\r\n"},
        {.await = "DIRECT.GET", .say = "HMSG i.3 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"},
        {.await = "PING\r\n", .say = "PONG\r\n"}, {.await = "DIRECT.GET", .say = NOTHING_OF(4)},
        {.await = "DIRECT.GET", .say = NOTHING_OF(5)}, {.await = "HPUB", .say = STORED(6, 17)}));
    if (fake.acquired != LB_OK)
        fail_msg("acquire gave %s: %s", lb_outcome_name(fake.acquired), fake.err.text);
}

/* A delete marker's sequence is what the entry builds on. */
TEST(test_after_a_delete_marker) {
    struct fake_session fake = fake_new();
    fake.release = false;
    char *seen = FAKE_PLAY(
        &fake, "nats", GREETING,
        {.await = "DIRECT.GET",
         .say = "HMSG i.2 1 50 50\r\nNATS/1.0\r\nKV-Operation: DEL\r\nNats-Sequence: 41\r\n"
                "\r\n\r\n"},
        {.await = "HPUB", .say = STORED(3, 99)});
    assert_int_equal(fake.acquired, LB_OK);
    assert_non_null(strstr(seen, "Nats-Expected-Last-Subject-Sequence: 41\r\n"));
    free(seen);
}

TEST(test_answers_to_a_write) {
    static const struct {
        const char *answer;
        enum lb_outcome outcome;
    } cases[] = {
        {WRONG_SEQUENCE, LB_BUSY},
        {"MSG i.3 1 70\r\n{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"no space\"}}         "
         "     \r\n",
         LB_BROKEN},
        {"HMSG i.3 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", LB_BROKEN},
        {"MSG i.3 1 2\r\n{}\r\n", LB_UNKNOWN},
        {"-ERR 'Stale Connection'\r\n", LB_UNKNOWN},
        {"HELLO\r\n", LB_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        free(FAKE_PLAY(&fake, "nats", GREETING, FREE, {.await = "HPUB", .say = cases[i].answer}));
        if (fake.acquired != cases[i].outcome)
            fail_msg("'%.60s' gave %s: %s", cases[i].answer, lb_outcome_name(fake.acquired),
                     fake.err.text);
    }
}

#define MARKER(number, sequence)                                                                   \
    "HMSG i." #number " 1 50 50\r\nNATS/1.0\r\nKV-Operation: DEL\r\nNats-Sequence: " #sequence     \
    "\r\n\r\n\r\n"
#define ENTRY(number, sequence)                                                                    \
    "HMSG i." #number " 1 31 32\r\nNATS/1.0\r\nNats-Sequence: " #sequence "\r\n\r\nv\r\n"
#define REFUSED(number)                                                                            \
    "MSG i." #number " 1 66\r\n"                                                                   \
    "{\"error\":{\"code\":400,\"err_code\":10071,\"description\":\"wrong last\"}}\r\n"

/* Any replica may answer a read, also one that is behind: what it has is older than what the write in doubt expected, and
 * says nothing of that write. */
TEST(test_a_replica_that_is_behind_settles_nothing) {
    struct fake_session fake = fake_new();
    fake.settle_after = true;
    char *seen = FAKE_PLAY(
        &fake, "nats", GREETING, {.await = "DIRECT.GET", .say = MARKER(2, 41)},
        {.await = "HPUB", .say = "MSG i.3 1 2\r\n{}\r\n"},
        {.await = "DIRECT.GET", .say = ENTRY(4, 30)}, {.await = "DIRECT.GET", .say = MARKER(5, 33)},
        {.await = "HPUB", .say = REFUSED(6)}, {.await = "DIRECT.GET", .say = MARKER(7, 41)},
        {.await = "HPUB", .say = STORED(8, 55)});
    assert_int_equal(fake.acquired, LB_UNKNOWN);
    if (fake.settled != LB_OK) fail_msg("%s: %s", lb_outcome_name(fake.settled), fake.err.text);
    const char *last = strstr(seen, "KV-Operation: DEL\r\nNats-Expected-Last-Subject-Sequence: 41");
    assert_non_null(last);
    free(seen);
    /* A later one says that the write was too late, or is over. */
    fake = fake_new();
    fake.settle_after = true;
    free(FAKE_PLAY(&fake, "nats", GREETING, {.await = "DIRECT.GET", .say = MARKER(2, 41)},
                   {.await = "HPUB", .say = "MSG i.3 1 2\r\n{}\r\n"},
                   {.await = "DIRECT.GET", .say = ENTRY(4, 50)}));
    assert_int_equal(fake.settled, LB_OK);
}

/* The connection breaks while PINGs are answered that came before the answer to a write: it may
 * have been done. */
TEST(test_cut_at_a_ping) {
    static char pings[6 * 600 + 1];
    for (int i = 0; i < 600; i++) memcpy(pings + 6 * i, "PING\r\n", 6);
    struct fake_session fake = fake_new();
    free(FAKE_PLAY(&fake, "nats", GREETING, FREE,
                   {.await = "HPUB", .say = pings, .then = PEER_RESETS}));
    assert_int_equal(fake.acquired, LB_UNKNOWN);
}

TEST(test_greetings) {
    static const struct {
        const char *info, *pong, *bucket, *why;
        int code;
    } cases[] = {
        {"HTTP/1.1 400 Bad Request\r\n", "", "", "no NATS server", LB_EXIT_USAGE},
        {INFO, "-ERR 'Authorization Violation'\r\n", "",
         "refuses: -ERR 'Authorization Violation': check the user", LB_EXIT_USAGE},
        {INFO, "PONG\r\n", "HMSG i.1 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", "JetStream",
         LB_EXIT_MACHINE},
        {INFO, "PONG\r\n",
         "MSG i.1 1 72\r\n{\"error\":{\"code\":400,\"err_code\":10047,\"description\":\"no room left\"}}     "
         "   "
         "   \r\n",
         "no room left", LB_EXIT_MACHINE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        fake.refused = true;
        free(FAKE_PLAY(&fake, "nats", {.say = cases[i].info},
                       {.await = "PING\r\n", .say = cases[i].pong},
                       {.await = "STREAM.CREATE", .say = cases[i].bucket}));
        assert_int_equal(fake.connected, -1);
        if (!strstr(fake.err.text, cases[i].why) || fake.err.code != cases[i].code)
            fail_msg("case %zu: %d: %s", i, fake.err.code, fake.err.text);
        if (i < 2 && !strstr(fake.err.text, "nats at 127.0.0.1:")) fail_msg("%s", fake.err.text);
    }
}

/* A bucket of the same name that somebody made otherwise is another lock: the session says what differs. */
TEST(test_a_bucket_that_differs) {
    static const struct {
        const char *config, *why;
    } cases[] = {
        {"\"max_msgs_per_subject\":1,\"max_age\":3600000000000,\"num_replicas\":1,\"allow_direct\":true",
         "end after 3600 s"},
        {"\"max_msgs_per_subject\":1,\"max_age\":0,\"num_replicas\":1,\"allow_direct\":true",
         "end after 0 s (0: never), not 10 s"},
        {"\"max_msgs_per_subject\":5,\"max_age\":10000000000,\"num_replicas\":1,\"allow_direct\":true",
         "history"},
        {"\"max_msgs_per_subject\":1,\"max_age\":10000000000,\"num_replicas\":1,\"allow_direct\":false",
         "allow_direct"},
        {"\"max_msgs_per_subject\":1,\"max_age\":10000000000,\"num_replicas\":1,\"allow_direct\":true",
         NULL},
    };
    static const char taken[] =
        "MSG i.1 1 65\r\n{\"error\":{\"code\":400,\"err_code\":10058,\"description\":\"in use\"}}   \r\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        char info[4][200];
        for (int j = 0; j < 4; j++)
            snprintf(info[j], sizeof info[j], "MSG i.%d 1 %zu\r\n{%s}\r\n", 2 + j,
                     strlen(cases[i].config) + 2, cases[i].config);
        fake.refused = cases[i].why != NULL;
        free(FAKE_PLAY(
            &fake, "nats", {.say = INFO}, {.await = "PING\r\n", .say = "PONG\r\n"},
            {.await = "STREAM.CREATE", .say = taken}, {.await = "STREAM.INFO", .say = info[0]},
            {.await = "STREAM.INFO", .say = info[1]}, {.await = "STREAM.INFO", .say = info[2]},
            {.await = "STREAM.INFO", .say = info[3]},
            {.await = "DIRECT.GET", .then = PEER_CLOSES}));
        if (cases[i].why ? fake.connected == 0 || !strstr(fake.err.text, cases[i].why)
                         : fake.connected != 0)
            fail_msg("case %zu: %d: %s", i, fake.connected, fake.err.text);
    }
}

/* A server may end a connection on which the encryption does not begin with the first byte. */
TEST(test_tls_is_advised_where_the_url_does_not_ask_for_it) {
    static const char *const schemes[] = {"nats", "tls"};
    for (int i = 0; i < 2; i++) {
        struct fake_session fake = fake_new();
        fake.refused = true;
        free(FAKE_PLAY(&fake, schemes[i], {.then = PEER_CLOSES}));
        assert_int_equal(fake.connected, -1);
        if ((strstr(fake.err.text, "write tls://") != NULL) != (i == 0))
            fail_msg("%s: %s", schemes[i], fake.err.text);
    }
}

/* A server that demands TLS gets no password in clear text. */
TEST(test_no_secret_before_tls) {
    struct fake_session fake = fake_new();
    fake.refused = true;
    fake.account = "u:s3cr3t@";
    char *seen =
        FAKE_PLAY(&fake, "nats", {.say = "INFO {\"version\":\"2.9.10\",\"tls_required\":true}\r\n"},
                  {.await = "\x16\x03", .say = "PONG\r\n", .then = PEER_CLOSES});
    assert_int_equal(fake.connected, -1);
    assert_null(strstr(seen, "s3cr3t"));
    assert_non_null(strstr(fake.err.text, "TLS"));
    free(seen);
}

TEST_MAIN(no_certificates, NULL)
